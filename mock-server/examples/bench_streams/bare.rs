//! hyper with nothing around it: the frames stand ready, and go to each subscriber as they are.

use crate::readers::Subscribed;
use crate::until_all_are_full;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// How it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Each frame is written before the next one is looked at.
    OnePerFrame,
    /// What is pending is one chunk, and a chunk is one write.
    Joined,
}

/// A chunk of what is pending is not longer.
const CHUNK_MAX: usize = 64 * 1024;

type Subscribers = Arc<Mutex<Vec<mpsc::UnboundedSender<Bytes>>>>;

/// Sends all frames to so many subscribers; how long it takes until the last one has them. Joined are those that are
/// pending when somebody begins to read.
pub(crate) async fn turn(subscribers: usize, frames: &[Bytes], writes: Writes) -> io::Result<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let place = listener.local_addr()?;
    let all: Subscribers = Arc::default();
    let serving = tokio::spawn(serve(listener, all.clone(), writes));
    let subscribed = Subscribed::to(place, subscribers).await?;
    let mut begun = Instant::now();
    let send = {
        let (all, frames) = (all.clone(), frames.to_vec());
        async move {
            let senders = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
            for frame in frames {
                for sender in &senders {
                    let _ = sender.send(frame.clone());
                }
            }
            senders
        }
    };
    let senders = match writes {
        Writes::OnePerFrame => {
            let readers = subscribed.read();
            let sending = tokio::spawn(send);
            readers.done().await?;
            sending.await.map_err(io::Error::other)?
        }
        Writes::Joined => {
            let senders = send.await;
            until_all_are_full().await;
            begun = Instant::now();
            subscribed.read().done().await?;
            senders
        }
    };
    let took = begun.elapsed();
    serving.abort();
    drop(senders);
    Ok(took)
}

async fn serve(listener: TcpListener, all: Subscribers, writes: Writes) {
    let mut open = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let all = all.clone();
        open.spawn(async move {
            let service = service_fn(move |_: Request<Incoming>| {
                let all = all.clone();
                async move { Ok::<_, Infallible>(subscribe(&all, writes)) }
            });
            let mut builder = http1::Builder::new();
            builder.writev(writes == Writes::OnePerFrame);
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type Chunks = std::pin::Pin<Box<dyn futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

fn subscribe(all: &Subscribers, writes: Writes) -> Response<StreamBody<Chunks>> {
    let (sender, frames) = mpsc::unbounded_channel();
    let _ = sender.send(Bytes::from_static(b"data: {\"type\":\"server.connected\"}\n\n"));
    all.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
    let chunks = stream::unfold(frames, move |mut frames| async move {
        let first = match writes {
            Writes::OnePerFrame => {
                // hyper writes when there is nothing more for the moment.
                tokio::task::yield_now().await;
                frames.recv().await?
            }
            Writes::Joined => {
                let first: Bytes = frames.recv().await?;
                joined(first, &mut frames)
            }
        };
        Some((Ok(Frame::data(first)), frames))
    });
    Response::new(StreamBody::new(Box::pin(chunks) as Chunks))
}

fn joined(first: Bytes, frames: &mut mpsc::UnboundedReceiver<Bytes>) -> Bytes {
    let Ok(second) = frames.try_recv() else { return first };
    let mut chunk = BytesMut::from(first);
    chunk.extend_from_slice(&second);
    while chunk.len() < CHUNK_MAX
        && let Ok(next) = frames.try_recv()
    {
        chunk.extend_from_slice(&next);
    }
    chunk.freeze()
}
