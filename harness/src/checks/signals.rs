//! Do the signals say what happened, all of it and nothing else?

use super::answer_all::all_at_once;
use super::approvals::is_by_rule;
use super::given::given;
use super::questions::{answer_sent, said_in};
use super::{Check, Examined};
use crate::course::{Course, What};
use crate::protocol::{Capability, Item, Reply, Request, Signal, Update};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "signals",
    about: "Each kilo.cli.* signal is sent when it should be, with the right count, and only then.",
    needs: &[Capability::Telemetry],
    has_occasion: |course| course.streams().next().is_some(),
    examine,
};

/// All that there are.
pub(crate) const NAMES: [&str; 11] = [
    "kilo.cli.chat.ttft_ms",
    "kilo.cli.sse.reconnect_count",
    "kilo.cli.sse.auth_failures",
    "kilo.cli.session.rehydrate_fail_count",
    "kilo.cli.adapter.unknown_event_type",
    "kilo.cli.server.crash_count",
    "kilo.cli.permissions.prompt_count",
    "kilo.cli.security.out_of_scope_path_attempt_count",
    "kilo.cli.tools.write.allow_count",
    "kilo.cli.tools.write.deny_count",
    "kilo.cli.credentials.insecure_storage_detected",
];
/// By how much a measured time may differ from what the harness sees, at the other end of a pipe on a busy machine.
const TOLERANCE_MS: u64 = 1000;

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for signal in signals(course) {
        examined.fact(NAMES.contains(&signal.name.as_str()) || !signal.name.starts_with("kilo.cli."), || {
            format!("there is no signal {}", signal.name)
        });
    }
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for stream in course.streams() {
        *folders.entry(course.folder_of(stream)).or_default() += 1;
    }
    let again: usize = folders.values().map(|asked| asked - 1).sum();
    let crashes = super::crash::crashes(course).len();
    if crashes == 0 {
        equal(course, "kilo.cli.sse.reconnect_count", again, "streams were asked for again", &mut examined);
    } else {
        // Where the server is gone, nobody sees who asks it.
        let counted = total(course, "kilo.cli.sse.reconnect_count");
        examined.fact(counted >= again, || {
            format!("{again} streams were asked for again, and kilo.cli.sse.reconnect_count says {counted}")
        });
    }
    let unsafe_files = super::credentials::unsafe_files(course);
    let name = "kilo.cli.credentials.insecure_storage_detected";
    equal(course, name, unsafe_files, "files of keys could be read by others", &mut examined);
    equal(course, "kilo.cli.server.crash_count", crashes, "crashes of the server were seen", &mut examined);
    let refused = course.streams().filter(|stream| matches!(stream.status(), Some(401 | 403))).count();
    equal(
        course,
        "kilo.cli.sse.auth_failures",
        refused,
        "streams were refused for their credentials",
        &mut examined,
    );
    let asked =
        course.shown().filter(|(_, update)| matches!(update, Update::PermissionRequest { .. })).count();
    equal(course, "kilo.cli.permissions.prompt_count", asked, "permissions popped up", &mut examined);
    let (allowed, denied) = writes(course);
    equal(course, "kilo.cli.tools.write.allow_count", allowed, "writes were allowed", &mut examined);
    equal(course, "kilo.cli.tools.write.deny_count", denied, "writes were denied", &mut examined);
    let refused = super::questions::refused_by_guard(course);
    let name = "kilo.cli.security.out_of_scope_path_attempt_count";
    equal(course, name, refused, "writes were refused for where they lead", &mut examined);
    let failed = course.exchanges.iter().any(super::retry::is_failed_read);
    let counted = total(course, "kilo.cli.session.rehydrate_fail_count");
    examined.fact(failed || counted == 0, || {
        format!("every conversation could be loaded, and {counted} failures to do so are counted")
    });
    let told = course
        .shown()
        .any(|(_, update)| matches!(update, Update::Error { retry: true, task_id: Some(_), .. }));
    examined.fact(!(failed && told) || counted > 0, || {
        "a conversation could not be loaded again, and that is not counted".to_owned()
    });
    first_words(course, &mut examined);
    examined
}

fn signals<'a>(course: &'a Course<'_>) -> impl Iterator<Item = &'a Signal> {
    course.said.iter().filter_map(|said| match &said.what {
        What::Signals(signal) => Some(signal),
        _ => None,
    })
}

/// The last word of a counter, over all tasks.
fn total(course: &Course<'_>, name: &str) -> usize {
    let mut last: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for signal in signals(course).filter(|signal| signal.name == name) {
        last.insert(signal.task_id.as_deref(), signal.value);
    }
    last.values().filter_map(|value| usize::try_from(*value).ok()).sum()
}

fn equal(course: &Course<'_>, name: &str, wanted: usize, what: &str, examined: &mut Examined) {
    let counted = total(course, name);
    examined.fact(counted == wanted, || format!("{wanted} {what}, and {name} says {counted}"));
}

/// Writes that the person has allowed and denied, and that the server has heard of.
fn writes(course: &Course<'_>) -> (usize, usize) {
    let edits: BTreeSet<&str> = course
        .events
        .iter()
        .filter(|sent| sent.kind() == "permission.asked" && sent.event["properties"]["permission"] == "edit")
        .filter_map(|sent| sent.event["properties"]["id"].as_str())
        .collect();
    let (mut allowed, mut denied) = (0, 0);
    for (_, id, request) in course.asked() {
        let Request::PermissionReply(reply) = request else { continue };
        let is_heard = course.answer_to(id).is_some_and(|(_, outcome)| outcome.is_ok());
        if is_heard && edits.contains(reply.permission_id.as_str()) {
            *(if reply.reply == Reply::Reject { &mut denied } else { &mut allowed }) += 1;
        }
    }
    // What a rule has answered in the person's place, and the server has taken.
    let by_rule = course.exchanges.iter().filter(|exchange| exchange.is_good());
    let by_rule = by_rule.filter(|exchange| said_in(exchange) != "reject");
    let by_rule = by_rule.filter_map(answer_sent).filter(|id| edits.contains(id) && is_by_rule(course, id));
    let persons: BTreeSet<String> = given(course).into_iter().map(|given| given.id).collect();
    allowed += by_rule.filter(|id| !persons.contains(*id)).count();
    for all in all_at_once(course) {
        // What the guard has said in the person's place is neither.
        let wanted = json!(all.asked.reply);
        let taken = all
            .posts(course)
            .filter(|(id, post)| edits.contains(id) && post.is_good() && said_in(post) == wanted);
        let taken = taken.count();
        *(if all.asked.reply == Reply::Reject { &mut denied } else { &mut allowed }) += taken;
    }
    (allowed, denied)
}

/// How long the person waited for the first words of each answer. Prompts that share an end share their first words.
fn first_words(course: &Course<'_>, examined: &mut Examined) {
    for task in &course.tasks {
        let mut turn = Turn::default();
        // The rows that have been on the screen.
        let mut known: BTreeSet<String> = BTreeSet::new();
        for said in &course.said {
            match &said.what {
                What::Asks(_, Request::TaskSend(send)) if send.task_id == task.task => {
                    turn.sent.push(said.at_us)
                }
                What::Shows(
                    Update::AssistantDelta { task_id, part_id, delta, .. }
                    | Update::ReasoningDelta { task_id, part_id, delta, .. },
                ) if *task_id == task.task && !delta.is_empty() => {
                    known.insert(part_id.clone());
                    turn.words.get_or_insert(said.at_us);
                }
                What::Shows(Update::Timeline { task_id, view, .. })
                    if *task_id == task.task && !turn.sent.is_empty() =>
                {
                    // Whoever reads them anew may well show them so first.
                    let is_new = |item: &Item| {
                        let has_words = item.text.as_ref().is_some_and(|text| !text.is_empty());
                        has_words && !known.contains(&item.part_id)
                    };
                    if view.items.iter().any(is_new) {
                        turn.drawn.get_or_insert(said.at_us);
                    }
                    known.extend(view.items.iter().map(|item| item.part_id.clone()));
                }
                What::Signals(signal)
                    if signal.name == NAMES[0] && signal.task_id.as_deref() == Some(&task.task) =>
                {
                    turn.measured.push(signal.value);
                }
                What::Shows(Update::Terminal { task_id, .. }) if *task_id == task.task => {
                    std::mem::take(&mut turn).examine(&task.task, examined);
                }
                _ => {}
            }
        }
        turn.examine(&task.task, examined);
    }
}

/// From prompts to their end.
#[derive(Default)]
struct Turn {
    sent: Vec<u64>,
    words: Option<u64>,
    /// When words were first there that a timeline has shown.
    drawn: Option<u64>,
    measured: Vec<u64>,
}

impl Turn {
    fn examine(&self, task: &str, examined: &mut Examined) {
        let Some(first) = self.sent.first() else { return };
        let least = usize::from(self.words.is_some());
        examined.fact((least..=self.sent.len()).contains(&self.measured.len()), || {
            format!("{least} first words were shown in {task}, and {} were measured", self.measured.len())
        });
        if let (Some(words), [measured], 1) = (self.words, &self.measured[..], self.sent.len()) {
            let took_until = |words: u64| words.saturating_sub(*first) / 1000;
            let took = took_until(words);
            let drawn = self.drawn.filter(|drawn| *drawn < words).map(took_until);
            let mut shown = std::iter::once(took).chain(drawn);
            examined.fact(shown.any(|took| measured.abs_diff(took) <= TOLERANCE_MS), || {
                format!("the first words in {task} took {took} ms, and {measured} ms were told")
            });
        }
    }
}
