//! The event streams that are open, by their numbers. Who is heard next is the one behind the one heard last: no luck is
//! in it, so that the same run twice is the same.

use super::io::Input;
use futures_util::Stream;
use futures_util::stream::BoxStream;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Streams of inputs.
#[derive(Default)]
pub(super) struct Streams {
    open: BTreeMap<u64, BoxStream<'static, Input>>,
    heard_last: u64,
}

impl Streams {
    pub(super) fn insert(&mut self, number: u64, stream: BoxStream<'static, Input>) {
        self.open.insert(number, stream);
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl Stream for Streams {
    type Item = Input;

    /// One that has ended yields nothing more, and stays until it is removed.
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Input>> {
        let last = self.heard_last;
        let behind: Vec<u64> = self.open.range(last + 1..).map(|(number, _)| *number).collect();
        let before: Vec<u64> = self.open.range(..=last).map(|(number, _)| *number).collect();
        for number in behind.into_iter().chain(before) {
            let Some(stream) = self.open.get_mut(&number) else { continue };
            if let Poll::Ready(Some(input)) = stream.as_mut().poll_next(context) {
                self.heard_last = number;
                return Poll::Ready(Some(input));
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{StreamExt as _, stream};

    #[tokio::test]
    async fn they_are_heard_in_turns() {
        let mut streams = Streams::default();
        for number in 1..=3 {
            let alive = stream::iter((0..2).map(move |_| Input::StreamAlive { stream: number }));
            streams.insert(number, alive.chain(stream::pending()).boxed());
        }
        let mut heard = Vec::new();
        for _ in 0..6 {
            if let Some(Input::StreamAlive { stream }) = streams.next().await {
                heard.push(stream);
            }
        }
        assert_eq!(heard, [1, 2, 3, 1, 2, 3]);
    }
}
