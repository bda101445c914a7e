//! Shows a scenario's pages on a port of its own, to the agents of whoever performs it.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use fixtures::scenario::ShownPage;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Shows pages on a loopback port until it is dropped.
pub(crate) struct PageServer {
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl PageServer {
    /// Starts listening, if there is anything to show.
    pub(crate) async fn start(pages: &BTreeMap<String, ShownPage>) -> std::io::Result<Option<Self>> {
        if pages.is_empty() {
            return Ok(None);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let app = Router::new().fallback(show).with_state(Arc::new(pages.clone()));
        let task = tokio::spawn(async move {
            // Serving ends with the task; an accept error has nobody to be told to.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Some(Self { address, task }))
    }

    /// The address, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn show(State(pages): State<Arc<BTreeMap<String, ShownPage>>>, uri: Uri) -> Response {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let Some(page) = pages.get(target) else { return StatusCode::NOT_FOUND.into_response() };
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::OK);
    let mut response = (status, Bytes::from(page.body.repeat(page.times))).into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    let kind = Some(("content-type", page.r#type.as_str())).filter(|(_, kind)| !kind.is_empty());
    let further = page.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in kind.into_iter().chain(further) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    response
}
