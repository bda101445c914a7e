//! Goal: whoever listens hears all, over every end of a stream, until the server is gone. Method: a server of a few
//! lines that ends its streams, and then itself.

use super::*;
use crate::testing::fake_server::{Asked, Out, chunk, serve, stream_head, whole};
use fixtures::recording::Line;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;

fn credentials() -> Credentials {
    Credentials { user: "kilo".into(), password: "password-12".into() }
}

fn told(tape: &Tape) -> Vec<String> {
    let line = |line: &Line| match line {
        Line::Request(it) => it.path.clone(),
        Line::Response(it) => it.status.to_string(),
        Line::Chunk(it) => it.text.clone().unwrap(),
        Line::End(it) => format!("{:?}", it.how),
        Line::Note(it) => it.text.clone(),
        other => panic!("{other:?}"),
    };
    tape.lines().iter().map(line).collect()
}

#[tokio::test]
async fn a_stream_that_ends_is_opened_again_and_the_end_ends_all() {
    let (heard, all_heard) = oneshot::channel();
    let heard = std::sync::Mutex::new(Some(heard));
    let openings = Arc::new(AtomicU64::new(0));
    let outs = std::sync::Mutex::new(Vec::<Out>::new());
    let url = serve(move |asked: Asked, out: Out| {
        out.send(stream_head()).unwrap();
        out.send(chunk("data: 1\n\n")).unwrap();
        if asked.line == "GET /event" && openings.fetch_add(1, Ordering::Relaxed) == 0 {
            out.send(chunk("")).unwrap();
            return;
        }
        let mut outs = outs.lock().unwrap();
        outs.push(out);
        if outs.len() == 2 {
            heard.lock().unwrap().take().unwrap().send(()).unwrap();
        }
    })
    .await;
    let tape = Tape::new();
    let server = Loopback::parse(&url).unwrap();
    let attached = Attached::new(server, credentials(), tape.clone(), Room::default()).unwrap();
    let all_read = async {
        all_heard.await.unwrap();
        clock::until(|| told(&tape).iter().filter(|line| *line == "data: 1\n\n").count() == 3).await;
    };
    let account = attached.listen(all_read).await.unwrap();
    let told = told(&tape);
    assert!(
        told.contains(&"the stream /event ended (ClosedByServer) and is opened again".to_owned()),
        "{told:?}"
    );
    assert_eq!(told.iter().filter(|line| *line == "ClosedByClient").count(), 2);
    assert_eq!((account.requests, account.streams, account.events), (3, 3, 3));
}

#[tokio::test]
async fn what_is_no_stream_is_an_error() {
    let url = serve(|_, out| out.send(whole(401, "{}")).unwrap()).await;
    let server = Loopback::parse(&url).unwrap();
    let attached = Attached::new(server, credentials(), Tape::new(), Room::default()).unwrap();
    let error = attached.listen(std::future::pending()).await.unwrap_err().to_string();
    assert!(error.ends_with("answered 401, not a stream of events"), "{error}");
}
