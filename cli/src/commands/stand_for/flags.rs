//! The flags of the real commands, read as these read them: whatever is no port still gives one.

use fixtures::ServerKind;

/// What somebody wants of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// The server.
    Serve(Flags),
    /// Its version.
    Version,
    /// Its help.
    Help,
    /// A flag or a word that it does not know.
    Wrong(String),
    /// Something else than the server.
    Other(String),
}

/// The flags of `serve` that make a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) port: Port,
    pub(super) hostname: String,
    pub(super) cors: Vec<String>,
}

/// What becomes of `--port`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    /// This one.
    This(u16),
    /// The usual one, and if it is taken any other.
    Usual,
    /// Any.
    Any,
}

/// The port of a server that nobody has told one.
const USUAL_PORT: u16 = 4096;

impl Port {
    /// Which ports are tried, in turn.
    pub(super) fn to_try(self) -> Vec<u16> {
        match self {
            Self::This(port) => vec![port],
            Self::Usual => vec![USUAL_PORT, 0],
            Self::Any => vec![0],
        }
    }

    /// The values of all `--port` flags; two of them are no number.
    fn of(values: &[Option<String>]) -> Self {
        let number = match values {
            [] => 0.0,
            [value] => number(value.as_deref().unwrap_or_default()),
            _ => f64::NAN,
        };
        if number == 0.0 {
            return Self::Usual;
        }
        // What is no port is cut to one, and port 0 is any.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is cut, as the servers do"
        )]
        match number.clamp(0.0, f64::from(u16::MAX)) as u16 {
            0 => Self::Any,
            port => Self::This(port),
        }
    }
}

/// What JavaScript makes of a text that is to be a number.
fn number(text: &str) -> f64 {
    let text = text.trim();
    let in_base = |prefix: &str, base: u32| {
        let digits = text.strip_prefix(prefix)?;
        Some(u32::from_str_radix(digits, base).map_or(f64::NAN, f64::from))
    };
    match text {
        "" => 0.0,
        _ => in_base("0x", 16)
            .or_else(|| in_base("0o", 8))
            .or_else(|| in_base("0b", 2))
            .unwrap_or_else(|| text.parse().unwrap_or(f64::NAN)),
    }
}

/// How a flag takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Many,
}

const FLAGS: &[(&str, Takes)] = &[
    ("help", Takes::Nothing),
    ("version", Takes::Nothing),
    ("print-logs", Takes::Nothing),
    ("log-level", Takes::One),
    ("pure", Takes::Nothing),
    ("port", Takes::One),
    ("hostname", Takes::One),
    ("mdns", Takes::Nothing),
    ("mdns-domain", Takes::One),
    ("cors", Takes::Many),
];
const LEVELS: &[&str] = &["DEBUG", "INFO", "WARN", "ERROR"];

/// What was read so far.
#[derive(Debug, Default)]
struct Reading {
    plain: Vec<String>,
    ports: Vec<Option<String>>,
    hostname: Option<String>,
    cors: Vec<String>,
    levels: Vec<String>,
    help: bool,
    version: bool,
    mdns: bool,
}

/// Reads the words behind the command.
pub(super) fn read(words: &[String]) -> Wish {
    let mut reading = Reading::default();
    let mut rest = words.iter().map(String::as_str).peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            break;
        }
        let Some(flag) = word.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            reading.plain.push(word.to_owned());
            continue;
        };
        let (name, with) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        let Some((name, takes, is_on)) = known(name) else {
            return Wish::Wrong(format!("{word} is no flag of this command"));
        };
        let values = match (takes, with) {
            (_, Some(value)) => vec![value],
            (Takes::Nothing, None) => {
                let says = rest.next_if(|next| matches!(*next, "true" | "false"));
                says.map(str::to_owned).into_iter().collect()
            }
            (Takes::One, None) => {
                rest.next_if(|next| !is_flag(next)).map(str::to_owned).into_iter().collect()
            }
            (Takes::Many, None) => {
                std::iter::from_fn(|| rest.next_if(|next| !is_flag(next))).map(str::to_owned).collect()
            }
        };
        reading.take(name, values, is_on);
    }
    reading.wish()
}

/// A number below zero is a value.
fn is_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flag| flag.parse::<f64>().is_err())
}

/// The flag of this name, how it takes its value, and whether it is turned on.
fn known(name: &str) -> Option<(&'static str, Takes, bool)> {
    let long = match name {
        "h" => "help".to_owned(),
        "v" => "version".to_owned(),
        name => kebab(name.strip_prefix('-')?),
    };
    let find = |wanted: &str| FLAGS.iter().find(|(name, _)| *name == wanted);
    if let Some((name, takes)) = find(&long) {
        return Some((name, *takes, true));
    }
    let (name, takes) = find(long.strip_prefix("no-")?)?;
    Some((name, *takes, false))
}

/// `logLevel` is `log-level`; a capital in front is another name.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
            kebab.push(letter.to_ascii_lowercase());
        } else {
            kebab.push(letter);
        }
    }
    kebab
}

impl Reading {
    fn take(&mut self, name: &str, values: Vec<String>, is_on: bool) {
        let value = values.first().cloned();
        let is_on = is_on && value.as_deref() != Some("false");
        match name {
            "help" => self.help = is_on,
            "version" => self.version = is_on,
            "mdns" => self.mdns = is_on,
            "port" => self.ports.push(value),
            "hostname" => self.hostname = Some(value.unwrap_or_default()),
            "log-level" => self.levels.extend(value),
            "cors" => self.cors.extend(values),
            _ => {}
        }
    }

    fn wish(self) -> Wish {
        if self.version {
            return Wish::Version;
        }
        let mut plain = self.plain.into_iter();
        match plain.next() {
            Some(command) if command == "serve" => {}
            None if self.help => return Wish::Help,
            None => return Wish::Other("without a command".to_owned()),
            Some(other) => return Wish::Other(other),
        }
        if self.help {
            return Wish::Help;
        }
        if let Some(more) = plain.next() {
            return Wish::Wrong(format!("'{more}' is a word too many"));
        }
        if let Some(level) = self.levels.iter().find(|level| !LEVELS.contains(&level.as_str())) {
            return Wish::Wrong(format!("--log-level {level}: it is one of {}", LEVELS.join(", ")));
        }
        let hostname = self.hostname.unwrap_or_else(|| {
            let host = if self.mdns { super::ANY } else { "127.0.0.1" };
            host.to_owned()
        });
        Wish::Serve(Flags { port: Port::of(&self.ports), hostname, cors: self.cors })
    }
}

/// What the command says about itself here.
pub(super) fn help(command: ServerKind) -> String {
    format!(
        "{command} serve, played by standin

Options:
  -h, --help         show help
  -v, --version      show the version that is stood in for: {}
      --port         the port; without one {USUAL_PORT} if it is free, else any
      --hostname     127.0.0.1 or localhost; nothing else is listened on
      --cors         more sites whose pages may ask
      --print-logs, --log-level, --pure, --mdns, --mdns-domain are taken and change nothing

What it plays is said by STANDIN_SCENARIO and its like: see `standin help as`.",
        command.pinned_version()
    )
}

#[cfg(test)]
mod tests;
