//! What an adapter's line says, and how long it is waited for.

use super::*;
use std::task::Poll;

fn link(adapter: tokio::io::DuplexStream) -> Link {
    let (reader, writer) = tokio::io::split(adapter);
    let clock = mock_server::clock::Clock::new(mock_server::clock::ClockKind::Real);
    Link::new(Journal::new(Arc::new(clock)), tokio::io::BufReader::new(reader), writer, of_the_chat())
}

#[tokio::test(start_paused = true)]
async fn sending_and_waiting_have_one_limit_together() {
    use tokio::io::AsyncReadExt as _;
    let (ours, mut theirs) = tokio::io::duplex(16);
    let mut link = link(ours);
    let limit = Duration::from_secs(10);
    let late = async {
        crate::clock::pause(Duration::from_secs(9)).await;
        theirs.read_exact(&mut [0; 40]).await.unwrap();
        std::future::pending::<()>().await;
    };
    // It reads late, and never answers.
    let asked = async { link.call("a/method", json!({}), limit).await.unwrap_err() };
    let asked = within(Duration::from_secs(11), async {
        tokio::select! { () = late => unreachable!("it waits for ever"), error = asked => error }
    });
    assert!(matches!(asked.await, Some(AskError::Silent { .. })));
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_an_adapter_that_does_not_read_is_heard() {
    let (ours, mut theirs) = tokio::io::duplex(64);
    let mut link = link(ours);
    theirs.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}\n").await.unwrap();
    let params = json!({"long": "a".repeat(100)});
    assert_eq!(link.call("a/method", params, Duration::from_secs(1)).await.unwrap(), 7);
}

#[tokio::test]
async fn the_last_words_of_an_adapter_that_ends_between_two_looks_are_heard() {
    let mut looks = 0;
    let answer = std::future::poll_fn(|_| {
        looks += 1;
        if looks == 1 { Poll::Pending } else { Poll::Ready("bye") }
    });
    assert_eq!(before_gone(answer, std::future::ready(ENDED.to_owned())).await, Ok("bye"));
    let silence = std::future::pending::<()>();
    assert_eq!(before_gone(silence, std::future::ready(ENDED.to_owned())).await, Err(ENDED.to_owned()));
}
