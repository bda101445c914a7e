//! How the design writes its messages: over many lines, as people read them. Whoever says them byte for byte is understood in
//! its dialect; everywhere else a message is a line.

use super::Dialect;
use serde_json::Value;

/// More than this is no message of the design's.
const LONGEST: usize = 64 * 1024;

/// What has come of a message that is not whole yet.
#[derive(Debug)]
pub(in crate::acp) struct Written {
    is_in_lines: bool,
    begun: Vec<u8>,
}

impl Written {
    pub(in crate::acp) fn of(dialect: Dialect) -> Self {
        Self { is_in_lines: dialect == Dialect::KiroSeed, begun: Vec::new() }
    }

    /// The message that is whole with this line; a line that is a message by itself is one, whatever was begun before.
    pub(in crate::acp) fn whole(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if !self.is_in_lines || (self.begun.is_empty() && !line.trim_ascii_start().starts_with(b"{")) {
            return Some(line);
        }
        if serde_json::from_slice::<Value>(&line).is_ok_and(|message| message.get("jsonrpc").is_some()) {
            self.begun.clear();
            return Some(line);
        }
        self.begun.extend(line);
        let is_unfinished =
            |read: &Result<Value, serde_json::Error>| read.as_ref().is_err_and(serde_json::Error::is_eof);
        match is_unfinished(&serde_json::from_slice(&self.begun)) && self.begun.len() <= LONGEST {
            true => None,
            false => Some(std::mem::take(&mut self.begun)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_may_stand_on_many_lines_in_the_words_of_the_design_alone() {
        let message = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n\n  \"params\": {\n  }\n}\n";
        let said = |dialect: Dialect, text: &str| {
            let mut written = Written::of(dialect);
            let lines = text.split_inclusive('\n').map(|line| line.as_bytes().to_vec());
            lines.filter_map(|line| written.whole(line)).collect::<Vec<_>>()
        };
        assert_eq!(said(Dialect::KiroSeed, message), [message.as_bytes()]);
        assert_eq!(said(Dialect::AcpV1, message).len(), 7);
        let one = "{\"jsonrpc\":\"2.0\",\"id\":2}\n";
        assert_eq!(
            said(Dialect::KiroSeed, &format!("{{\"begun\":\n{one}{one}")),
            [one.as_bytes(), one.as_bytes()]
        );
        assert_eq!(said(Dialect::KiroSeed, "hello?\n42\n"), [&b"hello?\n"[..], b"42\n"]);
        assert_eq!(said(Dialect::KiroSeed, "{no json}\n"), [b"{no json}\n"]);
    }
}
