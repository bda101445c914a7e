//! Goal: the process that an adapter starts in a case does what the harness tells it, and never outlives the harness. Method:
//! the binary, and a desk that is played here.

use crate::STANDIN;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

/// A door, and the harness's end of its line.
struct Door {
    child: Child,
    line: BufReader<TcpStream>,
    hello: Value,
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Door {
    /// Starts one and gives it its orders.
    fn start(orders: &Value) -> Self {
        let desk = TcpListener::bind("127.0.0.1:0").unwrap();
        let child = Command::new(STANDIN)
            .args(["as", "kilo", "serve", "--port", "-1"])
            .env("STANDIN_DESK", desk.local_addr().unwrap().to_string())
            .env("KILO_SERVER_PASSWORD", "pw")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (line, _) = desk.accept().unwrap();
        let mut door = Self { child, line: BufReader::new(line), hello: Value::Null };
        door.hello = door.hears();
        door.says(orders);
        door
    }

    fn hears(&mut self) -> Value {
        let mut line = String::new();
        self.line.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn says(&mut self, words: &Value) {
        writeln!(self.line.get_mut(), "{words}").unwrap();
    }

    fn ready_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line
    }
}

#[test]
fn what_is_said_to_it_is_said_to_the_world_behind_it_until_the_harness_is_gone() {
    let world = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut door =
        Door::start(&json!({ "upstream": world.local_addr().unwrap().to_string(), "fault": null }));
    assert_eq!(door.hello, json!({ "password": "pw", "host": "127.0.0.1", "wrapped": false }));
    let port = door.hears()["listens"].as_u64().unwrap();
    assert_eq!(door.ready_line(), format!("kilo server listening on http://127.0.0.1:{port}\n"));
    let mut guest = TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
    guest.write_all(b"hello").unwrap();
    let (mut behind, _) = world.accept().unwrap();
    let mut heard = [0; 5];
    behind.read_exact(&mut heard).unwrap();
    behind.write_all(b"world").unwrap();
    let mut answer = [0; 5];
    guest.read_exact(&mut answer).unwrap();
    assert_eq!((&heard, &answer), (b"hello", b"world"));
    door.line.get_mut().shutdown(std::net::Shutdown::Both).unwrap();
    assert!(door.child.wait().unwrap().success(), "nobody is left whom it could serve");
    assert_eq!(guest.read(&mut answer).unwrap_or(0), 0);
}

#[test]
fn it_crashes_when_it_is_told_to_and_says_so_before() {
    let mut door = Door::start(&json!({ "upstream": "127.0.0.1:1", "fault": null }));
    assert!(door.hears()["listens"].is_u64());
    door.says(&json!("crash"));
    assert_eq!(door.hears(), json!("crashes"));
    assert!(door.child.try_wait().unwrap().is_none(), "it waits until it is heard");
    door.says(&json!("crash"));
    assert_eq!(door.child.wait().unwrap().signal(), Some(9));
}

#[test]
fn one_that_never_listens_ends_with_the_harness_too() {
    let mut door = Door::start(&json!({ "upstream": "127.0.0.1:1", "fault": { "ready": "never" } }));
    door.line.get_mut().shutdown(std::net::Shutdown::Both).unwrap();
    assert!(door.child.wait().unwrap().success());
}
