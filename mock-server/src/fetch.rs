//! Gets pages for the agent, from this machine only. (Servers of tools are asked in `addresses`.)

use crate::world::{Page, PageWish};
use std::net::IpAddr;
use std::time::Duration;

/// What a page's server is told of who asks.
const AGENT: &str = concat!("standin/", env!("CARGO_PKG_VERSION"));
/// More than that is not taken.
pub(crate) const BYTES_MAX: usize = 5 * 1024 * 1024;

/// Nobody is followed further.
const REDIRECTS: usize = 127;

/// Gets a page; what fails is told in the servers' words.
pub(crate) async fn fetch(wish: PageWish) -> Result<Page, String> {
    let unreachable = || format!("Transport error (GET {})", wish.url);
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(stays_here())
        .user_agent(AGENT)
        .timeout(Duration::from_millis(wish.timeout_ms))
        .build()
        .map_err(|_| unreachable())?;
    let url = reqwest::Url::parse(&wish.url).map_err(|_| format!("InvalidUrl error (GET {})", wish.url))?;
    // As if there were no network.
    if !is_here(&url) {
        return Err(unreachable());
    }
    let failed = |error: reqwest::Error| {
        if error.is_timeout() { "Request timed out".to_owned() } else { unreachable() }
    };
    let asked = client.get(url).header("accept", wish.accept);
    let asked = match &wish.bearer {
        Some(bearer) => asked.bearer_auth(bearer),
        None => asked,
    };
    let answer = asked.send().await.map_err(failed)?;
    if !answer.status().is_success() {
        let status = answer.status().as_u16();
        return Err(format!("StatusCode: non 2xx status code ({status} GET {})", wish.url));
    }
    let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().to_owned();
    let bytes = answer.bytes().await.map_err(failed)?;
    if bytes.len() > wish.bytes_max {
        return Err("Response too large (exceeds 5MB limit)".to_owned());
    }
    Ok(Page { kind, bytes: bytes.to_vec() })
}

/// Who is sent elsewhere goes there only if that is on this machine.
pub(crate) fn stays_here() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| match attempt.previous().len() {
        REDIRECTS.. => attempt.error("too many redirects"),
        _ if is_here(attempt.url()) => attempt.follow(),
        _ => attempt.stop(),
    })
}

/// Is this an address of this machine?
pub(crate) fn is_here(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn wish(url: String) -> PageWish {
        PageWish { url, accept: "*/*", timeout_ms: 60_000, bearer: None, bytes_max: 1024 }
    }

    #[tokio::test]
    async fn only_pages_of_this_machine_are_got() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/a", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            for reply in [
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
                "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                "HTTP/1.1 302 Found\r\nlocation: http://standin.invalid/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            ] {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut request = [0; 2048];
                assert!(socket.read(&mut request).await.unwrap() > 0);
                socket.write_all(reply.as_bytes()).await.unwrap();
            }
        });
        let page = Page { kind: "text/plain".into(), bytes: b"hello".to_vec() };
        assert_eq!(fetch(wish(url.clone())).await, Ok(page));
        let told = |status| Err(format!("StatusCode: non 2xx status code ({status} GET {url})"));
        assert_eq!(fetch(wish(url.clone())).await, told(404));
        assert_eq!(fetch(wish(url.clone())).await, told(302));
        server.await.unwrap();
        for elsewhere in ["http://standin.invalid/", "https://192.0.2.1/", &url] {
            let error = fetch(wish(elsewhere.to_owned())).await.unwrap_err();
            assert_eq!(error, format!("Transport error (GET {elsewhere})"));
        }
    }
}
