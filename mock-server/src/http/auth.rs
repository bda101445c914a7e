//! Who may ask: Basic credentials as the real servers have them, and a Host header of this machine.

use axum::http::{HeaderMap, header};
use fixtures::ServerKind;
use std::sync::{Arc, PoisonError, RwLock};

use base64::prelude::{BASE64_STANDARD, Engine as _};

/// Who may ask.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) username: String,
    /// Without one the server is open, as the real ones are. A fault can change it.
    pub(crate) password: Arc<RwLock<Option<String>>>,
    /// Another one that opens it, too.
    pub(crate) guest: Arc<RwLock<Option<String>>>,
    /// Pages of other sites that may, too.
    pub(crate) origins: Vec<String>,
    /// What is done for nobody who has no password to show, even where none is wanted otherwise.
    pub(crate) guarded: &'static [&'static str],
}

/// The paths that Kilo guards so.
const GUARDED_BY_KILO: &[&str] =
    &["/permission/allow-everything", "/kilocode/snapshot/remove", "/kilocode/worktree/teardown"];

pub(crate) fn guarded_by(server: ServerKind) -> &'static [&'static str] {
    if server == ServerKind::Kilo { GUARDED_BY_KILO } else { &[] }
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Unauthorized,
    ForeignHost,
}

/// A page of another site can make a browser send requests here; its name for this machine gives it away.
const LOOPBACK_NAMES: &[&str] = &["127.0.0.1", "localhost", "[::1]", "0.0.0.0"];

/// `None` when the request may pass.
pub(crate) fn check(access: &Access, headers: &HeaderMap, path: &str, query: &str) -> Option<Refusal> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1");
    let name = host.rsplit_once(':').filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    if !LOOPBACK_NAMES.iter().any(|loopback| loopback.eq_ignore_ascii_case(name)) {
        return Some(Refusal::ForeignHost);
    }
    let password = access.password.read().unwrap_or_else(PoisonError::into_inner);
    let Some(password) = password.as_ref() else {
        return access.guarded.contains(&path).then_some(Refusal::Unauthorized);
    };
    let guest = access.guest.read().unwrap_or_else(PoisonError::into_inner);
    let is_known = |given: &str| {
        let word = given.strip_prefix(access.username.as_str()).and_then(|given| given.strip_prefix(':'));
        word.is_some_and(|word| word == password || Some(word) == guest.as_deref())
    };
    let from_query = super::decode_query(query).into_iter().find(|(key, _)| key == "auth_token");
    let given = match from_query {
        Some((_, token)) => decode(&token),
        // Of several the last one counts.
        None => headers
            .get_all(header::AUTHORIZATION)
            .iter()
            .next_back()
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))
            .and_then(|(_, token)| decode(token)),
    };
    (!given.as_deref().is_some_and(is_known)).then_some(Refusal::Unauthorized)
}

/// A ticket is looked at where it is handed in, so whoever brings one to the door of a terminal needs no password.
pub(crate) fn brings_ticket(path: &str, query: &str) -> bool {
    let inside = path.strip_prefix("/api").unwrap_or(path).strip_prefix("/pty/");
    let id = inside.and_then(|inside| inside.strip_suffix("/connect"));
    let is_door = id.is_some_and(|id| !id.is_empty() && !id.contains('/'));
    is_door && super::decode_query(query).iter().any(|(key, ticket)| key == "ticket" && !ticket.is_empty())
}

fn decode(token: &str) -> Option<String> {
    String::from_utf8(BASE64_STANDARD.decode(token.trim()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access {
            username: "kilo".into(),
            password: Arc::new(RwLock::new(Some("pw".into()))),
            guest: Arc::default(),
            origins: Vec::new(),
            guarded: &[],
        }
    }

    fn refused(authorization: &str, host: &str, query: &str) -> Option<Refusal> {
        let access = access();
        let mut headers = HeaderMap::new();
        if !authorization.is_empty() {
            headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
        }
        headers.insert(header::HOST, host.parse().unwrap());
        check(&access, &headers, "/", query)
    }

    #[test]
    fn credentials_are_checked_as_the_real_servers_check_them() {
        let good = BASE64_STANDARD.encode("kilo:pw");
        let host = "127.0.0.1:4096";
        assert_eq!(refused(&format!("Basic {good}"), host, ""), None);
        assert_eq!(refused(&format!("bAsIc {good}"), host, ""), None, "the scheme has no case");
        assert_eq!(refused("", host, &format!("auth_token={good}")), None);
        assert_eq!(refused("Basic bm8=", host, &format!("auth_token={good}")), None, "the token wins");
        for wrong in ["", "Basic", "Basic bm8=", "Bearer pw", &BASE64_STANDARD.encode("Kilo:pw")] {
            assert_eq!(refused(wrong, host, ""), Some(Refusal::Unauthorized), "{wrong}");
        }
    }

    #[test]
    fn of_several_credentials_the_last_ones_count() {
        let access = access();
        let good = format!("Basic {}", BASE64_STANDARD.encode("kilo:pw"));
        for (given, refusal) in
            [([&good, "Bearer x"], Some(Refusal::Unauthorized)), (["Bearer x", &good], None)]
        {
            let mut headers = HeaderMap::new();
            for one in given {
                headers.append(header::AUTHORIZATION, one.parse().unwrap());
            }
            assert_eq!(check(&access, &headers, "/", ""), refusal, "{given:?}");
        }
    }

    #[test]
    fn a_ticket_is_no_password_but_at_the_door_of_a_terminal() {
        for path in ["/pty/pty_nosuch/connect", "/api/pty/abc/connect"] {
            assert!(brings_ticket(path, "ticket=abc"), "{path}");
            assert!(!brings_ticket(path, "ticket="), "{path}: it is empty");
            assert!(!brings_ticket(path, ""), "{path}: there is none");
        }
        for path in ["/pty/pty_nosuch", "/pty//connect", "/pty/a/b/connect", "/session", "/pty/connect"] {
            assert!(!brings_ticket(path, "ticket=abc"), "{path}");
        }
    }

    #[test]
    fn another_sites_name_for_this_machine_is_refused() {
        let good = format!("Basic {}", BASE64_STANDARD.encode("kilo:pw"));
        for host in ["localhost", "LOCALHOST:80", "[::1]:80", "127.0.0.1"] {
            assert_eq!(refused(&good, host, ""), None, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example"] {
            assert_eq!(refused(&good, host, ""), Some(Refusal::ForeignHost), "{host}");
        }
    }
}
