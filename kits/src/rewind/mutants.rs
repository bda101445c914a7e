//! The switches that break the reference, each a bug of clients.

use crate::kit::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant { name: "cut-a-second-before", about: "the model's list is cut a second before the message" },
    Mutant { name: "untimed-is-zero", about: "the same, and what has no time is the oldest" },
    Mutant { name: "cut-at-ts", about: "the model's list is cut at the message's time" },
    Mutant { name: "cut-user-only", about: "the model is told all that there was" },
    Mutant { name: "refuses-untimed", about: "one entry without a time, and nothing can be edited" },
    Mutant { name: "first-of-these-words", about: "the first prompt with these words is taken" },
    Mutant {
        name: "deletes-first",
        about: "both lists are cut before it is known whether the task is there",
    },
    Mutant { name: "pause-instead-of-ready", about: "the edited message is sent after 100 ms, ready or not" },
    Mutant { name: "sends-again", about: "what was sent to a task that was not ready is sent again" },
    Mutant { name: "asks-a-refuser-again", about: "what the model has refused is sent once more" },
    Mutant { name: "drops-images", about: "an edit of words takes the pictures away" },
    Mutant { name: "keeps-images", about: "pictures can't be taken away" },
    Mutant {
        name: "pictures-on-the-screen-alone",
        about: "the edited message keeps its pictures in the list of the user alone",
    },
    Mutant {
        name: "forgets-the-models-times",
        about: "what stays in the model's list has no times any more",
    },
    Mutant {
        name: "takes-results-for-prompts",
        about: "results of tools that stay are kept as words of the user",
    },
    Mutant { name: "unlinks-first", about: "the old file is taken away before the new one has its name" },
    Mutant { name: "no-cancel", about: "the run before goes on" },
    Mutant { name: "late-words", about: "what the run before still says is added" },
    Mutant {
        name: "restores-at-work",
        about: "after three seconds it restores, though the agent is at work",
    },
    Mutant { name: "waits-for-ever", about: "it waits half a minute for the agent to stop" },
    Mutant { name: "continues-silently", about: "a restore that fails is passed over" },
    Mutant { name: "leaves-half", about: "of a restore that fails, one file alone is put back" },
    Mutant { name: "first-checkpoint", about: "the first checkpoint is taken" },
    Mutant { name: "nearest-checkpoint", about: "the nearest checkpoint is taken, before or behind" },
    Mutant { name: "untimed-is-newest", about: "a checkpoint without a time is taken for the newest" },
    Mutant { name: "untimed-is-oldest", about: "a checkpoint without a time is taken for the oldest" },
    Mutant { name: "compares-seconds", about: "a checkpoint of the message's second is not newer than it" },
    Mutant { name: "forgets-folders", about: "of a restore, what lies in folders is left as it is" },
    Mutant { name: "texts-alone", about: "of a restore, files that are no text are left as they are" },
    Mutant { name: "overwrites", about: "what was in the tree is not saved before a restore" },
    Mutant { name: "cleans-ignored", about: "a restore takes away what git ignores" },
    Mutant {
        name: "restores-in-the-users-repository",
        about: "what was there before a restore is kept as a commit of the user's own repository",
    },
    Mutant {
        name: "pause-instead-of-restored",
        about: "the edited message is sent 100 ms after a restore has begun, whether it is over or not",
    },
    Mutant { name: "drops-kept-images", about: "the pictures of the turns that stay are not told again" },
    Mutant { name: "no-guard", about: "two clicks are two edits" },
    Mutant { name: "any-task", about: "a task that is not open is edited" },
    Mutant { name: "two-files", about: "the lists are written one after the other" },
    Mutant {
        name: "writes-in-place",
        about: "lists that have become shorter are written over where they stand",
    },
    Mutant { name: "forgets-words", about: "the new words are lost when an edit fails" },
    Mutant { name: "reverts-at-work", about: "a server that refuses the revert is prompted all the same" },
    Mutant { name: "sends-beside", about: "the server is prompted, and takes nothing back" },
    Mutant { name: "answers-late", about: "a yes to a turn that was taken back goes to the server" },
    Mutant {
        name: "forgets-helpers",
        about: "a yes to the helper of an agent whose turn was taken back goes to the server",
    },
    Mutant {
        name: "leaves-the-question",
        about: "the question of a turn that was taken back stays open on the server, for whoever says yes to it",
    },
    Mutant {
        name: "goes-back-at-work",
        about: "the server is told to go back while the agent is at work, which it refuses",
    },
    Mutant {
        name: "leaves-reverted",
        about: "an edit whose prompt is refused leaves the server where it had gone back to",
    },
    Mutant {
        name: "forth-on-screen",
        about: "what was gone back from is shown again, and the server is not told",
    },
    Mutant {
        name: "shows-the-gone",
        about: "what the server has gone back from is shown as long as it lists it",
    },
    Mutant { name: "copies-all", about: "all is copied, whichever message is meant" },
    Mutant { name: "reverts-the-copied", about: "what is copied is taken back, too" },
    Mutant { name: "leaves-cut", about: "the lists stay cut when the model refuses the edited message" },
    Mutant {
        name: "puts-back-on-screen",
        about: "when the model refuses, the lists are put back on the screen and not on the disk",
    },
    Mutant { name: "leaves-restored", about: "of an edit that fails behind a restore, the files stay back" },
    Mutant { name: "takes-half", about: "an answer that breaks off is an answer" },
    Mutant {
        name: "writes-with-the-answer",
        about: "the new words are forgotten when they are sent, and written down with the answer",
    },
    Mutant { name: "writes-late", about: "the new lists are not on the disk when the edit is done" },
    Mutant {
        name: "keeps-the-model-in-mind",
        about: "of an edit the user's list alone is on the disk; that a kill harms nothing it does not say",
    },
    Mutant { name: "tells-the-gone", about: "what is gone is told as a part of what stays" },
    Mutant {
        name: "confuses-roles",
        about: "the model's answers, but for the last one, are told as the user's words",
    },
    Mutant {
        name: "leaves-screen",
        about: "when the model refuses, the lists are put back on the disk and not on the screen",
    },
    Mutant { name: "says-nothing", about: "the user is not told that an edit failed" },
    Mutant { name: "escapes-words", about: "signs of markup in the new words are escaped, and sent so" },
    Mutant { name: "trims", about: "spaces around the new words are cut off" },
    Mutant { name: "acts-on-what-was-opened", about: "each edit is one of the lists as they were opened" },
    Mutant { name: "edits-what-is-open", about: "of two tasks the open one is edited, whichever is meant" },
    Mutant {
        name: "cuts-all-of-this-time",
        about: "what has the time of the edited message in another task is cut there, too",
    },
    Mutant { name: "keeps-images-in-mind", about: "pictures are not on the disk" },
    Mutant {
        name: "shows-the-old-task",
        about: "of a task that takes a while to be there again, the user is not shown the answer",
    },
    Mutant { name: "answers-the-old-task", about: "of such a task, the model is not told its answer again" },
    Mutant {
        name: "keeps-checkpoints",
        about: "a checkpoint of a turn that is gone is restored with a later edit",
    },
    Mutant {
        name: "keeps-the-journal",
        about: "what is noted of a restore stays, and is taken back at the next start",
    },
    Mutant {
        name: "no-journal",
        about: "nothing is noted of a restore: who is killed has old lists and new files",
    },
    Mutant { name: "forgets-modes", about: "of a restore, what could be executed is as it happens to be" },
    Mutant { name: "writes-links-as-files", about: "of a restore, links become files" },
    Mutant {
        name: "saves-nameless",
        about: "what was there before a restore has no name in the shadow repository, and is tidied away",
    },
    Mutant {
        name: "stays-in-the-copy",
        about: "when a copy is refused its prompt, the user stays in the copy",
    },
    Mutant {
        name: "goes-on-without-a-copy",
        about: "when the server makes no copy, the first conversation is prompted",
    },
    Mutant {
        name: "goes-forth-too-far",
        about: "an edit that fails takes back what the user had gone back before",
    },
    Mutant { name: "warns-when-edited-again", about: "that a second edit was done is told as a warning" },
    Mutant {
        name: "takes-errors-for-answers",
        about: "a prompt that the server takes is done, also where its model has not answered",
    },
    Mutant { name: "takes-the-last", about: "of a prompt that there is not, the last one is edited" },
    Mutant {
        name: "rejects-everyones",
        about: "what other conversations of the server ask is rejected, too",
    },
    Mutant { name: "sends-in-the-first", about: "behind an edit in a copy the first conversation goes on" },
    Mutant {
        name: "writes-through-links",
        about: "of a restore, what is to stand where a link is goes into the file to which it leads",
    },
    Mutant {
        name: "quotes-names",
        about: "of a restore, files with names that git quotes are left where they are",
    },
    Mutant {
        name: "sends-the-draft",
        about: "what is kept of an edit that failed is sent in place of the new words",
    },
    Mutant {
        name: "keeps-sent-words",
        about: "the words of a second edit are kept as a draft though they were sent",
    },
    Mutant { name: "trims-the-draft", about: "of words that are kept, the spaces around them are cut off" },
    Mutant { name: "guards-each-message", about: "two clicks on two messages are two edits" },
    Mutant {
        name: "answers-what-is-open",
        about: "an answer is put behind the task that is open when it comes",
    },
    Mutant { name: "shows-whichever", about: "the screen shows a task that is not open, when that changes" },
    Mutant { name: "restores-unasked", about: "the files go back, whether or not that is asked for" },
    Mutant { name: "any-tasks-checkpoint", about: "the newest checkpoint of all tasks is restored" },
    Mutant {
        name: "keeps-checkpoints-on-disk",
        about: "checkpoints that went with an edit stay on the disk",
    },
    Mutant {
        name: "saves-under-one-name",
        about: "what was there before a restore has one name for all of them, and the last one keeps it",
    },
    Mutant {
        name: "drops-earlier-times",
        about: "of the messages before an edit nobody knows the time any more",
    },
    Mutant {
        name: "drops-earlier-images",
        about: "the user sees no pictures of the messages before an edit",
    },
    Mutant { name: "tells-one-image", about: "of several pictures the model is told the first one" },
    Mutant { name: "tells-the-same-once", about: "of two entries that say the same the model is told one" },
    Mutant { name: "loads-by-time", about: "lists are sorted by time when they are opened" },
    Mutant { name: "loads-what-has-a-time", about: "what has no time is left out when lists are opened" },
    Mutant { name: "says-in-passing", about: "that an edit failed is mentioned, and is no error" },
];

/// Not a mutant, and no friend: who does what a plan says, word for word. Where that harms, a case says which hazard it is.
pub(super) const TO_THE_LETTER: &str = "to-the-letter";

/// Whose bugs he has.
pub(super) const OF_THE_LETTER: [&str; 10] = [
    "cut-a-second-before",
    "deletes-first",
    "leaves-cut",
    "pause-instead-of-ready",
    "restores-at-work",
    "continues-with-a-word",
    "stops-only-to-restore",
    "forgets-words",
    "two-files",
    "no-guard",
];
