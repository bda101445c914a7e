//! Goal: what passes through the proxy does not pile up in it. Method: a body of half a gibibyte, and the most memory
//! that this process ever had; it has a process of its own for that.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use recorder::ledger::{MIB, Room};
use recorder::{Loopback, Proxy, Tape};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const ASKS: &[u8] = b"GET /long HTTP/1.1\r\n\r\n";
const BODY: usize = 512 * MIB;
/// What may wait to be read, what is kept of a body, and the rest of the process.
const MOST: usize = 160 * MIB;

/// The most memory so far.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_body_passes_in_bounded_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Loopback::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.read_exact(&mut [0; ASKS.len()]).await.unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {BODY}\r\n\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        let piece = vec![b'a'; MIB];
        for _ in 0..BODY / MIB {
            socket.write_all(&piece).await.unwrap();
        }
    });
    let tape = Tape::new();
    let proxy = Proxy::start(0, server, tape.clone(), Room::default()).await.unwrap();
    let mut socket = TcpStream::connect(proxy.url().trim_start_matches("http://")).await.unwrap();
    socket.write_all(ASKS).await.unwrap();
    let (mut room, mut read) = (vec![0; MIB], 0);
    loop {
        match socket.read(&mut room).await.unwrap() {
            0 => break,
            count => read += count,
        }
    }
    let account = proxy.end().await;
    assert!(read > BODY, "{read}");
    assert_eq!(account.left_out_count, 1);
    assert!(peak() < MOST, "{} MiB", peak() / MIB);
}
