//! Do images, and what else the person attaches, arrive as they were attached, and stay where they are?

use super::convergence::{is_reverted, knows_better};
use super::errands::{Errand, errands, session_of};
use super::{Check, Examined};
use crate::course::{Course, Exchange, Started};
use crate::history;
use crate::protocol::{Attachment, Capability, Request, Update, View};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "attachments",
    about: "What the person attaches to a prompt is sent with it and with no other, whole, unchanged and in order; it is shown \
            beside its message the same while it is sent and after the task was loaded again, and an edited message keeps it.",
    needs: &[Capability::Images],
    has_occasion: |course| sent(course).any(|prompt| !prompt.files.is_empty()) || !told(course).is_empty(),
    examine,
};

/// Message → its files, each with the id of its part, which ascend.
type Files = BTreeMap<String, BTreeMap<String, Attachment>>;

/// A prompt, and what has to go with it.
struct Prompt<'a> {
    errand: Errand<'a>,
    task: &'a str,
    text: &'a str,
    files: Vec<Attachment>,
}

/// What the person has sent and edited.
fn sent<'a>(course: &'a Course<'_>) -> impl Iterator<Item = Prompt<'a>> {
    let told = told(course);
    let is_prompt = |request: &Request| matches!(request, Request::TaskSend(_) | Request::TaskEdit(_));
    errands(course, is_prompt).into_iter().filter_map(move |errand| match errand.request {
        Request::TaskSend(send) => {
            let files = send.attachments.clone();
            Some(Prompt { errand, task: &send.task_id, text: &send.text, files })
        }
        Request::TaskEdit(edit) => {
            let files = told.get(&edit.message_id).into_iter().flat_map(BTreeMap::values).cloned().collect();
            Some(Prompt { errand, task: &edit.task_id, text: &edit.text, files })
        }
        _ => None,
    })
}

fn file(part: &Value) -> Option<(String, String, Attachment)> {
    let text = |field: &str| part[field].as_str().map(str::to_owned);
    let is_file = part["type"] == "file" && part["synthetic"] != true;
    let attachment = Attachment { mime: text("mime")?, name: text("filename"), url: text("url")? };
    is_file.then_some((text("messageID")?, text("id")?, attachment))
}

/// The files of the person's messages, as the server has told of them to eyes that no fault touches.
fn told(course: &Course<'_>) -> Files {
    let infos = course.events.iter().map(|sent| &sent.event["properties"]["info"]);
    let persons: BTreeSet<&str> =
        infos.filter(|info| info["role"] == "user").filter_map(|info| info["id"].as_str()).collect();
    let parts = course.events.iter().filter(|sent| sent.kind() == "message.part.updated");
    let files = parts.filter_map(|sent| file(&sent.event["properties"]["part"]));
    folded(files.filter(|(message, ..)| persons.contains(message.as_str())))
}

/// The files of the person's messages in a list of messages.
fn listed(messages: &Value) -> Files {
    let messages = messages.as_array().into_iter().flatten();
    let own = messages.filter(|message| message["info"]["role"] == "user");
    folded(own.flat_map(|message| message["parts"].as_array().into_iter().flatten()).filter_map(file))
}

fn folded(files: impl Iterator<Item = (String, String, Attachment)>) -> Files {
    let mut all = Files::new();
    for (message, part, file) in files {
        all.entry(message).or_default().insert(part, file);
    }
    all
}

/// The parts that the adapter was told of.
fn known(course: &Course<'_>) -> BTreeSet<String> {
    let events = course.streams().flat_map(|stream| &stream.events);
    let told = events.filter_map(|sent| file(&sent.event["properties"]["part"])).map(|(_, part, _)| part);
    let answers = course.exchanges.iter().filter(|asked| asked.path.ends_with("/message"));
    let lists = answers.filter_map(|asked| asked.answer.as_ref()).map(|answer| listed(&answer.body));
    let read = lists.flat_map(Files::into_values).flat_map(BTreeMap::into_keys);
    told.chain(read).collect()
}

fn names(files: &[Attachment]) -> String {
    let name = |file: &Attachment| {
        let name = file.name.as_deref().unwrap_or("no name");
        format!("{name} ({}, {} bytes)", file.mime, file.url.len())
    };
    if files.is_empty() {
        "nothing".to_owned()
    } else {
        files.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for prompt in sent(course) {
        if let Some(session) = session_of(course, prompt.task) {
            goes_along(course, &prompt, session, &mut examined);
        }
    }
    let told = told(course);
    for task in course.tasks.iter().filter(|task| !course.closed.contains_key(&task.task)) {
        at_every_moment(course, task, &told, &mut examined);
        in_the_end(course, task, &mut examined);
    }
    examined
}

/// A prompt carries its words and its files, as they are, each time that it is sent.
fn goes_along(course: &Course<'_>, prompt: &Prompt<'_>, session: &str, examined: &mut Examined) {
    let posts = |what: &str| prompt.errand.asked(course, "POST", &format!("/session/{session}/{what}"));
    let posts: Vec<&Exchange> = [posts("prompt_async"), posts("message")].concat();
    for post in posts {
        let parts = || post.body["parts"].as_array().into_iter().flatten();
        let carried: Vec<Attachment> = parts().filter(|part| part["type"] == "file").map(carried).collect();
        let said = prompt.text;
        examined.fact(carried == prompt.files, || {
            let (wanted, carried) = (names(&prompt.files), names(&carried));
            format!("with {said:?} there goes {carried} to the server, and {wanted} is attached to it")
        });
        let words: Vec<&str> =
            parts().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect();
        let is_said =
            words.iter().all(|words| *words == said) && words.len() == usize::from(!said.is_empty());
        examined.fact(prompt.files.is_empty() || is_said, || {
            format!("{said:?} is prompted with {}, and the server is told {words:?}", names(&prompt.files))
        });
    }
}

/// A part of a prompt as it is sent: it has no id yet.
fn carried(part: &Value) -> Attachment {
    let text = |field: &str| part[field].as_str().map(str::to_owned);
    Attachment {
        mime: text("mime").unwrap_or_default(),
        name: text("filename"),
        url: text("url").unwrap_or_default(),
    }
}

/// What is shown beside a message are files of this message, in order; some of them may not have come yet.
fn at_every_moment(course: &Course<'_>, task: &Started, told: &Files, examined: &mut Examined) {
    let read = history::last_read(course.lines, &format!("/session/{}/message", task.session));
    let read = listed(&read.unwrap_or_default());
    let mut shows = |message: &str, shown: &[Attachment]| {
        let files = [told.get(message), read.get(message)].into_iter().flatten();
        let files: BTreeMap<&String, &Attachment> = files.flatten().collect();
        let mut rest = files.values();
        let are_its_own = shown.iter().all(|shown| rest.any(|file| *file == shown));
        examined.fact(are_its_own, || {
            let own: Vec<Attachment> = files.values().map(|file| (*file).clone()).collect();
            format!(
                "beside {message} {} shows {}, and the server has {}",
                task.task,
                names(shown),
                names(&own)
            )
        });
    };
    for (_, update) in course.shown().filter(|(_, update)| update.task_id() == Some(&task.task)) {
        match update {
            Update::Attachments { message_id, attachments, .. } => shows(message_id, attachments),
            Update::Timeline { view: View { attachments, .. }, .. } => {
                attachments.iter().for_each(|(message, shown)| shows(message, shown));
            }
            _ => {}
        }
    }
}

/// In the end each message has all of its files on the screen that the adapter was told of, and no message has others.
fn in_the_end(course: &Course<'_>, task: &Started, examined: &mut Examined) {
    let path = format!("/session/{}/message", task.session);
    let Some(messages) = history::last_read(course.lines, &path) else { return };
    if knows_better(course, &task.task) {
        return;
    }
    let sessions = history::last_read(course.lines, "/session").unwrap_or_default();
    let info = sessions.as_array().into_iter().flatten().find(|known| known["id"] == task.session.as_str());
    let known = known(course);
    let screen = history::screen(course.lines).tasks.remove(&task.task).unwrap_or_default();
    let mut here = BTreeSet::new();
    for (message, files) in listed(&messages) {
        if files.keys().any(|part| is_reverted(info, &message, part)) {
            continue;
        }
        let files = files.into_iter().filter(|(part, _)| known.contains(part));
        let files: Vec<Attachment> = files.map(|(_, file)| file).collect();
        let shown = screen.attachments.get(&message).cloned().unwrap_or_default();
        examined.fact(shown == files, || {
            let (shown, files) = (names(&shown), names(&files));
            format!("in the end {} shows {shown} beside {message}, and the server has {files}", task.task)
        });
        here.insert(message);
    }
    for message in screen.attachments.keys().filter(|message| !here.contains(*message)) {
        examined.fact(false, || {
            format!("in the end {} shows files of {message}, and the server has none there", task.task)
        });
    }
}
