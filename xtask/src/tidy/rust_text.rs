//! Rust source with some of its text blanked out, so that a rule about code does not stumble over a string, nor a
//! rule about words over code. Lines keep their numbers.

/// The code alone: comments and the insides of strings and characters are spaces.
pub(super) fn code(source: &str) -> String {
    Blanker::new(source, false).run()
}

/// Code and comments: only the insides of strings and characters are spaces.
pub(super) fn code_and_comments(source: &str) -> String {
    Blanker::new(source, true).run()
}

/// The lines (1-based) on which `word` stands by itself, not as a part of a longer name.
pub(super) fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let stands_alone = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            let longer =
                before.is_some_and(is_name) || (word.ends_with(is_name) && after.is_some_and(is_name));
            !longer
        })
    };
    let lines = text.lines().enumerate().filter(|(_, line)| stands_alone(line));
    lines.map(|(index, _)| index + 1).collect()
}

/// A character that a Rust name may have.
pub(super) fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

struct Blanker {
    source: Vec<char>,
    at: usize,
    out: String,
    keep_comments: bool,
}

impl Blanker {
    fn new(source: &str, keep_comments: bool) -> Self {
        Self {
            source: source.chars().collect(),
            at: 0,
            out: String::with_capacity(source.len()),
            keep_comments,
        }
    }

    fn run(mut self) -> String {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if self.starts_raw_string() => self.raw_string(),
                ('\'', _) => self.character_or_lifetime(),
                _ => self.take(true),
            }
        }
        self.out
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.source.get(self.at + ahead).copied()
    }

    /// Passes one character on, or a space in its place. The end of a line stays.
    fn take(&mut self, keep: bool) {
        if let Some(c) = self.peek(0) {
            self.out.push(if keep || c == '\n' { c } else { ' ' });
            self.at += 1;
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take(self.keep_comments);
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            let step = match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => 1,
                (Some('*'), Some('/')) => -1,
                (None, _) => return,
                _ => 0,
            };
            depth = depth.saturating_add_signed(step);
            self.take(self.keep_comments);
            if step != 0 {
                self.take(self.keep_comments);
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(true);
        while let Some(c) = self.peek(0) {
            match c {
                '"' => return self.take(true),
                '\\' => {
                    self.take(false);
                    self.take(false);
                }
                _ => self.take(false),
            }
        }
    }

    /// `r"`, `br#"` and their like; not the `r` at the end of a name, and not `r#name`.
    fn starts_raw_string(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).and_then(|at| self.source.get(at)).copied();
        let prefixed = matches!(before(1), Some('b' | 'c')) && !before(2).is_some_and(is_name);
        let starts = prefixed || !before(1).is_some_and(is_name);
        let quote = (1..).map(|ahead| self.peek(ahead)).find(|c| *c != Some('#')).flatten();
        starts && quote == Some('"')
    }

    fn raw_string(&mut self) {
        self.take(true);
        let mut hashes = 0;
        while self.peek(0) == Some('#') {
            self.take(true);
            hashes += 1;
        }
        self.take(true);
        while let Some(c) = self.peek(0) {
            let closes = c == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if closes {
                (0..=hashes).for_each(|_| self.take(true));
                return;
            }
            self.take(false);
        }
    }

    /// `'a'` and `'\n'` are characters, `'a` is a lifetime.
    fn character_or_lifetime(&mut self) {
        let escaped = self.peek(1) == Some('\\');
        if !escaped && self.peek(2) != Some('\'') {
            return self.take(true);
        }
        self.take(true);
        if escaped {
            self.take(false);
        }
        self.take(false);
        while self.peek(0).is_some_and(|c| c != '\'') {
            self.take(false);
        }
        self.take(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_blank_and_code_stays() {
        for (source, expected) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"x("a\"b") y"#, r#"x("    ") y"#),
            ("r\"a\\\" b", "r\"  \" b"),
            ("br#\"a\"b\"# c", "br#\"   \"# c"),
            ("r#type b", "r#type b"),
            ("for\"a\" b", "for\" \" b"),
            ("'\"' a '\\'' b '\\u{1F600}' c", "' ' a '  ' b '         ' c"),
            ("&'a str \"x\"", "&'a str \" \""),
            ("\"a\nb\" c", "\" \n \" c"),
        ] {
            assert_eq!(code(source), expected, "{source}");
        }
    }

    #[test]
    fn comments_can_be_kept() {
        assert_eq!(code_and_comments("a(\"b\") // \"c\"\n/* d */"), "a(\" \") // \"c\"\n/* d */");
    }

    #[test]
    fn what_is_not_closed_ends_with_the_file() {
        for source in ["\"a", "/* a", "r#\"a", "'\\", "\"\\", "r#", "'"] {
            assert_eq!(code(source).chars().count(), source.chars().count(), "{source}");
        }
    }

    #[test]
    fn a_word_is_found_by_itself_only() {
        assert_eq!(lines_with("unsafe_code\nunsafe {\nmy_unsafe\n(unsafe", "unsafe"), [2, 4]);
        assert_eq!(lines_with("sleep(1)\nasleep(1)\ntime::sleep(x)", "sleep("), [1, 3]);
    }
}
