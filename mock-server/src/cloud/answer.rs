//! How a call is answered, in words: one grammar for the command line, for cases and for whoever tells a running cloud.

use fixtures::near_names::unknown;
use std::fmt;
use std::str::FromStr;

/// How a call is answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Answer {
    /// With the news.
    #[default]
    News,
    /// Not at all: nobody listens. Only as the first answer, and then it holds for all calls.
    Refuse,
    /// It is taken, and nothing ever comes.
    Silent,
    /// Nothing comes for so long, then the news.
    Late {
        /// Milliseconds.
        ms: u64,
    },
    /// The head at once, then a byte of the news each time.
    Drip {
        /// Milliseconds between two bytes.
        ms: u64,
    },
    /// The connection is reset.
    Reset,
    /// An error with this status.
    Status(u16),
    /// A page for people, with status 200.
    Html,
    /// A whole answer whose JSON stops in the middle.
    Truncated,
    /// The connection ends in the middle of the answer.
    Cut,
    /// Sent to another origin.
    Redirect,
    /// News of 20 MB.
    Huge,
    /// These bytes, as JSON.
    Body(String),
}

/// The words, as they stand in messages and help.
pub const WORDS: [&str; 13] = [
    "news",
    "refuse",
    "silent",
    "late=MS",
    "drip=MS",
    "reset",
    "status=CODE",
    "html",
    "truncated",
    "cut",
    "redirect",
    "huge",
    "body=TEXT",
];

impl FromStr for Answer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, value) = text.split_once('=').map_or((text, None), |(word, value)| (word, Some(value)));
        let number = |of: &str| {
            let value = value.ok_or_else(|| format!("'{word}' needs a number of {of}: {word}=4000"))?;
            value.parse::<u64>().map_err(|_| format!("'{value}' is no number of {of}"))
        };
        let answer = match word {
            "late" => return Ok(Self::Late { ms: number("milliseconds")? }),
            "drip" => return Ok(Self::Drip { ms: number("milliseconds")? }),
            "status" => {
                let code =
                    value.and_then(|value| value.parse().ok()).filter(|code| (200..=599).contains(code));
                let wrong = || "'status' needs a code from 200 to 599: status=429".to_owned();
                return code.map(Self::Status).ok_or_else(wrong);
            }
            "body" => {
                let body = value.ok_or_else(|| "'body' needs what is sent: body={}".to_owned())?;
                return Ok(Self::Body(body.to_owned()));
            }
            "news" => Self::News,
            "refuse" => Self::Refuse,
            "silent" => Self::Silent,
            "reset" => Self::Reset,
            "html" => Self::Html,
            "truncated" => Self::Truncated,
            "cut" => Self::Cut,
            "redirect" => Self::Redirect,
            "huge" => Self::Huge,
            _ => return Err(unknown("answer", text, &WORDS)),
        };
        match value {
            None => Ok(answer),
            Some(value) => Err(format!("'{word}' takes no value, and '{value}' stands behind it")),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::News => f.write_str("news"),
            Self::Refuse => f.write_str("refuse"),
            Self::Silent => f.write_str("silent"),
            Self::Late { ms } => write!(f, "late={ms}"),
            Self::Drip { ms } => write!(f, "drip={ms}"),
            Self::Reset => f.write_str("reset"),
            Self::Status(code) => write!(f, "status={code}"),
            Self::Html => f.write_str("html"),
            Self::Truncated => f.write_str("truncated"),
            Self::Cut => f.write_str("cut"),
            Self::Redirect => f.write_str("redirect"),
            Self::Huge => f.write_str("huge"),
            Self::Body(body) => write!(f, "body={body}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_is_written() {
        let words =
            WORDS.map(|word| word.replace("MS", "4000").replace("CODE", "429").replace("TEXT", "{\"a\"=1}"));
        for word in words {
            let answer: Answer = word.parse().unwrap();
            assert_eq!(answer.to_string(), word);
        }
    }

    #[test]
    fn a_wrong_word_is_told_with_those_that_there_are() {
        let wrong = ["redirekt", "late", "late=soon", "status=99", "status", "reset=1", "body", ""];
        let told = wrong.map(|word| format!("{word:10} {}", Answer::from_str(word).unwrap_err()));
        insta::assert_snapshot!(told.join("\n"));
    }
}
