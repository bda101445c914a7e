//! The person's two streams of events: opened, closed and opened again, and lost with a server that ends.

use super::Problem;
use super::person::Person;
use super::waiting::{awaited, quiet_from_now, timed};
use crate::capture::Client;
use crate::clock::Limits;
use crate::events::{EventStream, kind};
use fixtures::fault_plan::StreamName;
use fixtures::scenario::Ending;

/// Opens both streams. `last` is the id of the event that was heard last before that.
pub(super) async fn listen(
    client: &Client,
    limits: &Limits,
    last: Option<&str>,
) -> Result<(EventStream, EventStream), Problem> {
    let events = subscribe(client, limits, StreamName::Event, last).await?;
    let global_events = subscribe(client, limits, StreamName::GlobalEvent, last).await?;
    for stream in [&events, &global_events] {
        let connected = stream.wait_for(0, |event| kind(event) == "server.connected");
        awaited("server.connected", limits.exchange, connected).await?;
    }
    Ok((events, global_events))
}

async fn subscribe(
    client: &Client,
    limits: &Limits,
    stream: StreamName,
    last: Option<&str>,
) -> Result<EventStream, Problem> {
    let what = format!("the head of {}", stream.path());
    Ok(timed(&what, limits.exchange, client.subscribe_after(stream, "", last)).await??)
}

impl Person<'_> {
    /// Closes both streams, and opens them again as one does who wants to miss nothing.
    pub(super) async fn reconnect(&mut self, last: Option<&str>) -> Result<(), Problem> {
        self.events.close();
        self.global_events.close();
        self.hear_anew(last).await
    }

    /// Has the server ended and started again. What it has not answered by then it never does.
    pub(super) async fn restart(&mut self, ending: Ending) -> Result<(), Problem> {
        self.backstage.restart(ending).await.map_err(Problem::Unusable)?;
        for stream in [&self.events, &self.global_events] {
            timed("the end of the streams", self.limits.exchange, stream.ended()).await?;
        }
        // A server that is asked to end may still answer; with its connections all waiting is over.
        let last = async { while self.prompts.join_next().await.is_some() {} };
        let _ = timed("the last answers", self.limits.exchange, last).await;
        self.prompts.abort_all();
        while self.prompts.join_next().await.is_some() {}
        self.sessions.iter_mut().for_each(|session| session.unanswered = 0);
        self.hear_anew(None).await
    }

    /// Only what is heard from now on counts.
    async fn hear_anew(&mut self, last: Option<&str>) -> Result<(), Problem> {
        (self.events, self.global_events) = listen(self.client, self.limits, last).await?;
        self.awaited_from = 0;
        self.awaited_elsewhere_from = 0;
        self.sessions.iter_mut().for_each(|session| session.prompted_at = 0);
        let limits = self.limits;
        quiet_from_now(&self.events, &self.global_events, limits.boot_quiet, limits.boot).await
    }
}
