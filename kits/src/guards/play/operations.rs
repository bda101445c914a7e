//! Operations are played: the host holds its answers until what is to be seen is there, so nothing depends on a while.

use super::Stage;
use super::steps::{Action, AtOnce, Limited, Measured, Planned, Service};
use crate::scene::Troubled;
use crate::story::{AdapterClock, Story};
use fixtures::recording::Line;
use harness::clock::within;
use harness::link::Asked;
use mock_server::endpoint::Reply;
use serde_json::{Value, json};

impl Stage<'_> {
    /// As many as may are waited for, and then one of them is let go, until all are done or the number is wrong.
    pub(super) async fn at_once(&mut self, all: &AtOnce) -> Result<(), Troubled> {
        let (journal, porter) = (self.scene.journal().clone(), self.endpoint.porter());
        let limit = self.scene.limits().step;
        let begun = journal.lines().len();
        let mut asked = Vec::new();
        // Who gets which answer is told by who comes first.
        for nth in 0..all.replies.len() {
            let lane = format!("place-{}", nth + 1);
            self.endpoint.plan(&lane, vec![all.replies[nth].reply().held(&lane)]);
            let params = json!({"id": format!("operation-{}", nth + 1), "url": self.endpoint.url(&lane)});
            asked.push(self.scene.begin("op/begin", params).await?);
        }
        let mut free: Vec<String> = Vec::new();
        for done in 0..all.replies.len() {
            let wanted = all.most.min(all.replies.len() - done);
            let come = journal.wait_until(|lines| under_way(lines, begun, &free).len() >= wanted);
            // Who comes not, or comes in addition, is told by the count.
            let _come = within(limit, come).await;
            self.scene.settle().await;
            let open = under_way(&journal.lines(), begun, &free);
            self.scene.witness("under-way", &json!({"are": open.len(), "may": wanted}));
            let Some(first) = open.first().filter(|_| open.len() == wanted) else { break };
            free.push(first.clone());
            porter.open(first);
        }
        for nth in 0..all.replies.len() {
            porter.open(&format!("place-{}", nth + 1));
        }
        let is_whole = free.len() == all.replies.len();
        for (nth, one) in asked.into_iter().enumerate() {
            // Where places are lost the rest never comes: that is told already.
            if is_whole {
                let _answer = self.scene.answer(one).await?;
            }
            let ok = matches!(all.replies[nth], Planned::Status(status) if status < 300);
            self.want("op/begin", json!({"ok": ok, "all": is_whole}));
        }
        Ok(())
    }

    pub(super) async fn limited(&mut self, limited: &Limited) -> Result<(), Troubled> {
        let lane = format!("limited-{}", self.asked.get("op/limited").copied().unwrap_or_default() + 1);
        let reply = Reply::json(200, &json!({"value": "the answer"}));
        self.endpoint.plan(&lane, vec![if limited.late { reply.held(&lane) } else { reply }]);
        let (limit, ms) = (self.scene.limits().step, limited.timeout_ms);
        let params = json!({"id": lane, "url": self.endpoint.url(&lane), "timeoutMs": ms});
        let mut asked = self.begun(&lane, "op/limited", params).await?;
        let mut is_answered = false;
        if limited.late {
            self.wait_begins(asked.1).await;
            self.scene.pass(ms).await?;
            // Who waits on is told by the answer that comes then.
            is_answered = asked.0.answered_within(limit).await.is_some();
            self.endpoint.porter().open(&lane);
        }
        if !is_answered {
            let _answer = self.scene.answer(asked.0).await?;
        }
        if !limited.late {
            // Time is up now for whoever has forgotten that there was an answer.
            self.scene.pass(ms).await?;
        }
        self.scene.settle().await;
        self.want("op/limited", json!({"late": limited.late, "timeout_ms": ms}));
        Ok(())
    }

    pub(super) async fn measured(&mut self, measured: &Measured) -> Result<(), Troubled> {
        let Measured { label, reply, takes_ms, slow_ms } = measured;
        let lane = format!("measured-{}", self.asked.get("op/measured").copied().unwrap_or_default() + 1);
        self.endpoint.plan(&lane, vec![reply.reply().held(&lane)]);
        let params = json!({"label": label, "url": self.endpoint.url(&lane), "slowMs": slow_ms});
        let reported = self.exchanges("telemetry");
        let (asked, _) = self.begun(&lane, "op/measured", params).await?;
        self.scene.pass(*takes_ms).await?;
        self.endpoint.porter().open(&lane);
        let _answer = self.scene.answer(asked).await?;
        let reports = self.configured.telemetry;
        if reports {
            let come = self.scene.journal().wait_until(|lines| on_lane(lines, "telemetry") > reported);
            // Who reports late does not make the person wait; who never does is told by the count.
            let _come = within(self.scene.limits().step, come).await;
        }
        self.scene.settle().await;
        let ok = matches!(reply, Planned::Status(status) if *status < 300);
        let wanted = json!({
            "label": label, "lane": lane, "ok": ok, "takes_ms": takes_ms, "slow_ms": slow_ms, "reports": reports,
        });
        self.want("op/measured", wanted);
        Ok(())
    }

    pub(super) async fn service(&mut self, service: &Service) -> Result<(), Troubled> {
        let lane = format!("service-{}", self.asked.get("service/use").copied().unwrap_or_default() + 1);
        self.endpoint.plan(&lane, vec![service.reply.reply().held(&lane)]);
        let params = json!({"name": service.name, "url": self.endpoint.url(&lane)});
        let mut asked = Vec::new();
        for _ in 0..service.times {
            asked.push(self.scene.begin("service/use", params.clone()).await?);
        }
        if service.initializes > 0 {
            let come = self.scene.journal().wait_until(|lines| on_lane(lines, &lane) > 0);
            let _come = within(self.scene.limits().step, come).await;
            // Whoever initializes it a second time does that now.
            self.scene.settle().await;
        }
        self.endpoint.porter().open(&lane);
        for one in asked {
            let _answer = self.scene.answer(one).await?;
        }
        let initialized = self.exchanges(&lane);
        let ok = matches!(service.reply, Planned::Status(status) if status < 300);
        for _ in 0..service.times {
            let wanted = json!({"ok": ok, "initializes": service.initializes, "initialized": initialized});
            self.want("service/use", wanted);
        }
        Ok(())
    }

    pub(super) async fn action(&mut self, action: &Action) -> Result<(), Troubled> {
        let lane = format!("action-{}", action.id);
        self.endpoint.plan(&lane, vec![action.reply.reply()]);
        let url = self.endpoint.url(&lane);
        let params = json!({"id": action.id, "url": url, "listenerThrows": action.listener_throws});
        let ok = matches!(action.reply, Planned::Status(status) if status < 300);
        self.ask("service/act", params, json!({"ok": ok})).await?;
        self.scene.settle().await;
        Ok(())
    }

    /// Begins to ask, and waits until the host is asked, if it ever is; from which line on that was.
    async fn begun(&mut self, lane: &str, method: &str, params: Value) -> Result<(Asked, usize), Troubled> {
        let line = self.scene.journal().lines().len();
        let asked = self.scene.begin(method, params).await?;
        let come = self.scene.journal().wait_until(|lines| on_lane(lines, lane) > 0);
        let _come = within(self.scene.limits().step, come).await;
        Ok((asked, line))
    }

    /// Waits until an adapter with a virtual clock has said that it waits.
    async fn wait_begins(&self, since: usize) {
        if self.scene.clock() == AdapterClock::Virtual {
            let waits =
                |lines: &[Line]| Story::of(lines).updates_of("waits").any(|told| told.at.line >= since);
            // Who never waits is told by its answer.
            let _waits = within(self.scene.limits().step, self.scene.journal().wait_until(waits)).await;
        }
    }
}

/// How many requests a lane has had.
pub(super) fn on_lane(lines: &[Line], lane: &str) -> usize {
    lines.iter().filter(|line| matches!(line, Line::Request(it) if it.lane.as_deref() == Some(lane))).count()
}

/// The lanes of operations that have begun since a line and are not over.
fn under_way(lines: &[Line], since: usize, free: &[String]) -> Vec<String> {
    let asked = lines[since.min(lines.len())..].iter().filter_map(|line| match line {
        Line::Request(it) => it.lane.clone().filter(|lane| lane.starts_with("place-")),
        _ => None,
    });
    asked.filter(|lane| !free.contains(lane)).collect()
}
