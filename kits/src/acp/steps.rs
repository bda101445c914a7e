//! What a person does with a client of agents, step by step, and what must come of it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;

/// A step of the person.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// The client starts its agent.
    Start(Start),
    /// A chat is opened.
    Open(Open),
    /// Something is said in a chat.
    Send(Send),
    /// A picture is sent.
    Image(Image),
    /// The end of a chat's turn is waited for.
    Done(String),
    /// A chat's turn is to stop.
    Cancel(String),
    /// Another mode is wanted.
    Mode(Choice),
    /// Another model is wanted.
    Model(Choice),
    /// A command of the agent's is given.
    Command(Choice),
    /// A chat is saved.
    Save(String),
    /// A chat is restored from what was saved last, or from this text.
    Restore(Restore),
    /// So many updates of a kind are waited for.
    Sees(Sees),
    /// The client ends its agent.
    Stop(bool),
}

/// What the client must answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answers {
    /// That it is done.
    #[default]
    Ok,
    /// That it can't be done.
    Refused,
    /// Either.
    Any,
}

impl Answers {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Any => "any",
        }
    }
}

/// The client starts its agent.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// What it answers.
    #[serde(default)]
    pub(super) answers: Answers,
    /// Which kind of agent it finds: acp or text.
    pub(super) finds: Option<String>,
}

/// A chat is opened.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Open {
    /// Its name.
    #[serde(default = "first")]
    pub(super) chat: String,
    /// What the client answers.
    #[serde(default)]
    pub(super) answers: Answers,
    /// Servers of tools, as ACP has them.
    pub(super) servers: Option<Vec<Value>>,
}

/// Something is said.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Send {
    /// Where.
    #[serde(default = "first")]
    pub(super) chat: String,
    /// What.
    pub(super) text: String,
    /// What the agent's answer is.
    pub(super) says: Option<String>,
    /// How the turn ends: a stop reason or `error`; several with `|`.
    #[serde(default = "end_turn")]
    pub(super) ends: String,
    /// The client answers so.
    #[serde(default)]
    pub(super) answers: Answers,
    /// The person does nothing else until the turn is over.
    #[serde(default = "yes")]
    pub(super) waits: bool,
    /// The turn has ended within so many seconds of the client's time.
    #[serde(default = "twenty_minutes")]
    pub(super) within_s: f64,
}

/// A picture is sent.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Image {
    /// Where.
    #[serde(default = "first")]
    pub(super) chat: String,
    /// The file's name.
    pub(super) file: String,
    /// It is made, so many bytes long.
    pub(super) bytes: Option<usize>,
    /// How the turn ends.
    #[serde(default = "end_turn")]
    pub(super) ends: String,
    /// The client answers so.
    #[serde(default)]
    pub(super) answers: Answers,
}

/// Something is chosen or commanded.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    /// Where.
    #[serde(default = "first")]
    pub(super) chat: String,
    /// What.
    pub(super) value: String,
    /// The client answers so.
    #[serde(default)]
    pub(super) answers: Answers,
    /// What the agent says to it.
    pub(super) says: Option<String>,
}

/// A chat is restored.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Restore {
    /// As which chat.
    #[serde(default = "first")]
    pub(super) chat: String,
    /// What stands in the file; `${work}` is the chat's folder.
    pub(super) text: Option<String>,
    /// The client answers so.
    #[serde(default)]
    pub(super) answers: Answers,
    /// It goes on in its session, or in a fresh one.
    pub(super) restored: Option<bool>,
}

/// Something is waited for.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Sees {
    /// Updates of this kind.
    pub(super) kind: String,
    /// How many.
    #[serde(default = "once")]
    pub(super) times: usize,
}

fn first() -> String {
    "a".to_owned()
}

fn end_turn() -> String {
    "end_turn".to_owned()
}

fn yes() -> bool {
    true
}

fn once() -> usize {
    1
}

fn twenty_minutes() -> f64 {
    1200.0
}

/// What a step says of a turn.
pub(super) struct Turn<'a> {
    pub(super) chat: &'a str,
    pub(super) says: Option<&'a str>,
    pub(super) ends: &'a str,
    pub(super) answers: Answers,
    pub(super) waits: bool,
    pub(super) within_s: f64,
}

impl Step {
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        match self {
            Self::Send(Send { chat, says, ends, answers, waits, within_s, .. }) => {
                let (answers, waits, within_s) = (*answers, *waits, *within_s);
                Some(Turn { chat, says: says.as_deref(), ends, answers, waits, within_s })
            }
            Self::Image(Image { chat, ends, answers, .. }) => {
                let within_s = twenty_minutes();
                Some(Turn { chat, says: None, ends, answers: *answers, waits: true, within_s })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(_) => f.write_str("starts the agent"),
            Self::Open(open) => write!(f, "opens the chat {}", open.chat),
            Self::Send(send) => write!(f, "says in {}: {}", send.chat, send.text),
            Self::Image(image) => write!(f, "sends a picture in {}: {}", image.chat, image.file),
            Self::Done(chat) => write!(f, "waits for the end in {chat}"),
            Self::Cancel(chat) => write!(f, "stops the turn in {chat}"),
            Self::Mode(choice) => write!(f, "wants the mode {} in {}", choice.value, choice.chat),
            Self::Model(choice) => write!(f, "wants the model {} in {}", choice.value, choice.chat),
            Self::Command(choice) => write!(f, "commands in {}: {}", choice.chat, choice.value),
            Self::Save(chat) => write!(f, "saves the chat {chat}"),
            Self::Restore(restore) => write!(f, "restores the chat {}", restore.chat),
            Self::Sees(sees) => write!(f, "waits for {} × {}", sees.times, sees.kind),
            Self::Stop(_) => f.write_str("ends the agent"),
        }
    }
}

/// What the person does with a client that starts its agent with the first prompt: what goes wrong before shows there. Its
/// end is an exit code, and one that says that something was not allowed may be an error.
pub(super) fn late(steps: &[Step], allows_nothing: bool) -> Vec<Step> {
    let mut steps = steps.to_vec();
    let mut is_refused = false;
    for step in &mut steps {
        match step {
            Step::Start(Start { answers, .. }) | Step::Open(Open { answers, .. }) => {
                is_refused |= std::mem::take(answers) == Answers::Refused;
            }
            Step::Send(send) if allows_nothing => send.ends.push_str("|error"),
            _ => {}
        }
    }
    if !steps.iter().any(|step| matches!(step, Step::Open(_))) {
        steps.push(Step::Open(Open { chat: first(), answers: Answers::Ok, servers: None }));
    }
    if !steps.iter().any(|step| matches!(step, Step::Send(_))) {
        let ends = if is_refused { "error".to_owned() } else { end_turn() };
        let (waits, within_s) = (yes(), twenty_minutes());
        let (chat, text, answers) = (first(), "hello".to_owned(), Answers::Ok);
        steps.push(Step::Send(Send { chat, text, says: None, ends, answers, waits, within_s }));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Steps {
        steps: Vec<Step>,
    }

    fn steps(text: &str) -> Vec<Step> {
        toml::from_str::<Steps>(text).unwrap().steps
    }

    #[test]
    fn a_late_client_learns_with_its_first_prompt_what_others_learn_at_the_start() {
        let refused = steps("steps = [{ start = { answers = 'refused' } }]");
        let learns =
            steps("steps = [{ start = {} }, { open = {} }, { send = { text = 'hello', ends = 'error' } }]");
        assert_eq!(late(&refused, false), learns);
        let nothing_said = steps("steps = [{ start = {} }, { open = {} }]");
        let said = steps("steps = [{ start = {} }, { open = {} }, { send = { text = 'hello' } }]");
        assert_eq!(late(&nothing_said, false), said);
        assert_eq!(late(&said, false), said, "what is asked already");
        let either = steps(
            "steps = [{ start = {} }, { open = {} }, { send = { text = 'hello', ends = 'end_turn|error' } }]",
        );
        assert_eq!(late(&said, true), either);
    }
}
