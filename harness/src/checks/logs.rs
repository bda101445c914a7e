//! Do log lines say what they belong to, in one line, without what others said?

use super::{Check, Examined};
use crate::course::{Course, What};
use crate::protocol::{Capability, Request, Update};
use crate::witness::{Witnessed, witnessed};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "logs",
    about: "Each log line names its folder and port, and the session of its task; it is one line, not long, and quotes no \
            payload; no password of a server stands anywhere.",
    needs: &[Capability::Logs],
    has_occasion: |course| {
        course.said.iter().any(|said| matches!(said.what, What::Logs(_))) || tells_passwords(course)
    },
    examine,
};

/// Whoever logs nothing may still tell the person what nobody may know.
fn tells_passwords(course: &Course<'_>) -> bool {
    witnessed(course.lines)
        .any(|(_, seen)| matches!(seen, Witnessed::PasswordsSought { found } if !found.is_empty()))
}

const LONGEST: usize = 8 * 1024;
/// Shorter words may be anybody's.
const SHORTEST_QUOTE: usize = 8;
/// A secret is one, however short; but a letter or two stand everywhere.
const SHORTEST_SECRET: usize = 4;
/// A shorter one may be a log line's own.
const SHORTEST_SENTENCE: usize = 16;

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    if !(CHECK.has_occasion)(course) {
        return examined;
    }
    let unusable = unusable_words(course);
    let spoken = spoken(course);
    let spawned = course.asked().any(|(_, _, request)| matches!(request, Request::ServerSpawn(_)));
    let ports: Vec<u16> = witnessed(course.lines)
        .filter_map(|(_, seen)| match seen {
            Witnessed::Listens { port, .. } => Some(port),
            _ => None,
        })
        .collect();
    let folders = folders(course);
    for (_, seen) in witnessed(course.lines) {
        if let Witnessed::PasswordsSought { found } = seen {
            examined.fact(found.is_empty(), || format!("a server's password stands in {}", found.join(", ")));
        }
    }
    for (_, update) in course.shown() {
        let Update::Server { message: Some(told), .. } = update else { continue };
        examined.fact(told.len() <= LONGEST && !told.contains('\n'), || {
            format!("what the person is told of the server has {} bytes or several lines", told.len())
        });
    }
    for said in &course.said {
        let What::Logs(line) = &said.what else { continue };
        let text = &line.text;
        // A server that the adapter starts has another port each time, and none before it listens.
        let is_port = if spawned {
            line.port.is_none_or(|port| ports.contains(&port))
        } else {
            line.port == course.port
        };
        examined.fact(is_port && line.directory.is_some(), || {
            format!("a log line names no folder or not the server's port: {}", short(text))
        });
        let task = line.task_id.as_ref().and_then(|id| course.tasks.iter().find(|task| task.task == *id));
        let named = line.directory.as_deref().map(|folder| folder.trim_end_matches('/'));
        let is_folder = named.is_none_or(|named| match task {
            Some(task) => task.folder.trim_end_matches('/') == named,
            None => folders.contains(named),
        });
        examined.fact(is_folder, || format!("a log line names another folder than its own: {}", short(text)));
        let own = task.is_none_or(|task| line.session_id.as_ref() == Some(&task.session));
        examined.fact(own, || format!("a log line of a task does not name its session: {}", short(text)));
        examined.fact(text.len() <= LONGEST && !text.contains('\n'), || {
            format!("a log line has {} bytes or several lines: {}", text.len(), short(text))
        });
        let quoted = unusable.iter().find(|word| text.contains(word.as_str()));
        examined.fact(quoted.is_none(), || "a log line quotes what the server said".to_owned());
        let quoted = spoken.iter().find(|words| text.contains(words.as_str()));
        examined.fact(quoted.is_none(), || "a log line quotes the conversation".to_owned());
    }
    examined
}

/// The folders in which the person works.
fn folders(course: &Course<'_>) -> BTreeSet<String> {
    let mut folders = BTreeSet::from([course.folder.clone()]);
    for (_, _, request) in course.asked() {
        if let Request::TaskStart(start) = request {
            folders.extend(start.directory.clone());
        }
    }
    folders.into_iter().map(|folder| folder.trim_end_matches('/').to_owned()).collect()
}

/// What stands in events that the adapter could not use: it may be anything, secrets among it.
fn unusable_words(course: &Course<'_>) -> Vec<String> {
    let mut words = Vec::new();
    for sent in super::unknown::sent(course) {
        collect(&sent.event["properties"], false, &mut words);
    }
    words.retain(|word| !word.starts_with("ses_") && *word != course.folder);
    words
}

/// Words that are long enough to be known again, and what stands under a name that tells of a secret.
fn collect(value: &Value, is_secret: bool, words: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= if is_secret { SHORTEST_SECRET } else { SHORTEST_QUOTE } => {
            words.push(text.clone());
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, is_secret, words)),
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(value, is_secret || tells_of_a_secret(name), words);
            }
        }
        _ => {}
    }
}

/// The names under which the plan wants nothing logged.
fn tells_of_a_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["token", "apikey", "authorization", "cookie", "password"].iter().any(|telling| name.contains(telling))
}

/// What the person and the agent said, and what calls have brought.
fn spoken(course: &Course<'_>) -> BTreeSet<String> {
    let prompts = course.asked().filter_map(|(_, _, request)| match request {
        Request::TaskSend(send) => Some(send.text.clone()),
        _ => None,
    });
    let parts = course.events.iter().map(|sent| &sent.event["properties"]["part"]);
    let told = parts.flat_map(|part| [&part["text"], &part["state"]["output"]]);
    let told = told.filter_map(|words| words.as_str().map(|words| words.trim().to_owned()));
    let is_a_sentence = |words: &String| words.len() >= SHORTEST_SENTENCE && *words != course.folder;
    prompts.chain(told).filter(is_a_sentence).collect()
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}
