//! A server of bare hyper as a program of its own, beside which the stand-in is measured: `cargo xtask bench start`,
//! `idle` and `leave`. It is ready, greets who subscribes, and says no more.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use tokio::net::TcpListener;

const GREETING: Bytes = Bytes::from_static(b"data: {\"type\":\"server.connected\"}\n\n");

fn main() -> io::Result<()> {
    tokio::runtime::Runtime::new()?.block_on(serve())
}

async fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("bare server listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let service = service_fn(|_: Request<Incoming>| async { Ok::<_, Infallible>(subscribed()) });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type Frames = std::pin::Pin<Box<dyn stream::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

fn subscribed() -> Response<StreamBody<Frames>> {
    let greeting = stream::once(async { Ok(Frame::data(GREETING)) });
    Response::new(StreamBody::new(Box::pin(greeting.chain(stream::pending())) as Frames))
}
