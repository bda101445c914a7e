//! Somebody who looks at a screen over a WebSocket: sees what is kept, then where that ends, then what comes, and types.

use super::{Hand, Screen, State};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use sha1::{Digest as _, Sha1};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message};

/// What a server adds to a client's key, by RFC 6455.
const TO_THE_KEY: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// How a guest is told that the program has ended before.
const ENDED_BEFORE: u16 = 4404;

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    /// None when its program has ended.
    screen: Option<Arc<Screen>>,
    /// From where on it wants to see what there is; nothing of it when absent.
    place: Option<u64>,
}

/// The answer to a client's key.
pub(crate) fn accepted(key: &str) -> String {
    BASE64_STANDARD.encode(Sha1::digest(format!("{}{TO_THE_KEY}", key.trim())))
}

impl Guest {
    /// Looks at this screen; `cursor` is the query's word for where it begins.
    pub(crate) fn of(screen: Option<Arc<Screen>>, cursor: Option<&str>) -> Self {
        let place = match cursor.map(str::trim).and_then(|word| word.parse::<i64>().ok()) {
            Some(-1) => None,
            place => Some(place.and_then(|place| u64::try_from(place).ok()).unwrap_or_default()),
        };
        Self { screen, place }
    }

    /// Looks until it leaves, or there is nothing more to be seen.
    pub(crate) async fn looks<Wire: AsyncRead + AsyncWrite + Unpin>(self, wire: Wire) {
        let mut socket = WebSocketStream::from_raw_socket(wire, Role::Server, None).await;
        let farewell = match &self.screen {
            None => Some(CloseFrame { code: ENDED_BEFORE.into(), reason: "session exited".into() }),
            Some(screen) => match watch(&mut socket, screen, self.place).await {
                Ok(true) => Some(CloseFrame { code: CloseCode::Normal, reason: "".into() }),
                Ok(false) | Err(_) => None,
            },
        };
        if farewell.is_some() {
            // Who has left meanwhile needs no goodbye, and nobody waits for its own.
            socket.close(farewell).await.ok();
        }
    }
}

/// Shows a screen; true when its program has ended, false when whoever looks has left.
async fn watch<Wire: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<Wire>,
    screen: &Screen,
    place: Option<u64>,
) -> Result<bool, Error> {
    let mut state = screen.state.subscribe();
    let now = state.borrow_and_update().end;
    let mut seen = show(socket, screen, place.unwrap_or(now)).await?;
    socket.send(Message::Binary(format!("\0{{\"cursor\":{seen}}}").into_bytes().into())).await?;
    loop {
        tokio::select! {
            state = next(&mut state, seen) => {
                seen = show(socket, screen, seen).await?;
                if state.is_over {
                    return Ok(true);
                }
            }
            heard = socket.next() => match heard.transpose()? {
                Some(Message::Text(text)) => screen.touch(Hand::Types(text.as_bytes().to_vec())),
                Some(Message::Binary(bytes)) => screen.touch(Hand::Types(bytes.to_vec())),
                Some(_) => {}
                None => return Ok(false),
            },
        }
    }
}

/// Waits until there is more to be seen, or nothing will come any more.
async fn next(state: &mut watch::Receiver<State>, seen: u64) -> State {
    let more = state.wait_for(|state| state.end > seen || state.is_over).await.map(|state| *state);
    more.unwrap_or(State { end: seen, is_over: true })
}

async fn show<Wire: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<Wire>,
    screen: &Screen,
    place: u64,
) -> Result<u64, Error> {
    let (pieces, end) = screen.from(place);
    for piece in pieces {
        socket.feed(Message::Text(piece.into())).await?;
    }
    socket.flush().await?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_answered_as_the_standard_has_it() {
        assert_eq!(accepted("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn what_is_no_place_is_the_beginning() {
        let place = |cursor| Guest::of(None, cursor).place;
        assert_eq!(place(None), Some(0));
        assert_eq!(place(Some("-1")), None);
        assert_eq!(place(Some("5")), Some(5));
        for odd in ["x", "-7", "1.5", ""] {
            assert_eq!(place(Some(odd)), Some(0), "{odd}");
        }
    }
}
