//! The harness's end of every server that an adapter starts in a case: it tells each what to do, sees it end, and counts
//! what is left.

use super::door::{hear, say};
use super::{Hello, Later, News, Orders};
use crate::clock::within;
use crate::witness::Witnessed;
use fixtures::fault_plan::{StartAction, StartFault};
use fixtures::scenario::Ending;
use mock_server::{Journal, StandIn};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// How long the system may take to tell that a process has ended which was killed.
const LAST_SIGHS: Duration = Duration::from_secs(1);

/// The desk of a case.
pub(crate) struct Desk {
    address: String,
    state: Arc<State>,
    task: JoinHandle<()>,
}

struct State {
    world: Arc<StandIn>,
    journal: Journal,
    upstream: String,
    starts: Vec<StartFault>,
    seen: Mutex<Seen>,
    /// How many processes live.
    alive: watch::Sender<usize>,
}

#[derive(Default)]
struct Seen {
    /// How many were started, wrappers counted and what is in them not.
    started: u32,
    /// The way to the one that listened last.
    latest: Option<mpsc::UnboundedSender<Later>>,
    passwords: BTreeSet<String>,
    /// Those whose end is not written down yet.
    living: BTreeMap<u64, Process>,
    /// How many there were.
    counted: u64,
}

/// A process that lives, as far as is known.
struct Process {
    number: u32,
    /// A hold of its line, to look whether it is still open.
    line: std::net::TcpStream,
    /// Where it listens.
    port: Option<u16>,
}

impl Seen {
    /// Those who have ended by now, whoever else was heard first: the system closes a line before anybody can see that
    /// its process has ended.
    fn ended(&mut self) -> Vec<Process> {
        let has_ended = |process: &Process| matches!(process.line.peek(&mut [0]), Ok(0));
        self.living.extract_if(.., |_, process| has_ended(process)).map(|(_, process)| process).collect()
    }
}

impl Desk {
    /// Opens it. Behind each door is this lane of the world.
    pub(crate) async fn open(world: Arc<StandIn>, lane: &str, starts: Vec<StartFault>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?.to_string();
        let url = world.lane_url(lane).unwrap_or_default();
        let upstream = url.trim_start_matches("http://").to_owned();
        let journal = world.journal().clone();
        let (alive, _) = watch::channel(0);
        let state = Arc::new(State { world, journal, upstream, starts, seen: Mutex::default(), alive });
        let task = tokio::spawn(serve(listener, state.clone()));
        Ok(Self { address, state, task })
    }

    /// Where it is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The passwords that servers were started with.
    pub(crate) fn passwords(&self) -> BTreeSet<String> {
        self.state.seen().passwords.clone()
    }

    /// Lets the server that listened last crash, and waits until it has.
    pub(crate) async fn crash(&self, limit: Duration) -> bool {
        let latest = self.state.seen().latest.take();
        let Some(latest) = latest else { return false };
        latest.send(Later::Crash).is_ok() && within(limit, latest.closed()).await.is_some()
    }

    /// Counts what is left of all that was started, and writes it into the history.
    pub(crate) async fn count(&self, when: &str) {
        let mut alive = self.state.alive.subscribe();
        // Whoever was killed a moment ago is gone in a moment.
        let _still_alive = within(LAST_SIGHS, alive.wait_for(|count| *count == 0)).await;
        let processes = *self.state.alive.borrow();
        let ports: BTreeSet<u16> =
            self.state.seen().living.values().filter_map(|process| process.port).collect();
        let mut open = 0;
        for port in ports {
            open += usize::from(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok());
        }
        Witnessed::Left { when: when.to_owned(), processes, ports: open }.note(&self.state.journal);
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // The lines end with it, and a door without a line ends itself.
        self.task.abort();
    }
}

impl State {
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those who listened and do so no more have ended, though the end of their line may still be under way on a busy
    /// machine. Found out later, such an end would take the work of the server that comes now.
    async fn see_ended(&self) {
        let places: Vec<(u64, u16)> = {
            let seen = self.seen();
            seen.living.iter().filter_map(|(counted, process)| Some((*counted, process.port?))).collect()
        };
        for (counted, port) in places {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
                self.left(counted);
            }
        }
    }

    /// The end of one, written down once, whoever has seen it first.
    fn left(&self, counted: u64) {
        let process = self.seen().living.remove(&counted);
        if let Some(process) = process {
            self.ends(&process);
        }
    }

    /// The number of a start, what goes wrong with it, and the number of its line.
    fn begins(&self, hello: &Hello, line: std::net::TcpStream) -> (u32, Option<StartAction>, u64) {
        let mut seen = self.seen();
        let ended = seen.ended();
        if !hello.wrapped {
            seen.started += 1;
        }
        let number = seen.started;
        let is_this = |start: &&StartFault| start.nth.is_empty() || start.nth.contains(&number);
        let fault = self.starts.iter().find(is_this).filter(|_| !hello.wrapped);
        let password = hello.password.clone().unwrap_or_default();
        let fresh = !password.is_empty() && (seen.passwords.insert(password.clone()) || hello.wrapped);
        seen.counted += 1;
        let counted = seen.counted;
        seen.living.insert(counted, Process { number, line, port: None });
        drop(seen);
        ended.into_iter().for_each(|process| self.ends(&process));
        self.world.let_in(&password);
        let fault = fault.map(|start| start.action.clone());
        let does = fault.as_ref().map(ToString::to_string);
        let (host, wrapped) = (hello.host.clone(), hello.wrapped);
        Witnessed::Started { number, does, fault: fault.clone(), fresh_password: fresh, host, wrapped }
            .note(&self.journal);
        (number, fault, counted)
    }

    /// It has ended, and what the agent did there with it.
    fn ends(&self, process: &Process) {
        if process.port.is_some() {
            self.world.restart(Ending::Kill);
        }
        Witnessed::Ended { number: process.number }.note(&self.journal);
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut lines = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            arrived = listener.accept() => {
                if let Ok((stream, _)) = arrived {
                    lines.spawn(attend(stream, state.clone()));
                }
            }
            Some(_) = lines.join_next() => {}
        }
    }
}

/// One process, from its first words to its end.
async fn attend(stream: TcpStream, state: Arc<State>) {
    let Ok((stream, line)) = doubled(stream) else { return };
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader).lines();
    let Ok(Some(hello)) = hear::<Hello>(&mut reader).await else { return };
    state.see_ended().await;
    let (number, fault, counted) = state.begins(&hello, line);
    state.alive.send_modify(|count| *count += 1);
    if matches!(fault, Some(StartAction::Exit { .. })) {
        Witnessed::Crashes { number }.note(&state.journal);
    }
    let orders = Orders { upstream: state.upstream.clone(), fault };
    let (latest, mut later) = mpsc::unbounded_channel();
    if say(&mut writer, &orders).await.is_ok() {
        loop {
            tokio::select! {
                news = hear::<News>(&mut reader) => match news {
                    Ok(Some(News::Listens(port))) => {
                        let mut seen = state.seen();
                        if let Some(process) = seen.living.get_mut(&counted) {
                            process.port = Some(port);
                        }
                        seen.latest = Some(latest.clone());
                        drop(seen);
                        Witnessed::Listens { number, port }.note(&state.journal);
                    }
                    Ok(Some(News::Crashes)) => {
                        // Before anybody can see it; the door waits for this word.
                        Witnessed::Crashes { number }.note(&state.journal);
                        let _ = say(&mut writer, &Later::Crash).await;
                    }
                    Ok(None) | Err(_) => break,
                },
                Some(word) = later.recv() => {
                    // One that has ended meanwhile is seen next.
                    let _ = say(&mut writer, &word).await;
                }
            }
        }
    }
    state.left(counted);
    state.alive.send_modify(|count| *count -= 1);
}

/// A line, and a second hold of it to look at it from elsewhere.
fn doubled(stream: TcpStream) -> io::Result<(TcpStream, std::net::TcpStream)> {
    let stream = stream.into_std()?;
    let second = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::witnessed;

    #[tokio::test]
    async fn the_port_of_a_server_that_has_ended_is_none_of_its_any_more() {
        let world = StandIn::kilo().scenario("text/plain").lane("adapter").lenient().start().await.unwrap();
        let world = Arc::new(world);
        let desk = Desk::open(world.clone(), "adapter", Vec::new()).await.unwrap();
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = other.local_addr().unwrap().port();
        let (reader, mut writer) = TcpStream::connect(desk.address()).await.unwrap().into_split();
        say(&mut writer, &Hello { password: None, host: "127.0.0.1".to_owned(), wrapped: false })
            .await
            .unwrap();
        say(&mut writer, &News::Listens(port)).await.unwrap();
        let journal = world.journal();
        let is_told = |is_meant: fn(&Witnessed) -> bool| {
            journal.wait_until(move |lines| witnessed(lines).any(|(_, seen)| is_meant(&seen)))
        };
        is_told(|seen| matches!(seen, Witnessed::Listens { .. })).await;
        drop((reader, writer));
        is_told(|seen| matches!(seen, Witnessed::Ended { .. })).await;
        desk.count("ended").await;
        let left = Witnessed::Left { when: "ended".to_owned(), processes: 0, ports: 0 };
        assert!(witnessed(&journal.lines()).any(|(_, seen)| seen == left), "{:?}", journal.lines());
    }

    #[tokio::test]
    async fn who_listens_no_more_has_ended_before_the_next_one_begins() {
        let world = StandIn::kilo().scenario("text/plain").lane("adapter").lenient().start().await.unwrap();
        let desk = Desk::open(Arc::new(world), "adapter", Vec::new()).await.unwrap();
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let hello = || Hello { password: None, host: "127.0.0.1".to_owned(), wrapped: false };
        // The line of the first stays open, as one whose end is under way.
        let (_first, mut first) = TcpStream::connect(desk.address()).await.unwrap().into_split();
        say(&mut first, &hello()).await.unwrap();
        say(&mut first, &News::Listens(other.local_addr().unwrap().port())).await.unwrap();
        let listens = |lines: &[fixtures::recording::Line]| {
            witnessed(lines).any(|(_, seen)| matches!(seen, Witnessed::Listens { .. }))
        };
        desk.state.journal.wait_until(listens).await;
        drop(other);
        let (_second, mut second) = TcpStream::connect(desk.address()).await.unwrap().into_split();
        say(&mut second, &hello()).await.unwrap();
        let begins = |seen: &Witnessed| matches!(seen, Witnessed::Started { number: 2, .. });
        desk.state.journal.wait_until(|lines| witnessed(lines).any(|(_, seen)| begins(&seen))).await;
        let lines = desk.state.journal.lines();
        let place = |is_it: &dyn Fn(&Witnessed) -> bool| witnessed(&lines).position(|(_, seen)| is_it(&seen));
        let ended = place(&|seen| matches!(seen, Witnessed::Ended { number: 1 }));
        assert!(ended.is_some() && ended < place(&begins), "{lines:?}");
    }

    #[test]
    fn who_has_ended_is_known_before_his_line_is_read_to_its_end() {
        let desk = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut seen = Seen::default();
        let mut processes = Vec::new();
        for number in 1..=3 {
            processes.push(std::net::TcpStream::connect(desk.local_addr().unwrap()).unwrap());
            let (line, _) = desk.accept().unwrap();
            line.set_nonblocking(true).unwrap();
            seen.living.insert(u64::from(number), Process { number, line, port: None });
        }
        assert!(seen.ended().is_empty());
        drop(processes.remove(1));
        assert_eq!(seen.ended().iter().map(|process| process.number).collect::<Vec<_>>(), [2]);
        assert!(seen.ended().is_empty(), "once");
    }
}
