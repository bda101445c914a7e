//! The adapter's time. One with a virtual clock says what it waits for, and is told when that is over; for all others
//! time passes by itself.

use super::{Scene, Troubled, broken};
use crate::story::{AdapterClock, CLOCK, Story};
use fixtures::recording::Line;
use harness::clock::{pause, within};
use harness::link::Asked;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The updates of a virtual clock: `{kind: "waits", id, ms}`, and `{kind: "waited", id}` when it does not wait any more.
pub(super) const UPDATES: [&str; 2] = ["waits", "waited"];

/// So often time goes on for one answer; an adapter that waits for ever is not answered for ever.
const MOST_WAITS: usize = 200;
/// How long an answer is waited for before it is looked whether time should go on.
const LOOK: Duration = Duration::from_millis(25);
/// Who was asked something and has not said that he waits is at work: on a slow machine his time must not go on under his hands.
const AT_WORK: Duration = Duration::from_secs(2);

/// How long something is waited for while time goes on.
struct Patience {
    waits: usize,
    /// So long nothing has happened.
    idle: Duration,
    /// An adapter that neither acts nor waits is busy, or stuck: it has the time that every answer has.
    limit: Duration,
}

impl Patience {
    fn of(limit: Duration) -> Self {
        Self { waits: 0, idle: Duration::ZERO, limit }
    }

    fn lasts(&self) -> bool {
        self.waits < MOST_WAITS && self.idle < self.limit
    }
}

impl Scene {
    /// Waits for an answer, and lets the adapter's time pass meanwhile. That it refuses is an answer.
    ///
    /// # Errors
    /// It does not answer, or is gone.
    pub async fn answer(&mut self, asked: Asked) -> Result<Result<Value, RpcError>, Troubled> {
        self.answer_within(asked, self.limits.answer).await
    }

    /// As [`Scene::answer`], for what takes longer than answers do.
    ///
    /// # Errors
    /// It does not answer, or is gone.
    pub async fn answer_within(
        &mut self,
        mut asked: Asked,
        limit: Duration,
    ) -> Result<Result<Value, RpcError>, Troubled> {
        use harness::link::AskError::{Ended, Refused, Silent};
        if self.hello.clock == AdapterClock::Virtual {
            let mut patience = Patience::of(limit);
            while patience.lasts() {
                if let Some(answer) = asked.answered_within(LOOK).await {
                    return understood(answer);
                }
                self.let_time_go_on(&mut patience).await?;
            }
        }
        return understood(asked.answer(limit).await);

        fn understood(
            answer: Result<Value, harness::link::AskError>,
        ) -> Result<Result<Value, RpcError>, Troubled> {
            match answer {
                Ok(value) => Ok(Ok(value)),
                Err(Refused { error, .. }) => Ok(Err(error)),
                Err(error @ (Silent { .. } | Ended { .. })) => Err(broken(error.to_string())),
            }
        }
    }

    /// Waits for something on the time line that the adapter brings about, and lets its time pass meanwhile; whether it came.
    ///
    /// # Errors
    /// The adapter does not follow.
    pub async fn comes(&mut self, is_it: impl Fn(&Line) -> bool) -> Result<bool, Troubled> {
        let journal = self.journal.clone();
        let has_come = |limit| within(limit, journal.wait_until(|lines| lines.iter().any(&is_it)));
        if self.hello.clock == AdapterClock::Virtual {
            let mut patience = Patience::of(self.limits.answer);
            while patience.lasts() {
                if has_come(LOOK).await.is_some() {
                    return Ok(true);
                }
                self.let_time_go_on(&mut patience).await?;
            }
        }
        Ok(has_come(self.limits.answer).await.is_some())
    }

    /// What is waited for has not come: when nothing else happens either, the adapter's next wait is over.
    async fn let_time_go_on(&mut self, patience: &mut Patience) -> Result<(), Troubled> {
        if !self.is_quiet().await {
            patience.idle = Duration::ZERO;
            return Ok(());
        }
        let is_at_work = patience.idle < AT_WORK && self.is_at_work();
        match self.earliest().filter(|_| !is_at_work) {
            Some(due) => {
                self.advance_to(due).await?;
                (patience.waits, patience.idle) = (patience.waits + 1, Duration::ZERO);
            }
            None => patience.idle += LOOK + self.limits.quiet,
        }
        Ok(())
    }

    /// Lets so much of the adapter's time pass, and what is due by then happen.
    ///
    /// # Errors
    /// The adapter does not follow.
    pub async fn pass(&mut self, ms: f64) -> Result<(), Troubled> {
        match self.hello.clock {
            AdapterClock::Virtual => {
                let end = self.virtual_ms + ms;
                for _ in 0..MOST_WAITS {
                    self.settle().await;
                    match self.earliest().filter(|due| *due <= end) {
                        Some(due) => self.advance_to(due).await?,
                        None => break,
                    }
                }
                self.advance_to(end).await?;
                self.settle().await;
            }
            AdapterClock::Scaled => pause(Duration::from_secs_f64(ms * super::TIME_SCALE / 1000.0)).await,
            AdapterClock::Real => pause(Duration::from_secs_f64(ms / 1000.0)).await,
        }
        Ok(())
    }

    /// Waits until nothing happens for a moment.
    pub async fn settle(&self) {
        let settled = async { while !self.is_quiet().await {} };
        // What still happens then is judged as it is.
        let _settled = within(self.limits.settle, settled).await;
    }

    async fn is_quiet(&self) -> bool {
        let written = self.journal.written();
        let news = self.journal.wait_until(|_| self.journal.written() > written);
        within(self.limits.quiet, news).await.is_none()
    }

    /// When the next wait of the adapter is over.
    fn earliest(&self) -> Option<f64> {
        self.waits(&Story::of(&self.journal.lines())).into_iter().min_by(f64::total_cmp)
    }

    /// Has the adapter been asked more than it says that it waits for?
    fn is_at_work(&self) -> bool {
        let lines = self.journal.lines();
        let story = Story::of(&lines);
        let asked =
            story.calls.iter().filter(|call| call.at.line >= self.started_at && call.answer.is_none());
        asked.count() > self.waits(&story).len()
    }

    /// When each of the adapter's waits is over.
    fn waits(&self, story: &Story<'_>) -> Vec<f64> {
        let mut waits: BTreeMap<String, f64> = BTreeMap::new();
        // What an adapter waited for that was killed is nobody's any more.
        for told in story.updates.iter().filter(|told| told.at.line >= self.started_at) {
            let id = told.update["id"].to_string();
            match told.kind.as_str() {
                "waits" => {
                    waits.insert(id, told.at.ms + told.update["ms"].as_f64().unwrap_or_default());
                }
                "waited" => {
                    waits.remove(&id);
                }
                _ => {}
            }
        }
        waits.into_values().filter(|due| *due > self.virtual_ms).collect()
    }

    async fn advance_to(&mut self, due: f64) -> Result<(), Troubled> {
        let ms = due - self.virtual_ms;
        self.virtual_ms = due;
        self.witness(CLOCK, &json!(due));
        let limit = self.limits.answer;
        let told = self.link()?.call("clock/advance", json!({"ms": ms}), limit).await;
        told.map(drop).map_err(|error| broken(error.to_string()))
    }
}
