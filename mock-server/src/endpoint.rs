//! An address that answers as a plan says, for programs that ask over HTTP and are no clients of a server that is played
//! here: what a provider, a sink or any other host would say, request by request.
//!
//! The first part of a path is the lane, and each lane has a plan of its own. Every request and answer is on the time
//! line; of an `authorization` only how long it is.

use crate::journal::Journal;
use fixtures::recording::{Line, Request, Response};
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// A head that is longer is nobody's.
const LONGEST_HEAD: usize = 64 << 10;
/// So is a longer body.
const LONGEST_BODY: usize = 16 << 20;

/// What a request gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An answer.
    Answer {
        /// Its status.
        status: u16,
        /// Its headers, beside the length.
        headers: Vec<(String, String)>,
        /// Its body.
        body: String,
    },
    /// The connection ends without one.
    HangUp,
}

impl Reply {
    /// An answer in JSON.
    #[must_use]
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self::Answer { status, headers, body: body.to_string() }
    }
}

/// An address that answers until it is dropped.
pub struct Endpoint {
    address: SocketAddr,
    desk: Arc<Desk>,
    task: AbortHandle,
}

struct Desk {
    journal: Journal,
    exchanges: AtomicU64,
    plans: Mutex<BTreeMap<String, Plan>>,
}

#[derive(Default)]
struct Plan {
    replies: Vec<Reply>,
    asked: usize,
}

impl Endpoint {
    /// Starts listening on a loopback port of its own.
    ///
    /// # Errors
    /// The machine has no port.
    pub async fn start(journal: Journal) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk { journal, exchanges: AtomicU64::new(1), plans: Mutex::default() });
        let at_door = desk.clone();
        let task = tokio::spawn(async move {
            let mut visitors = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let desk = at_door.clone();
                // Who leaves in the middle is told by what is missing on the time line.
                visitors.spawn(async move { desk.serve(stream).await.is_ok() });
                while visitors.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, desk, task: task.abort_handle() })
    }

    /// The address of a lane.
    #[must_use]
    pub fn url(&self, lane: &str) -> String {
        format!("http://{}/{lane}", self.address)
    }

    /// How the next requests of a lane are answered; the last answer stays. A lane without a plan says `{}`.
    pub fn plan(&self, lane: &str, replies: Vec<Reply>) {
        self.desk.plans().insert(lane.to_owned(), Plan { replies, asked: 0 });
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Desk {
    fn plans(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Plan>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply(&self, lane: &str) -> Reply {
        let mut plans = self.plans();
        let plan = plans.entry(lane.to_owned()).or_default();
        let reply = plan.replies.get(plan.asked).or(plan.replies.last());
        let reply = reply.cloned().unwrap_or_else(|| Reply::json(200, &serde_json::json!({})));
        plan.asked += 1;
        reply
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let Some(head) = read_head(&mut stream).await? else { return Ok(()) };
        let mut body = head.rest;
        while body.len() < head.length {
            if stream.read_buf(&mut body).await? == 0 {
                return Ok(());
            }
        }
        let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
        let lane = path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        let exchange = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let kept = self.journal.body(&body);
        self.journal.push(|at_us| {
            let (path, query) = (path.to_owned(), query.to_owned());
            let (lane, headers) = (Some(lane.clone()), head.headers);
            Line::Request(Request {
                at_us,
                exchange,
                lane,
                method: head.method,
                path,
                query,
                headers,
                body: kept,
            })
        });
        let Reply::Answer { status, headers, body } = self.reply(&lane) else { return Ok(()) };
        let mut text =
            format!("HTTP/1.1 {status} Planned\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in &headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let kept = self.journal.body(body.as_bytes());
        self.journal.push(|at_us| Line::Response(Response { at_us, exchange, status, headers, body: kept }));
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).await?;
        stream.shutdown().await
    }
}

struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    length: usize,
    /// What has come of the body.
    rest: Vec<u8>,
}

/// The head of a request; none when nobody has sent one that can be read.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<Head>> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if read.len() > LONGEST_HEAD || stream.read_buf(&mut read).await? == 0 {
            return Ok(None);
        }
    };
    let rest = read.split_off(end + 4);
    let text = String::from_utf8_lossy(&read).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (Some(method), Some(target)) = (first.next(), first.next()) else { return Ok(None) };
    let mut headers = Vec::new();
    let mut length = 0;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        match name.as_str() {
            "content-length" => length = value.parse().unwrap_or_default(),
            "authorization" => headers.push((name, format!("{} letters", value.len()))),
            "host" | "accept" | "user-agent" | "connection" => {}
            _ => headers.push((name, value.to_owned())),
        }
    }
    Ok((length <= LONGEST_BODY).then_some(Head { method, target, headers, length, rest }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, ClockKind};
    use serde_json::json;

    #[tokio::test]
    async fn each_lane_is_answered_by_its_plan_and_all_of_it_is_on_the_time_line() {
        let journal = Journal::new(Arc::new(Clock::new(ClockKind::Real)));
        let endpoint = Endpoint::start(journal.clone()).await.unwrap();
        endpoint.plan(
            "model",
            vec![Reply::json(503, &json!({"error": "later"})), Reply::HangUp, Reply::json(200, &json!(1))],
        );
        let client = reqwest::Client::new();
        let ask = |lane: &str| client.post(endpoint.url(lane)).bearer_auth("secret").body("{\"a\":1}").send();
        assert_eq!(ask("model").await.unwrap().status(), 503);
        assert!(ask("model").await.is_err(), "it hangs up");
        for _ in 0..2 {
            assert_eq!(ask("model").await.unwrap().text().await.unwrap(), "1", "the last answer stays");
        }
        assert_eq!(ask("other").await.unwrap().text().await.unwrap(), "{}");
        let lines = journal.lines();
        let requests = lines.iter().filter_map(|line| match line {
            Line::Request(request) => Some(request),
            _ => None,
        });
        let requests: Vec<&Request> = requests.collect();
        assert_eq!(requests.len(), 5);
        assert_eq!((requests[4].lane.as_deref(), requests[4].path.as_str()), (Some("other"), "/other"));
        assert_eq!(requests[0].body.json(), Some(json!({"a": 1})));
        assert!(requests[0].headers.contains(&("authorization".to_owned(), "13 letters".to_owned())));
        let answers = lines.iter().filter(|line| matches!(line, Line::Response(_))).count();
        assert_eq!(answers, 4, "nothing is answered by who hangs up");
    }
}
