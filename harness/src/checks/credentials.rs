//! Is a file of keys that others can read warned about, and does what stands in it stay there?

use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::{Capability, CredentialsJudged, CredentialsVerdict, Request, Update};
use crate::witness::{Witnessed, witnessed};

pub(super) const CHECK: Check = Check {
    name: "credentials",
    about: "A file of keys that others can read, or that lies in the workspace, is warned about, and no other; what stands \
            in it is in no log, no message, no request and no file of the workspace.",
    needs: &[Capability::Credentials],
    has_occasion: |course| {
        course.asked().any(|(_, _, request)| matches!(request, Request::CredentialsCheck(_)))
    },
    examine,
};

/// Others may do something with it.
const OTHERS: u32 = 0o077;

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut questions =
        course.asked().filter(|(_, _, request)| matches!(request, Request::CredentialsCheck(_))).peekable();
    let placed = witnessed(course.lines).filter_map(|(line, seen)| match seen {
        Witnessed::CredentialsPlaced { mode, in_workspace } => Some((line, mode, in_workspace)),
        _ => None,
    });
    for (line, mode, in_workspace) in placed {
        let Some((asked, id, _)) = questions.find(|(said, ..)| said.line > line) else { continue };
        let next = questions.peek().map_or(usize::MAX, |(said, ..)| said.line);
        let what = format!(
            "the file of keys with mode {mode:o}{}",
            if in_workspace { " in the workspace" } else { "" }
        );
        let due = if mode & OTHERS != 0 || in_workspace {
            CredentialsVerdict::Unsafe
        } else {
            CredentialsVerdict::Safe
        };
        let answer = course.answer_to(id).and_then(|(_, outcome)| outcome.as_ref().ok().cloned());
        let said = answer.and_then(|answer| serde_json::from_value::<CredentialsJudged>(answer).ok());
        let said = said.map(|judged| judged.verdict);
        examined.fact(said == Some(due), || match said {
            Some(said) => format!("{what} is {due:?}, and the adapter says {said:?}"),
            None => format!("{what} is {due:?}, and the adapter does not say"),
        });
        let warned = course.shown().any(|(said, update)| {
            matches!(update, Update::Warning { .. }) && said.line > asked.line && said.line < next
        });
        examined.fact(warned == (due == CredentialsVerdict::Unsafe), || match warned {
            true => format!("{what} is safe, and the person is warned"),
            false => format!("{what} is not safe, and the person is not warned"),
        });
    }
    for (_, seen) in witnessed(course.lines) {
        if let Witnessed::CredentialsSought { found } = seen {
            examined.fact(found.is_empty(), || format!("a key stands in {}", found.join(", ")));
        }
    }
    examined
}

/// So many files of keys were not safe.
pub(super) fn unsafe_files(course: &Course<'_>) -> usize {
    let is_unsafe = |seen: &Witnessed| matches!(seen, Witnessed::CredentialsPlaced { mode, in_workspace } if mode & OTHERS != 0 || *in_workspace);
    witnessed(course.lines).filter(|(_, seen)| is_unsafe(seen)).count()
}
