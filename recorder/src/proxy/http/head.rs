//! The head of a message.

use super::{Framing, NoHttp};

/// The first line and the headers of a request or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::proxy) struct Head {
    first: String,
    /// In the order of the wire, names in small letters.
    headers: Vec<(String, String)>,
}

impl Head {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, NoHttp> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default().trim_end().to_owned();
        if !first.split(' ').any(|word| word.starts_with("HTTP/1.")) {
            return Err(NoHttp("no head of HTTP/1"));
        }
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Ok(Self { first, headers })
    }

    /// Of a request: its method.
    pub(in crate::proxy) fn method(&self) -> &str {
        self.first.split(' ').next().unwrap_or_default()
    }

    /// Of a request: path and query. One that was meant for a proxy names the server, too.
    pub(in crate::proxy) fn target(&self) -> (&str, &str) {
        let target = self.first.split(' ').nth(1).unwrap_or_default();
        let target = match target.split_once("://") {
            Some((_, rest)) if !target.starts_with('/') => {
                rest.find(['/', '?']).map_or("/", |at| &rest[at..])
            }
            _ => target,
        };
        target.split_once('?').unwrap_or((target, ""))
    }

    /// Of a response: its status.
    pub(in crate::proxy) fn status(&self) -> Result<u16, NoHttp> {
        let status = self.first.split(' ').nth(1).and_then(|word| word.parse().ok());
        status.ok_or(NoHttp("a response without a status"))
    }

    /// The first header of this name, which is in small letters.
    pub(in crate::proxy) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// All headers.
    pub(in crate::proxy) fn into_headers(self) -> Vec<(String, String)> {
        self.headers
    }

    /// Of a request: how its body is framed.
    pub(in crate::proxy) fn request_framing(&self) -> Framing {
        self.announced().unwrap_or(Framing::Nothing)
    }

    /// Of a response to a request of this method.
    pub(in crate::proxy) fn response_framing(&self, status: u16, method: &str) -> Framing {
        match (status, method) {
            (100..200 | 204 | 304, _) | (_, "HEAD") => Framing::Nothing,
            _ => self.announced().unwrap_or(Framing::UntilClose),
        }
    }

    fn announced(&self) -> Option<Framing> {
        let is_chunked = self.header("transfer-encoding").is_some_and(|coding| {
            coding.rsplit(',').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("chunked"))
        });
        if is_chunked {
            return Some(Framing::Chunked);
        }
        self.header("content-length")?.parse().ok().map(Framing::Length)
    }
}
