//! Compressed answers, for whoever takes them: which answers, and in which way, is as the real servers have it.

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::{self, Write};

/// Shorter bodies go as they are.
const LEAST_BYTES: usize = 1024;
/// Longer bodies take a while.
const LONG_BYTES: usize = 256 * 1024;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
}

impl Coding {
    /// The first of the two that is named anywhere; weights are not looked at.
    pub(crate) fn wanted(headers: &HeaderMap) -> Option<Self> {
        let accepted = headers.get(header::ACCEPT_ENCODING)?.to_str().ok()?.to_ascii_lowercase();
        match () {
            () if accepted.contains("gzip") => Some(Self::Gzip),
            () if accepted.contains("deflate") => Some(Self::Deflate),
            () => None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }

    /// None when it can't be done.
    pub(crate) async fn encode(self, body: &Bytes) -> Option<Bytes> {
        if body.len() < LONG_BYTES {
            return self.encoded(body).ok();
        }
        // A long one holds nobody else up.
        let body = body.clone();
        tokio::task::spawn_blocking(move || self.encoded(&body).ok()).await.ok().flatten()
    }

    fn encoded(self, body: &[u8]) -> io::Result<Bytes> {
        let level = Compression::default();
        let written = match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(body)?;
                encoder.finish()?
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(body)?;
                encoder.finish()?
            }
        };
        Ok(Bytes::from(written))
    }
}

/// Is the answer to this request one that is compressed? Answers that wait for the agent never are, nor is the web page.
pub(crate) fn is_for(method: &str, path: &str, content_type: Option<&str>, length: usize) -> bool {
    let waits = method == "POST"
        && matches!(
            path.trim_matches('/').split('/').collect::<Vec<_>>()[..],
            ["session", _, "message" | "prompt_async"]
        );
    method != "HEAD" && length >= LEAST_BYTES && !waits && content_type == Some("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn wanted(accepted: &str) -> Option<Coding> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, accepted.parse().unwrap());
        Coding::wanted(&headers)
    }

    #[test]
    fn names_are_looked_for_and_weights_are_not() {
        for gzip in ["gzip", "GZIP", "x-gzip", "deflate, gzip", "gzip;q=0", "gzip, deflate, br, zstd"] {
            assert_eq!(wanted(gzip), Some(Coding::Gzip), "{gzip}");
        }
        assert_eq!(wanted("br, deflate"), Some(Coding::Deflate));
        for none in ["br", "zstd", "identity", "*", ""] {
            assert_eq!(wanted(none), None, "{none}");
        }
        assert_eq!(Coding::wanted(&HeaderMap::new()), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let body = "a body of some length, ".repeat(100);
        let mut read = String::new();
        let gzip = Coding::Gzip.encoded(body.as_bytes()).unwrap();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut read).unwrap();
        assert_eq!(read, body);
        read.clear();
        let deflate = Coding::Deflate.encoded(body.as_bytes()).unwrap();
        flate2::read::ZlibDecoder::new(&deflate[..]).read_to_string(&mut read).unwrap();
        assert_eq!(read, body);
        assert!(gzip.len() < body.len() && deflate.len() < body.len());
    }

    #[test]
    fn short_answers_and_those_that_wait_for_the_agent_go_as_they_are() {
        let json = Some("application/json");
        assert!(is_for("GET", "/session", json, 1024));
        assert!(is_for("POST", "/session", json, 1024));
        assert!(is_for("GET", "/session/ses_1/message", json, 1024));
        assert!(!is_for("GET", "/session", json, 1023));
        assert!(!is_for("POST", "/session/ses_1/message", json, 9000));
        assert!(!is_for("GET", "/nowhere", Some("text/html"), 9000));
        assert!(!is_for("GET", "/session/ses_1", None, 9000));
    }
}
