//! Lets the scripted model, which axum serves, reset its connections: each request carries the [`Wire`] of its own.

use crate::http::wire::{Socket, Wire};
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener as AxumListener};
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Accepts connections that can be reset.
#[derive(Debug)]
pub(crate) struct Listener(pub(crate) TcpListener);

impl AxumListener for Listener {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        let (stream, address) = AxumListener::accept(&mut self.0).await;
        (Socket::of(stream), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Listener>> for Wire {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.io().wire()
    }
}
