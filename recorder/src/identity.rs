//! What a running server says about itself to whoever comes along.

use crate::capture::{CaptureError, Client, Credentials, Method, Reply};
use crate::clock;
use crate::loopback::Loopback;
use crate::tape::Tape;
use fixtures::ServerKind;
use serde_json::Value;
use std::time::Duration;

/// So long a server may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(10);
const UNAUTHORIZED: u16 = 401;

/// A server, as it says it is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Which one; from the title of its `/doc`.
    pub server: Option<ServerKind>,
    /// Its release.
    pub version: Option<String>,
    /// Its `/doc`, as it sends it.
    pub doc: Option<Vec<u8>>,
    /// With what it could be asked.
    pub credentials: Credentials,
}

/// Why a server did not say who it is.
#[derive(Debug, thiserror::Error)]
pub enum Unidentified {
    /// Nobody is there.
    #[error("{0} can't be reached: {1}")]
    Unreached(Loopback, std::io::Error),
    /// It wants another password.
    #[error("{0} wants a password, or another one than it was given")]
    Unauthorized(Loopback),
    /// It said nothing in time.
    #[error("{0} does not answer GET /global/health")]
    Silent(Loopback),
    /// It could not be asked.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Asks a server who it is, with the first of these credentials that it takes. What it starts by being asked is
/// nothing: `/global/health` and `/doc` belong to no directory.
pub async fn ask(server: &Loopback, credentials: &[Credentials]) -> Result<Identity, Unidentified> {
    let reached = server.connect().await;
    reached.map_err(|error| Unidentified::Unreached(server.clone(), error))?;
    let asked = clock::within(PATIENCE, with_first(server, credentials)).await;
    asked.unwrap_or_else(|| Err(Unidentified::Silent(server.clone())))
}

async fn with_first(server: &Loopback, credentials: &[Credentials]) -> Result<Identity, Unidentified> {
    for credentials in credentials {
        let client = Client::new(&server.to_string(), credentials.clone(), Tape::new())?;
        let health = client.exchange_apart(Method::GET, "/global/health", "").await?;
        if health.status == UNAUTHORIZED {
            continue;
        }
        let doc = client.exchange_apart(Method::GET, "/doc", "").await.ok().filter(Reply::is_success);
        let title = doc.as_ref().and_then(Reply::json).and_then(|doc| text(doc.pointer("/info/title")));
        return Ok(Identity {
            server: title.and_then(|title| title.to_ascii_lowercase().parse().ok()),
            version: health.json().and_then(|health| text(health.get("version"))),
            doc: doc.map(|doc| doc.bytes.to_vec()),
            credentials: credentials.clone(),
        });
    }
    Err(Unidentified::Unauthorized(server.clone()))
}

/// The folder in which the server was started, if it says so. Being asked that, it begins to work in it.
pub(crate) async fn folder(client: &Client) -> Option<String> {
    let path = client.exchange_apart(Method::GET, "/path", "").await.ok()?;
    text(path.json()?.get("directory"))
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}
