//! The address of a server on this machine. Nothing here talks to any other one.

use std::fmt;
use std::io;
use std::net::IpAddr;
use tokio::net::TcpStream;

/// A server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loopback {
    host: String,
    port: u16,
}

impl Loopback {
    /// Reads `http://127.0.0.1:4096`; says what is wrong with another address.
    pub fn parse(url: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("{why}; an address such as http://127.0.0.1:4096 is wanted"));
        let Ok(parsed) = reqwest::Url::parse(url) else { return wrong("this is no address") };
        if parsed.scheme() != "http" {
            return wrong("only http:// is spoken on one machine");
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return wrong("a password does not belong into an address, which everybody can read");
        }
        if !matches!(parsed.path(), "" | "/") || parsed.query().is_some() || parsed.fragment().is_some() {
            return wrong("there is something behind the port");
        }
        let host = parsed.host_str().unwrap_or_default().to_owned();
        let is_here = host == "localhost"
            || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        let port = parsed.port_or_known_default().filter(|port| *port > 0);
        match port {
            Some(port) if is_here => Ok(Self { host, port }),
            _ => wrong("this is not on this machine: only loopback addresses are recorded"),
        }
    }

    /// A connection to it, on which nothing waits to be sent together with something else.
    pub(crate) async fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((self.host.trim_matches(['[', ']']), self.port)).await?;
        if !stream.peer_addr()?.ip().is_loopback() {
            return Err(io::Error::other(format!("{self} is not on this machine")));
        }
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl fmt::Display for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_taken() {
        for (url, shown) in [
            ("http://127.0.0.1:4096", "http://127.0.0.1:4096"),
            ("http://localhost:1/", "http://localhost:1"),
            ("http://127.9.9.9", "http://127.9.9.9:80"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(Loopback::parse(url).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn others_are_told_why_not() {
        for (url, why) in [
            ("4096", "this is no address"),
            ("127.0.0.1:4096", "this is no address"),
            ("https://127.0.0.1:4096", "only http://"),
            ("http://example.com", "not on this machine"),
            ("http://10.0.0.1:4096", "not on this machine"),
            ("http://0.0.0.0:4096", "not on this machine"),
            ("http://127.0.0.1:0", "not on this machine"),
            ("http://localhost.evil.example:4096", "not on this machine"),
            ("http://kilo:pw@127.0.0.1:4096", "a password does not belong into an address"),
            ("http://127.0.0.1:4096/api", "something behind the port"),
        ] {
            let said = Loopback::parse(url).unwrap_err();
            assert!(said.contains(why), "{url}: {said}");
        }
    }
}
