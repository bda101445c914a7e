//! Rules that answer requests for leave in the person's place; and what the screen of a task offers.

use super::call::Call;
use super::commands::reply_path;
use super::core::Core;
use super::io::Timer;
use crate::protocol::{Affordance, Id, Offered, Permission};
use serde_json::json;

impl Core {
    /// A rule covers this request. At once: then nobody is asked, and this says so. Later: the person is asked
    /// meanwhile.
    pub(super) fn rule_takes(&mut self, task_id: &str, asked: &Permission) -> bool {
        let features = &self.strategies.features;
        let is_stopped = self.stopped.contains(task_id);
        let is_held = is_stopped || self.held.contains(&asked.permission_id) && features.can_be_held();
        let rule = self.settings.auto_approve.as_ref();
        let Some(rule) = rule.filter(|rule| !is_held && features.covers(rule, &asked.permission)) else {
            return false;
        };
        let (waits_ms, says) = (features.waits_ms(rule), features.says());
        // No rule gives leave to leave the workspace: the person is asked, and told why a yes is not sent.
        let place = self.tasks.get(task_id).map(|task| task.directory().to_owned());
        let holds = self.strategies.guard.holds_rules();
        if place.is_none_or(|directory| holds && self.leads_out(&directory, asked, says)) {
            return false;
        }
        let features = &self.strategies.features;
        match waits_ms {
            0 => {
                let asks_beside = features.asks_beside();
                self.approve(task_id, asked.clone());
                !asks_beside
            }
            wait => {
                let timer = Timer::Approve(task_id.to_owned(), asked.permission_id.clone());
                let wait = self.scaled(wait);
                self.start_timer(timer, wait);
                false
            }
        }
    }

    /// The person has had time to answer, or to stop the rule.
    pub(super) fn approve_in_time(&mut self, task_id: &str, permission_id: &str) {
        if self.held.contains(permission_id) && self.strategies.features.can_be_held() {
            return;
        }
        // A task that can't go on answers nothing; once it is loaded anew, the time begins anew.
        let waits = self.strategies.features.waits_when_closed();
        let asked = self.tasks.get(task_id).filter(|task| !(task.stale && waits)).and_then(|task| {
            task.permissions().iter().find(|live| live.permission_id == permission_id).cloned()
        });
        // The rule may have been taken back meanwhile.
        let covers = |asked: &Permission| {
            let rule = self.settings.auto_approve.as_ref();
            rule.is_some_and(|rule| self.strategies.features.covers(rule, &asked.permission))
        };
        if let Some(asked) = asked.filter(covers)
            && !self.is_being_answered(permission_id)
        {
            self.approve(task_id, asked);
        }
    }

    /// The person stops the agent of a task: what it asks waits for the person, also what is on its way.
    pub(super) fn call_off(&mut self, task_id: &str) {
        let Some(task) = self.tasks.get(task_id).filter(|_| self.strategies.features.stop_calls_off()) else {
            return;
        };
        self.stopped.insert(task_id.to_owned());
        self.held.extend(task.permissions().iter().map(|asked| asked.permission_id.clone()));
        self.typed.extend(task.questions().iter().map(|asked| asked.question_id.clone()));
    }

    fn is_being_answered(&self, permission_id: &str) -> bool {
        let is = |call: &Call| match call {
            Call::Permission { permission_id: other, .. } => other == permission_id,
            Call::Approve { permission, .. } => permission.permission_id == permission_id,
            _ => false,
        };
        self.calls.values().any(is)
    }

    fn approve(&mut self, task_id: &str, permission: Permission) {
        let Some(directory) = self.tasks.get(task_id).map(|task| task.directory().to_owned()) else { return };
        if self.is_being_answered(&permission.permission_id) {
            return;
        }
        let says = self.strategies.features.says();
        let path = reply_path(&permission.permission_id);
        let body = json!({ "reply": says });
        let request = self.http(&directory, "POST", &path, Some(body.clone()));
        // Before the answer: the event about it may overtake it.
        self.unconfirmed.insert(permission.permission_id.clone(), (directory, path, body));
        self.calls.insert(request, Call::Approve { task_id: task_id.to_owned(), permission });
    }

    /// The server has taken the rule's answer; or it has not, and the person has to be asked.
    pub(super) fn approved(
        &mut self,
        task_id: &str,
        permission: Permission,
        status: Option<u16>,
        is_taken: bool,
    ) {
        let is_write = permission.permission == "edit";
        let id = permission.permission_id.clone();
        if is_taken || status == Some(404) {
            let gone = self.tasks.get_mut(task_id).and_then(|task| task.replied(id.clone()));
            if let Some(gone) = gone {
                self.tell(gone);
            }
        }
        if is_taken {
            if is_write {
                self.count("kilo.cli.tools.write.allow_count", Some(task_id));
            }
            return;
        }
        self.unconfirmed.remove(&id);
        self.held.insert(id);
        if status == Some(404) {
            return self.on_doubt(task_id);
        }
        let asking = &*self.strategies.asking;
        let asked = self.tasks.get_mut(task_id).and_then(|task| task.asked(permission, asking));
        if let Some(asked) = asked {
            self.tell(asked);
        }
    }

    /// What can be used in a task just now, and nothing else: a control that can't work is not shown.
    pub(super) fn affordances(&mut self, id: Id, task_id: &str) {
        if self.session_of_task(&id, task_id).is_none() {
            return;
        }
        let mut usable = vec![Affordance::Stop, Affordance::Retry, Affordance::Questions, Affordance::Todos];
        if self.settings.tools {
            usable.extend([Affordance::Permissions, Affordance::AutoApprove]);
        }
        // Who is asked for leave answers first.
        let is_asked = self.tasks.get(task_id).is_some_and(|task| !task.permissions().is_empty());
        if !is_asked || !self.strategies.features.closes_input() {
            usable.push(Affordance::Input);
        }
        let offers = self.strategies.features.offers(usable);
        self.answer(id, Offered { offers });
    }
}
