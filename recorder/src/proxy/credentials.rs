//! The passwords in a request. They are kept nowhere, and known so that they are found wherever else they stand.

use super::http::Head;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use percent_encoding::percent_decode_str;

/// What this head proves its sender with.
pub(super) fn in_head(head: &Head) -> Vec<String> {
    let mut secrets = Vec::new();
    for name in ["authorization", "proxy-authorization"] {
        let Some((scheme, token)) = head.header(name).and_then(|value| value.split_once(' ')) else {
            continue;
        };
        if scheme.eq_ignore_ascii_case("basic") {
            secrets.extend(password(token));
        }
        secrets.push(token.trim().to_owned());
    }
    let pairs = head.target().1.split('&').filter_map(|pair| pair.split_once('='));
    for (_, token) in pairs.filter(|(name, _)| *name == "auth_token") {
        let token = percent_decode_str(token).decode_utf8_lossy().into_owned();
        secrets.extend(password(&token));
        secrets.push(token);
    }
    secrets
}

fn password(token: &str) -> Option<String> {
    let credentials = String::from_utf8(BASE64_STANDARD.decode(token.trim()).ok()?).ok()?;
    credentials.split_once(':').map(|(_, password)| password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::http::{Messages, Part};
    use super::*;

    #[test]
    fn passwords_are_found_in_headers_and_in_the_query() {
        let token = BASE64_STANDARD.encode("kilo:a-pass:word");
        let text = format!(
            "GET /event?a=b&auth_token={} HTTP/1.1\r\nAuthorization: bAsIc {token}\r\n\
             Proxy-Authorization: Bearer abcdefgh\r\n\r\n",
            token.replace('=', "%3D")
        );
        let Ok(Some(Part::Head(head))) = Messages::new().next(&mut text.as_bytes()) else {
            panic!("no head")
        };
        assert_eq!(in_head(&head), ["a-pass:word", &token, "abcdefgh", "a-pass:word", &token]);
    }
}
