//! Who called with what. Of a token only this is kept: whether it was the right one.

use serde::Serialize;

/// Which door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The cloud itself.
    Cloud,
    /// The other origin, to which a redirect leads.
    Elsewhere,
}

impl Place {
    /// The word for it, which is also the lane of its exchanges.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cloud => "cloud",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// What a call had to say for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bearer {
    /// The right token.
    Right,
    /// Another one.
    Wrong,
    /// No `Authorization`.
    Missing,
    /// An `Authorization` that is no bearer.
    Other,
}

impl Bearer {
    /// What stands in the header `Authorization`.
    #[must_use]
    pub fn of(header: Option<&[u8]>, token: &str) -> Self {
        let Some(header) = header else { return Self::Missing };
        let (scheme, rest) = header.split_at(header.len().min(7));
        match scheme.eq_ignore_ascii_case(b"Bearer ") {
            true if rest == token.as_bytes() => Self::Right,
            true => Self::Wrong,
            false => Self::Other,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Missing => "missing",
            Self::Other => "other",
        }
    }
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Call {
    /// Which one, from 1.
    pub number: u64,
    /// Where it came in.
    pub place: Place,
    /// `GET`, …
    pub method: String,
    /// The path, as sent.
    pub path: String,
    /// What it had to say for itself.
    pub bearer: Bearer,
    /// Does the token stand anywhere else in it: in the address, a cookie, another header?
    pub beside: bool,
    /// Does it say that it speaks JSON, in `Accept` or `Content-Type`?
    pub says_json: bool,
    /// How it was answered, in the words of [`super::Answer`]; or with which status, when it was not to be answered.
    pub answer: String,
    /// How it ended; none while it goes on.
    pub end: Option<CallEnd>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CallEnd {
    /// Milliseconds after it came.
    pub after_ms: u64,
    /// Did the client leave before it had everything?
    pub left: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_told_by_four_words() {
        let of = |header: &[u8]| Bearer::of(Some(header), "t0ken").word();
        assert_eq!(of(b"Bearer t0ken"), "right");
        assert_eq!(of(b"bearer t0ken"), "right");
        assert_eq!(
            ["Bearer t0ken ", "Bearer ", "Bearer T0ken"].map(|header| of(header.as_bytes())),
            ["wrong"; 3]
        );
        assert_eq!(
            ["", "Bearer", "Basic dDBrZW4=", "t0ken"].map(|header| of(header.as_bytes())),
            ["other"; 4]
        );
        assert_eq!(Bearer::of(None, "t0ken"), Bearer::Missing);
    }
}
