//! Does what the person of a scenario does, against any server, and reads what is left afterwards.
//!
//! Every wait is for a fact on the wire and has a limit; a step that fails says which it was, what it waited for
//! and for how long. What was kept until then stays on the tape.

mod person;
mod raw;
mod stream;
mod waiting;

use crate::capture::{CaptureError, Client};
use crate::clock::Limits;
use crate::events::StreamEnded;
use bytes::Bytes;
use fixtures::recording::{Line, UserLine};
use fixtures::scenario::{Ending, Scenario};
use person::Person;
use std::pin::Pin;
use std::time::Duration;

/// What a performance leaves beside the tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed {
    /// The main session's id.
    pub session: String,
    /// The body of `GET /doc`; it has no place on the tape.
    pub doc: Bytes,
}

/// A performance that could not be finished.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct DriveError {
    /// Where in the performance.
    pub place: String,
    /// What happened there.
    pub problem: Problem,
}

/// What can go wrong in a performance.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// An exchange failed.
    #[error(transparent)]
    Exchange(#[from] CaptureError),
    /// The server does not do what it was asked.
    #[error("{request} was refused with {status}: {body}")]
    Refused {
        /// Method and path.
        request: String,
        /// The status.
        status: u16,
        /// The beginning of the answer.
        body: String,
    },
    /// An answer lacks what is needed to go on.
    #[error("{0}")]
    Unusable(String),
    /// Nothing came.
    #[error("waited {} s for {awaited}, which did not come", .limit.as_secs_f32())]
    TimedOut {
        /// What was waited for.
        awaited: String,
        /// How long.
        limit: Duration,
    },
    /// Nothing can come any more.
    #[error("waited for {awaited}, but {ended}")]
    Ended {
        /// What was waited for.
        awaited: String,
        /// Which stream, and why.
        ended: StreamEnded,
    },
}

/// What happens behind a performance at the person's word.
pub trait Backstage: Sync {
    /// Opens a gate of the scripted model, wherever that model is.
    fn open_gate(&self, name: &str);

    /// Has the server ended, and started again at its address; or says why not.
    fn restart(&self, ending: Ending) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;
}

/// Performs the person's steps of `scenario` and keeps everything on the client's tape.
///
/// `workspace` is the folder in which the agent works, as the server names it.
///
/// The person has both streams open from the beginning to the end, waits for the server's boot, and creates the main
/// session; another one when a step first names it. After the last step the state is read over REST.
pub async fn perform(
    scenario: &Scenario,
    workspace: &str,
    client: &Client,
    limits: &Limits,
    backstage: &dyn Backstage,
) -> Result<Performed, DriveError> {
    let at = |place: &str| {
        let place = place.to_owned();
        move |problem| DriveError { place, problem }
    };
    let arrived = Person::arrive(workspace, client, limits, backstage).await;
    let (mut person, doc) = arrived.map_err(at("before the first step"))?;
    for (index, step) in scenario.user.steps.iter().enumerate() {
        let number = index + 1;
        let does = step.to_string();
        let place = format!("step {number} ({does})");
        client.tape().push(|at_us| Line::User(UserLine { at_us, step: number, does }));
        person.does(step).await.map_err(at(&place))?;
    }
    person.leave().await.map_err(at("after the last step"))?;
    Ok(Performed { session: person.main_session().to_owned(), doc })
}

#[cfg(test)]
mod tests;
