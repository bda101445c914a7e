//! What a terminal would show of an agent in text, without the terminal: colours, titles and hidden cursors go, wherever
//! their codes are cut. And what is asked there: for the next words of the person, or for trust in a tool.

use super::Quirk;

/// Where an agent may wait for the person.
const PROMPTS: [&str; 2] = ["> ", "kiro> "];

/// The text of a screen since it was cleared.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Bytes of a code, or of a letter, that is not whole.
    torn: Vec<u8>,
    text: String,
}

/// What an agent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// For the person's next words.
    ForWords,
    /// For a letter: is this tool trusted?
    ForTrust,
}

impl Screen {
    pub(super) fn feed(&mut self, bytes: &[u8], quirk: Quirk) {
        if quirk.is("codes-by-read") {
            let mut whole = Self::default();
            whole.feed(bytes, Quirk::default());
            let torn = String::from_utf8_lossy(&whole.torn).into_owned();
            self.text += &whole.text;
            self.text += &torn;
            return;
        }
        let mut bytes = [std::mem::take(&mut self.torn), bytes.to_vec()].concat();
        loop {
            let Some(code) = bytes.iter().position(|byte| *byte == 0x1b) else {
                self.letters(&bytes);
                return;
            };
            self.letters(&bytes[..code]);
            match code_length(&bytes[code..]) {
                Some(length) => drop(bytes.drain(..code + length)),
                None => {
                    self.torn = bytes.split_off(code);
                    return;
                }
            }
        }
    }

    fn letters(&mut self, bytes: &[u8]) {
        let whole = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            // Cut within a letter; what is no letter at all is shown as such.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => bytes.len(),
        };
        self.text += &String::from_utf8_lossy(&bytes[..whole]).replace(['\r', '\u{7}'], "");
        self.torn = bytes[whole..].to_vec();
    }

    /// What the agent waits for, if nothing comes behind this: a prompt stands alone on the last line.
    pub(super) fn waits(&self, quirk: Quirk) -> Option<Waits> {
        let (before, last) = self.text.rsplit_once('\n').unwrap_or(("", &self.text));
        let known = if quirk.is("one-prompt") { &PROMPTS[..1] } else { &PROMPTS[..] };
        let is_prompt = known.contains(&last);
        if !is_prompt {
            return None;
        }
        let question = before.trim_end().lines().next_back().unwrap_or_default().to_lowercase();
        match question.contains("y/n") && !quirk.is("trust-unseen") {
            true => Some(Waits::ForTrust),
            false => Some(Waits::ForWords),
        }
    }

    /// How often trust is asked for on the screen.
    pub(super) fn questions(&self) -> usize {
        self.text.to_lowercase().matches("y/n").count()
    }

    /// What was answered: without the echo of what was said, the prompt, and words about tools. The screen is cleared.
    pub(super) fn take(&mut self, said: &str, quirk: Quirk) -> String {
        let text = std::mem::take(&mut self.text);
        let mut lines: Vec<&str> = text.lines().collect();
        if lines.first().is_some_and(|first| first.trim_end() == said) && !quirk.is("echo-as-answer") {
            lines.remove(0);
        }
        if text.rsplit('\n').next().is_some_and(|last| PROMPTS.contains(&last)) {
            lines.pop();
        }
        if quirk.is("prompt-anywhere") {
            let is_prompt = |line: &&str| PROMPTS.iter().any(|prompt| line.starts_with(prompt));
            let end = lines.iter().position(is_prompt);
            lines.truncate(end.unwrap_or(lines.len()));
        }
        let is_about_tools = |line: &&str| line.starts_with(" - ") || line.starts_with("Using tool:");
        lines.retain(|line| !is_about_tools(line));
        lines.join("\n").trim().to_owned()
    }
}

/// How long the code is that begins here; `None` when its end has not come.
fn code_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'[' => bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 3),
        b']' => {
            let bell = bytes.iter().position(|byte| *byte == 7).map(|at| at + 1);
            let string = bytes.windows(2).skip(2).position(|pair| pair == b"\x1b\\").map(|at| at + 4);
            bell.into_iter().chain(string).min()
        }
        _ => Some(2),
    }
}
