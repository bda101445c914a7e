//! Is the person asked what the server asks? Who says yes to less than what is asked says it to the rest unseen.

use super::Examined;
use crate::course::Course;
use crate::protocol::{Permission, Question, Update};
use serde_json::{Value, json};

pub(super) fn examine(course: &Course<'_>, examined: &mut Examined) {
    let asked = |id: &str| {
        let properties = course.events.iter().filter(|sent| sent.kind().ends_with(".asked"));
        properties.map(|sent| &sent.event["properties"]).find(|properties| properties["id"] == id)
    };
    for (_, update) in course.shown() {
        let (permissions, questions) = shown(update);
        for Permission { permission_id: id, permission, patterns } in permissions {
            let Some(properties) = asked(&id) else { continue };
            // A kind that nobody has words for is a kind all the same.
            let kind = &properties["permission"];
            examined.fact(*kind == permission, || {
                format!("{id} asks leave for {}, and the person is asked for {permission}", word(kind))
            });
            let wanted = &properties["patterns"];
            examined.fact(*wanted == json!(patterns), || {
                format!("{id} asks leave for {wanted}, and the person is asked for {}", json!(patterns))
            });
        }
        for Question { question_id: id, questions } in questions {
            let Some(properties) = asked(&id) else { continue };
            let shown: Value = questions.iter().map(|one| json!([one.question, one.options])).collect();
            let wanted = as_shown(&properties["questions"]);
            examined.fact(shown == wanted, || format!("{id} asks {wanted}, and the person is asked {shown}"));
        }
    }
}

/// The dialogs that an update opens: one, or all of a task that is shown anew.
fn shown(update: &Update) -> (Vec<Permission>, Vec<Question>) {
    match update.clone() {
        Update::PermissionRequest { permission_id, permission, patterns, .. } => {
            (vec![Permission { permission_id, permission, patterns }], Vec::new())
        }
        Update::Question { question_id, questions, .. } => {
            (Vec::new(), vec![Question { question_id, questions }])
        }
        Update::Timeline { view, .. } => (view.permissions, view.questions),
        _ => (Vec::new(), Vec::new()),
    }
}

/// Each question with its options.
fn as_shown(questions: &Value) -> Value {
    let questions = questions.as_array().into_iter().flatten();
    let labels = |question: &Value| {
        let options = question["options"].as_array().into_iter().flatten();
        options.map(|option| option["label"].clone()).collect::<Vec<_>>()
    };
    questions.map(|question| json!([question["question"], labels(question)])).collect()
}

fn word(kind: &Value) -> &str {
    kind.as_str().unwrap_or_default()
}
