//! What is asked of an adapter beside the chat, where a case needs it: what its screen offers, and what it makes of
//! locales. Its rules are settings.

use super::{Run, Troubled};
use crate::checks::locales::TABLE;
use crate::protocol::request::{Settings, TaskRef};
use crate::protocol::{AutoApprove, Capability, FollowUp, Locale, Request};
use parity_specs::case::Case;

/// The settings of a case; none where everything is as usual.
pub(super) fn settings(case: &Case) -> Option<Settings> {
    let auto_approve = case
        .auto_approve
        .as_ref()
        .map(|rule| AutoApprove { kinds: rule.kinds.clone(), delay_ms: rule.delay_ms });
    let follow_up = case.follow_up_ms.map(|delay_ms| FollowUp { delay_ms });
    let settings = Settings { tools: case.tools, auto_approve, follow_up, ..Settings::default() };
    (settings != Settings::default()).then_some(settings)
}

/// What an adapter has to be able to do for them.
pub(super) fn needs(case: &Case) -> impl Iterator<Item = Capability> {
    let rule = case.auto_approve.is_some().then_some(Capability::AutoApprove);
    let countdown = case.follow_up_ms.is_some().then_some(Capability::FollowUps);
    rule.into_iter().chain(countdown).chain((!case.tools).then_some(Capability::ToolsOff))
}

impl Run {
    pub(super) async fn ask_locales(&mut self, case: &Case) -> Result<(), Troubled> {
        if asks(case, Capability::Locales) {
            for (locale, _) in TABLE {
                self.ask(Request::LocaleMap(Locale { locale: locale.to_owned() })).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn ask_affordances(&mut self, case: &Case) -> Result<(), Troubled> {
        if asks(case, Capability::Affordances) {
            for task_id in
                self.tasks.keys().filter(|task| !self.closed.contains(*task)).cloned().collect::<Vec<_>>()
            {
                self.ask(Request::Affordances(TaskRef { task_id })).await?;
            }
        }
        Ok(())
    }
}

fn asks(case: &Case, capability: Capability) -> bool {
    case.needs.contains(&capability.word())
}
