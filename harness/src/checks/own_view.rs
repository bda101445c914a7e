//! What a client says of its own view of a task, when all is quiet: is it what it has shown? A part of `convergence`.

use super::Examined;
use super::convergence::knows_better;
use crate::course::Course;
use crate::history;
use crate::protocol::{Request, View};
use serde_json::Value;

pub(super) fn examine(course: &Course<'_>, examined: &mut Examined) {
    for (_, id, request) in course.asked() {
        let Request::TaskSnapshot(of) = request else { continue };
        let Some((said, outcome)) = course.answer_to(id) else { continue };
        let task = &of.task_id;
        if knows_better(course, task) {
            continue;
        }
        let own = match outcome {
            Ok(view) => serde_json::from_value::<View>(view.clone()).map_err(|error| error.to_string()),
            Err(error) => Err(error.message.clone()),
        };
        let own = match own {
            Ok(own) => own,
            Err(why) => {
                examined.fact(false, || format!("the adapter's own view of {task} can't be read: {why}"));
                continue;
            }
        };
        let screen = history::screen(&course.lines[..said.line]);
        let shown = screen.tasks.get(task).cloned().unwrap_or_default();
        // What nobody has told of is not shown, and may be known.
        let diff = if shown.diff.is_some() { own.diff.clone() } else { None };
        let own = in_order(View { diff, ..own });
        let shown = in_order(shown);
        examined.fact(own == shown, || {
            let (field, own, shown) = first_difference(&own, &shown);
            format!(
                "the adapter's own view of {task} has other {field} than the screen: {own}, and not {shown}"
            )
        });
    }
}

/// What is asked has no order.
fn in_order(mut view: View) -> View {
    view.permissions.sort_by(|a, b| a.permission_id.cmp(&b.permission_id));
    view.questions.sort_by(|a, b| a.question_id.cmp(&b.question_id));
    view.attachments.retain(|_, files| !files.is_empty());
    view
}

fn first_difference(own: &View, shown: &View) -> (String, Value, Value) {
    let of = |view: &View| serde_json::to_value(view).unwrap_or_default();
    let (own, shown) = (of(own), of(shown));
    let fields = own.as_object().into_iter().chain(shown.as_object()).flat_map(|view| view.keys());
    let mut differing = fields.filter(|field| own[field.as_str()] != shown[field.as_str()]);
    let field = differing.next().cloned().unwrap_or_default();
    (field.clone(), own[&field].clone(), shown[&field].clone())
}
