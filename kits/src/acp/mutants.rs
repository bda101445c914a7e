//! Clients that break one promise each, most of them as public clients have done. What they do is in the reference, where
//! it asks for their names.

use crate::kit::Mutant;

/// All of them.
pub(super) const ALL: &[Mutant] = &[
    mutant("to-the-letter", "follows a public design word by word, its slips among them"),
    // Bytes.
    mutant("reader-by-chunk", "takes each read for a message"),
    mutant("utf8-by-chunk", "decodes each read by itself, and tears letters"),
    mutant("short-lines", "a line has 64 KiB at most, as some libraries have it"),
    mutant("endless-lines", "holds a line that never ends"),
    mutant("line-is-message", "what stands in front of a message makes it none"),
    mutant("dies-of-noise", "a log line on stdout is the end"),
    mutant("lines-of-a-text", "a line of the agent ends wherever a line of a text does"),
    mutant("needs-last-newline", "the last answer needs an end of its line"),
    mutant("stderr-unread", "nobody reads stderr, and the agent waits for that"),
    // Requests and ids.
    mutant("introduced-once", "does not initialise an agent that is started later"),
    mutant("any-version", "takes any version of the protocol"),
    mutant("zero-is-no-id", "the id 0 is none"),
    mutant("ids-are-numbers", "answers under a number, whatever the id was"),
    mutant("ids-are-texts", "answers under a text, whatever the id was"),
    mutant("one-table-of-ids", "the agent's ids and the own ones share a table"),
    mutant("silent-when-asked", "does not answer what it does not know"),
    mutant("one-at-a-time", "asks nothing else before the answer to a prompt"),
    mutant("handles-on-the-line", "waits for the person where it reads the agent"),
    // Turns.
    mutant("standard-alone", "knows updates of the standard only, and takes silence for an answer"),
    mutant("turn-end-unheard", "does not know the word by which some agents end a turn"),
    mutant("any-answer-ends", "an answer that nobody asked for ends what is at work"),
    mutant("dies-of-the-unknown", "an update of a kind that it does not know is the end"),
    mutant("thoughts-as-words", "what the agent thinks is what it says"),
    mutant("knows-all-calls", "a call that it was never told of is the end"),
    mutant("ends-twice", "the word and the answer are two ends"),
    mutant("any-stop", "any reason to stop is a good one"),
    mutant("all-is-well", "who stops early has done all"),
    mutant("swallows-errors", "an error is an end like any other"),
    mutant("drops-late", "what comes outside a turn is dropped"),
    mutant("waits-for-ever", "an answer has no limit"),
    mutant("waits-for-the-dead", "who has died may still answer"),
    mutant("cancels-the-next", "to stop what does not run stops what runs next"),
    mutant("cancel-with-id", "a cancel is a request"),
    mutant("stops-on-screen", "a turn is stopped on the screen, and the agent works on"),
    mutant("stops-them-all", "to stop one chat stops all"),
    mutant("leaves-questions-open", "a cancelled turn's questions stay open"),
    // Permission.
    mutant("kind-as-option", "answers with an option's kind in place of its id"),
    mutant("asks-in-the-latest", "the person is asked in the chat that was opened last"),
    mutant("first-option", "the first option is the one that allows"),
    // Sessions.
    mutant("drops-early", "what comes before a session is known is dropped"),
    mutant("opens-elsewhere", "all sessions but the first work in a folder of its own choice"),
    mutant("shows-foreign", "a session that nobody knows is the one that is open"),
    mutant("state-of-process", "an agent has one chat"),
    mutant("shared-servers", "chats share one list of servers"),
    mutant("replay-as-new", "what is told again is new"),
    mutant("load-without-folder", "loads a session without its folder"),
    mutant("load-needs-result", "an empty answer to a load is a failure"),
    mutant("fresh-in-silence", "nobody is told that a chat begins anew"),
    mutant("torn-is-empty", "half a file is an empty one, of which there is nothing to say"),
    mutant("sets-in-the-latest", "modes and models are those of the chat that was opened last"),
    mutant("one-setter", "models have a method of their own, and nothing else"),
    mutant("command-as-text", "commands are texts"),
    mutant("command-as-object", "commands are objects, for every agent"),
    mutant("pictures-alone", "what is said beside a picture is not sent"),
    mutant("pictures-unasked", "sends pictures to any agent"),
    mutant("picture-by-path", "sends a picture's path"),
    mutant("picture-as-link", "sends where a picture lies, and not the picture"),
    // Kiro's.
    mutant("first-commands-stay", "the first list of commands is the list"),
    mutant("waits-for-summaries", "a turn does not end while a summary is made"),
    mutant("flat-status", "a summary's status is a text"),
    mutant("needs-session-id", "what belongs to no session belongs to nobody"),
    mutant("any-address", "sends the person to any address"),
    mutant("logs-secrets", "logs addresses with their queries"),
    // Processes.
    mutant("trusts-agents-to-end", "closes the agent's stdin, and that is all"),
    mutant("kills-leader-alone", "ends the agent and not what it has started"),
    mutant("starts-again-and-again", "an agent that ends is started again at once"),
    mutant("drops-environment", "the agent gets an environment of its own"),
    // Detection and text.
    mutant("never-acp", "finds no ACP where there is"),
    mutant("help-by-words", "help about ACP is ACP, whatever its exit code"),
    mutant("text-at-any-rate", "takes a program that there is not for an agent in text"),
    mutant("detects-for-ever", "waits for help as long as it takes"),
    mutant("any-help", "help with exit code 0 is help about ACP"),
    mutant("codes-by-read", "takes a terminal's codes out of each read by itself"),
    mutant("prompt-anywhere", "a line that begins like a prompt is one"),
    mutant("one-prompt", "knows one prompt"),
    mutant("ends-at-a-pause", "a pause is the end"),
    mutant("trust-unseen", "does not see that it is asked for trust"),
    mutant("a-letter-for-each", "a question that is shown twice is answered twice"),
    mutant("echo-as-answer", "takes the person's own words for the answer"),
];

const fn mutant(name: &'static str, about: &'static str) -> Mutant {
    Mutant { name, about }
}
