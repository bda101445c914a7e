//! A stand-in for the cloud that tells a user the news: one endpoint behind a bearer token, which answers in two shapes
//! and breaks on cue. Nobody needs an account to see what a client makes of it.
//!
//! * [`answer`] — how a call is answered, in words.
//! * [`news`] — the notifications, in the two shapes.
//! * [`calls`] — who called with what; a token is never kept, only whether it was the right one.
//! * `desk` — the door: what a request gets.
//!
//! There are two doors: the cloud, and `elsewhere`, another origin to which a redirect leads. Who brings the bearer there has
//! given it away.

pub mod answer;
pub mod calls;
mod desk;
pub mod news;

pub use answer::Answer;
pub use calls::{Bearer, Call, Place};
pub use news::Shape;

use crate::clock::{Clock, ClockKind};
use crate::http::wire::Wire;
use crate::journal::Journal;
use crate::socket::Listener;
use desk::Desk;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

/// Where the news are.
pub const NOTIFICATIONS: &str = "/api/users/notifications";

/// Told of every call when it is over.
pub type OnCall = Arc<dyn Fn(&Call) + Send + Sync>;

/// What a cloud is to be.
#[derive(Clone)]
pub struct Options {
    /// The port; 0 takes any free one.
    pub port: u16,
    /// In which shape it tells the news.
    pub shape: Shape,
    /// The token that is the right one.
    pub token: String,
    /// How the first call is answered, the second one, and so on; the last answer stays.
    pub answers: Vec<Answer>,
    /// Where time comes from.
    pub clock: ClockKind,
    /// Its time passes only when it is wound ([`Cloud::wind`]): for who gives a client its time, too.
    pub is_wound: bool,
    /// Where the calls are written, too; without it in a journal of its own.
    pub journal: Option<Journal>,
    /// Told of every call when it is over.
    pub on_call: OnCall,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            shape: Shape::default(),
            token: "standin-token".to_owned(),
            answers: Vec::new(),
            clock: ClockKind::Real,
            is_wound: false,
            journal: None,
            on_call: Arc::new(|_| {}),
        }
    }
}

/// A cloud that listens on loopback ports until it is dropped.
///
/// ```
/// use mock_server::cloud::{Cloud, Options};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cloud = Cloud::start(Options::default()).await?;
/// let client = reqwest::Client::new();
/// let asked = client.get(format!("{}/api/users/notifications", cloud.url())).bearer_auth("standin-token");
/// let news: serde_json::Value = asked.send().await?.json().await?;
/// assert_eq!(news["notifications"][0]["id"], "news-1");
/// assert_eq!(cloud.calls().len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Cloud {
    address: SocketAddr,
    elsewhere: SocketAddr,
    desk: Arc<Desk>,
    journal: Journal,
    tasks: Vec<JoinHandle<()>>,
    /// A port that is held and answers nobody.
    _refused: Option<TcpSocket>,
}

impl Cloud {
    /// Starts listening; or, if its first answer is [`Answer::Refuse`], holds a port on which nobody listens.
    pub async fn start(options: Options) -> io::Result<Self> {
        let (journal, port) = (options.journal.clone(), options.port);
        let journal = journal.unwrap_or_else(|| Journal::new(Arc::new(Clock::new(options.clock))));
        let elsewhere = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let elsewhere_at = elsewhere.local_addr()?;
        let is_refusing = options.answers.first() == Some(&Answer::Refuse);
        let desk = Arc::new(Desk::new(options, journal.clone(), elsewhere_at));
        let mut tasks = vec![serve(elsewhere, &desk, Place::Elsewhere)];
        let (address, refused) = if is_refusing {
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
            (socket.local_addr()?, Some(socket))
        } else {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
            let address = listener.local_addr()?;
            tasks.push(serve(listener, &desk, Place::Cloud));
            (address, None)
        };
        Ok(Self { address, elsewhere: elsewhere_at, desk, journal, tasks, _refused: refused })
    }

    /// The address, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The other origin, without a path.
    #[must_use]
    pub fn elsewhere(&self) -> String {
        format!("http://{}", self.elsewhere)
    }

    /// The calls so far, in the order in which they came; the last ones may not be over.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.desk.calls()
    }

    /// From now on calls are answered so, one after the other; the last answer stays.
    pub fn answer_with(&self, answers: Vec<Answer>) {
        self.desk.answer_with(answers);
    }

    /// Lets its time pass, if it is one that is wound.
    pub fn wind(&self, ms: u64) {
        self.desk.wind(ms);
    }

    /// What came and went, in the common format.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Waits until the calls satisfy `holds`. Has no limit of its own: the caller's wait has one.
    pub async fn wait_until(&self, mut holds: impl FnMut(&[Call]) -> bool) {
        self.journal.wait_until(|_| holds(&self.desk.calls())).await;
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn serve(listener: TcpListener, desk: &Arc<Desk>, place: Place) -> JoinHandle<()> {
    let app = desk::router(desk.clone(), place).into_make_service_with_connect_info::<Wire>();
    tokio::spawn(async move {
        // Serving ends with the task; an accept error has nobody to be told to.
        let _ = axum::serve(Listener(listener), app).await;
    })
}

#[cfg(test)]
mod tests;
