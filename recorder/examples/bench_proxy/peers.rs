//! A server and a client of a few lines, on threads that block.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Exchanges, and events that come one by one, in a turn.
pub(crate) const ONE_BY_ONE: usize = 600;
/// A long answer, and how many make a turn.
const BODY: usize = 4 * 1024 * 1024;
const BODIES: usize = 12;
/// Events that come as fast as they can, and one of them.
const FLOOD: usize = 40_000;
const EVENT: &str = "data: {\"id\":\"evt_000000000000000000000000\",\"type\":\"message.part.updated\",\"properties\":\
    {\"sessionID\":\"ses_000000000000000000000000\",\"part\":{\"id\":\"prt_000000000000000000000000\",\
    \"messageID\":\"msg_000000000000000000000000\",\"type\":\"text\",\"text\":\"one word after the other\",\
    \"time\":{\"start\":1}}}}\n\n";
const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// When the event that the client waits for was sent.
static SENT: Mutex<Option<Instant>> = Mutex::new(None);
/// Tells the server that the client is ready for the next event.
static READY: OnceLock<(Sender<()>, Mutex<Receiver<()>>)> = OnceLock::new();

fn ready() -> &'static (Sender<()>, Mutex<Receiver<()>>) {
    READY.get_or_init(|| {
        let (sender, receiver) = channel();
        (sender, Mutex::new(receiver))
    })
}

/// Starts the server; gives its port.
pub(crate) fn serve() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            std::thread::spawn(move || answer(socket));
        }
    });
    Ok(port)
}

fn answer(mut socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let small = whole(&format!("{{\"text\":\"{}\"}}", "a ".repeat(400)));
    let body = whole(&format!("{{\"text\":\"{}\"}}", "some words ".repeat(BODY / 11)));
    let event = format!("{:x}\r\n{EVENT}\r\n", EVENT.len());
    loop {
        let head = read_until(&mut socket, HEAD_END)?;
        match &head[..6] {
            b"GET /s" => socket.write_all(&small)?,
            b"GET /b" => socket.write_all(&body)?,
            b"GET /f" => {
                socket.write_all(STREAM)?;
                (0..FLOOD).try_for_each(|_| socket.write_all(event.as_bytes()))?;
                return socket.write_all(b"0\r\n\r\n");
            }
            b"GET /p" => {
                socket.write_all(STREAM)?;
                let wanted = ready().1.lock().unwrap_or_else(PoisonError::into_inner);
                for () in wanted.iter().take(ONE_BY_ONE) {
                    *SENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                    socket.write_all(event.as_bytes())?;
                }
                return Ok(());
            }
            _ => return Ok(()),
        }
    }
}

fn whole(body: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
    [head.as_bytes(), HEAD_END, body.as_bytes()].concat()
}

/// The client's connection.
pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn connect(port: u16) -> io::Result<Self> {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_nodelay(true)?;
        Ok(Self(socket))
    }

    fn ask(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n\r\n");
        self.0.write_all(request.as_bytes())?;
        read_until(&mut self.0, HEAD_END)
    }

    /// One small exchange.
    pub(crate) fn exchange(&mut self) -> io::Result<Duration> {
        let begin = Instant::now();
        let mut read = self.ask("/s")?;
        if !read.ends_with(b"}") {
            read.extend(read_until(&mut self.0, b"}")?);
        }
        Ok(begin.elapsed())
    }

    /// Long answers; bytes in a second.
    pub(crate) fn bodies(&mut self) -> io::Result<f64> {
        let (begin, mut bytes) = (Instant::now(), 0);
        for _ in 0..BODIES {
            let head = self.ask("/b")?;
            let mut last = head.last().copied();
            bytes += head.len();
            let mut room = vec![0; 64 * 1024];
            while last != Some(b'}') {
                let count = self.0.read(&mut room)?;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                bytes += count;
                last = Some(room[count - 1]);
            }
        }
        Ok(bytes as f64 / begin.elapsed().as_secs_f64())
    }

    /// Opens a stream whose events come one by one.
    pub(crate) fn listen(&mut self) -> io::Result<()> {
        self.ask("/p").map(drop)
    }

    /// The next event of it: how long it was on its way.
    pub(crate) fn event(&mut self) -> io::Result<Duration> {
        ready().0.send(()).map_err(io::Error::other)?;
        read_until(&mut self.0, b"\n\n\r\n")?;
        let sent = *SENT.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(sent.map(|sent| sent.elapsed()).unwrap_or_default())
    }

    /// Events as fast as they come; how many in a second.
    pub(crate) fn flood(&mut self) -> io::Result<f64> {
        let begin = Instant::now();
        self.ask("/f")?;
        let mut all = vec![0; 64 * 1024];
        let mut last = Vec::new();
        while !last.ends_with(b"\r\n0\r\n\r\n") {
            let count = self.0.read(&mut all)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            last.extend_from_slice(&all[..count]);
            last.drain(..last.len().saturating_sub(16));
        }
        Ok(FLOOD as f64 / begin.elapsed().as_secs_f64())
    }
}

/// Reads until what was read holds `end`.
fn read_until(socket: &mut TcpStream, end: &[u8]) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    let mut room = [0; 4096];
    loop {
        let count = socket.read(&mut room)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        read.extend_from_slice(&room[..count]);
        if read.windows(end.len()).any(|bytes| bytes == end) {
            return Ok(read);
        }
    }
}
