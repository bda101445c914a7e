//! What a page of another site may do: the headers that its browser asks for. The real servers answer every OPTIONS
//! request by themselves, before they ask for credentials, and name allowed origins on every other answer.

use axum::http::{HeaderMap, HeaderName, header};

/// Which pages may talk to the server.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    /// The sites of the makers: themselves and all below them.
    pub(crate) sites: &'static [&'static str],
    /// Those that whoever started the server has named.
    pub(crate) named: Vec<String>,
}

/// The pages of programs on this machine.
const BEGINNINGS: &[&str] = &["http://localhost:", "http://127.0.0.1:", "oc://renderer"];
const SHELLS: &[&str] = &["tauri://localhost", "http://tauri.localhost", "https://tauri.localhost"];

impl Origins {
    pub(crate) fn allow(&self, origin: &str) -> bool {
        BEGINNINGS.iter().any(|beginning| origin.starts_with(beginning))
            || SHELLS.contains(&origin)
            || self.named.iter().any(|named| named == origin)
            || self.sites.iter().any(|site| is_of_site(origin, site))
    }

    /// The headers of every answer to such a request.
    pub(crate) fn headers(&self, request: &HeaderMap) -> Vec<(HeaderName, String)> {
        match text(request, &header::ORIGIN) {
            None => vec![(header::VARY, "Origin".to_owned())],
            Some(origin) if self.allow(origin) => vec![
                (header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.to_owned()),
                (header::VARY, "Origin".to_owned()),
            ],
            Some(_) => Vec::new(),
        }
    }

    /// The headers of the answer to an OPTIONS request.
    pub(crate) fn preflight(&self, request: &HeaderMap) -> Vec<(HeaderName, String)> {
        let mut headers = self.headers(request);
        let wanted = text(request, &header::ACCESS_CONTROL_REQUEST_HEADERS);
        if wanted.is_some() {
            let vary = headers.pop_if(|(name, _)| *name == header::VARY);
            let origin = vary.map(|_| ", Origin").unwrap_or_default();
            headers.push((header::VARY, format!("Access-Control-Request-Headers{origin}")));
        }
        let methods = "GET, HEAD, PUT, PATCH, POST, DELETE";
        headers.push((header::ACCESS_CONTROL_ALLOW_METHODS, methods.to_owned()));
        headers.push((header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.unwrap_or_default().to_owned()));
        headers.push((header::ACCESS_CONTROL_MAX_AGE, "86400".to_owned()));
        headers
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty())
}

/// `https://` and the site, or names below it.
fn is_of_site(origin: &str, site: &str) -> bool {
    let below = origin.strip_prefix("https://").and_then(|host| host.strip_suffix(site));
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    match below {
        Some("") => true,
        Some(below) => below.strip_suffix('.').is_some_and(|labels| labels.split('.').all(is_label)),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_allowed_as_the_real_servers_allow_them() {
        let origins = Origins { sites: &["kilo.ai"], named: vec!["https://mine.example:8443".to_owned()] };
        for good in [
            "http://localhost:3000",
            "http://127.0.0.1:1",
            "tauri://localhost",
            "https://kilo.ai",
            "https://a.b-1.kilo.ai",
            "https://mine.example:8443",
        ] {
            assert!(origins.allow(good), "{good}");
        }
        for bad in [
            "http://localhost",
            "https://localhost:3000",
            "http://kilo.ai",
            "https://evilkilo.ai",
            "https://.kilo.ai",
            "https://A.kilo.ai",
            "https://kilo.ai.evil.example",
            "https://kilo.ai:8080",
            "https://mine.example",
            "null",
        ] {
            assert!(!origins.allow(bad), "{bad}");
        }
    }

    #[test]
    fn a_preflight_repeats_the_headers_that_it_is_asked_for() {
        let mut request = HeaderMap::new();
        let names = |request: &HeaderMap| {
            let headers = Origins { sites: &[], named: Vec::new() }.preflight(request);
            headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(names(&request));
        request.insert(header::ORIGIN, "https://example.org".parse().unwrap());
        request.insert(header::ACCESS_CONTROL_REQUEST_HEADERS, "a, b".parse().unwrap());
        insta::assert_snapshot!(names(&request));
    }
}
