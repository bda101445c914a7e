//! What is wrong with a text that is meant to be JSON with comments, in the servers' words: all mistakes of it, each
//! with its line and a mark below. After a mistake the reader goes on as far as it can, as the servers' one does.

use crate::javascript::units;

/// What a text is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Colon,
    Comma,
    Text,
    Word,
    End,
}

/// The reader goes no deeper, and reads no further, than into so many lists and things in each other.
const DEPTH_MAX: usize = 256;

/// What is wrong, with the text in which it stands; `None` when nothing is.
pub(super) fn told(text: &str) -> Option<String> {
    let mistakes = Reader::read(text);
    let told: Vec<String> = mistakes.iter().map(|(what, at)| in_words(text, what, *at)).collect();
    (!told.is_empty())
        .then(|| format!("\n--- JSONC Input ---\n{text}\n--- Errors ---\n{}\n--- End ---", told.join("\n")))
}

/// The same without marks, one line or two for each mistake.
pub(super) fn in_short(text: &str) -> Vec<String> {
    Reader::read(text).iter().map(|(what, at)| at_line(text, what, *at).0).collect()
}

fn in_words(text: &str, what: &str, at: usize) -> String {
    match at_line(text, what, at) {
        (told, Some(column)) => format!("{told}\n{}^", " ".repeat(column + 9)),
        (told, None) => told,
    }
}

/// A mistake with its line, and the column unless the line is empty.
fn at_line(text: &str, what: &str, at: usize) -> (String, Option<usize>) {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = units(before.rsplit('\n').next().unwrap_or_default()) + 1;
    let whole = text.split('\n').nth(line - 1).unwrap_or_default();
    let told = format!("{what} at line {line}, column {column}");
    if whole.is_empty() {
        return (told, None);
    }
    (format!("{told}\n   Line {line}: {whole}"), Some(column))
}

struct Reader<'t> {
    text: &'t str,
    /// Where the reader is, and where the token begins that it has read last.
    at: usize,
    start: usize,
    token: Token,
    /// In how many lists and things it is.
    depth: usize,
    mistakes: Vec<(&'static str, usize)>,
}

impl<'t> Reader<'t> {
    fn read(text: &'t str) -> Vec<(&'static str, usize)> {
        let mut reader = Self { text, at: 0, start: 0, token: Token::End, depth: 0, mistakes: Vec::new() };
        reader.next();
        if reader.token == Token::End || !reader.value() {
            reader.mistake("ValueExpected");
        } else if reader.token != Token::End {
            reader.mistake("EndOfFileExpected");
        }
        reader.mistakes
    }

    fn mistake(&mut self, what: &'static str) {
        self.mistakes.push((what, self.start));
    }

    fn skip_until(&mut self, ends: [Token; 2]) {
        while self.token != Token::End && !ends.contains(&self.token) {
            self.next();
        }
    }

    fn value(&mut self) -> bool {
        match self.token {
            Token::OpenBracket => self.list(),
            Token::OpenBrace => self.thing(),
            Token::Text | Token::Word => self.next(),
            _ => return false,
        }
        true
    }

    fn thing(&mut self) {
        self.members(Token::CloseBrace, "CloseBraceExpected", Self::property);
    }

    fn list(&mut self) {
        self.members(Token::CloseBracket, "CloseBracketExpected", Self::value);
    }

    fn members(&mut self, close: Token, unclosed: &'static str, member: fn(&mut Self) -> bool) {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            self.at = self.text.len();
        }
        self.next();
        let mut needs_comma = false;
        while self.token != close && self.token != Token::End {
            if self.token == Token::Comma {
                if !needs_comma {
                    self.mistake("ValueExpected");
                }
                self.next();
                if self.token == close {
                    break;
                }
            } else if needs_comma {
                self.mistake("CommaExpected");
            }
            if !member(self) {
                self.mistake("ValueExpected");
                self.skip_until([close, Token::Comma]);
            }
            needs_comma = true;
        }
        if self.token == close {
            self.next();
        } else {
            self.mistake(unclosed);
        }
        self.depth -= 1;
    }

    fn property(&mut self) -> bool {
        const ENDS: [Token; 2] = [Token::CloseBrace, Token::Comma];
        if self.token != Token::Text {
            self.mistake("PropertyNameExpected");
            self.skip_until(ENDS);
            return false;
        }
        self.next();
        if self.token != Token::Colon {
            self.mistake("ColonExpected");
            self.skip_until(ENDS);
            return true;
        }
        self.next();
        if !self.value() {
            self.mistake("ValueExpected");
            self.skip_until(ENDS);
        }
        true
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(|letter| !fits(letter)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// The next token that means something; what is none is a mistake.
    fn next(&mut self) {
        loop {
            self.take_while(|letter| letter.is_whitespace() || letter == '\u{feff}');
            self.start = self.at;
            let Some(letter) = self.peek() else {
                self.token = Token::End;
                return;
            };
            let found = match letter {
                '"' => Some(self.quoted()),
                '/' if self.comment() => continue,
                '-' | '0'..='9' => self.number(),
                _ => self.sign(letter).or_else(|| self.word()),
            };
            if let Some(token) = found {
                self.token = token;
                return;
            }
            self.mistake("InvalidSymbol");
        }
    }

    fn sign(&mut self, letter: char) -> Option<Token> {
        let token = match letter {
            '{' => Token::OpenBrace,
            '}' => Token::CloseBrace,
            '[' => Token::OpenBracket,
            ']' => Token::CloseBracket,
            ':' => Token::Colon,
            ',' => Token::Comma,
            _ => return None,
        };
        self.at += 1;
        Some(token)
    }

    fn word(&mut self) -> Option<Token> {
        let word = self.take_while(|letter| !letter.is_whitespace() && !"{}[]\":,/".contains(letter));
        if word.is_empty() {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
        matches!(word, "true" | "false" | "null").then_some(Token::Word)
    }

    fn comment(&mut self) -> bool {
        let rest = &self.text[self.at..];
        if rest.starts_with("//") {
            self.take_while(|letter| letter != '\n' && letter != '\r');
            return true;
        }
        if !rest.starts_with("/*") {
            return false;
        }
        if let Some(end) = rest[2..].find("*/") {
            self.at += end + 4;
        } else {
            self.at = self.text.len();
            self.mistake("UnexpectedEndOfComment");
        }
        true
    }

    fn number(&mut self) -> Option<Token> {
        let is_digit = |letter: char| letter.is_ascii_digit();
        if self.peek() == Some('-') {
            self.at += 1;
            self.peek().filter(|letter| is_digit(*letter))?;
        }
        if self.peek() == Some('0') {
            self.at += 1;
        } else {
            self.take_while(is_digit);
        }
        if self.peek() == Some('.') {
            self.at += 1;
            if self.take_while(is_digit).is_empty() {
                self.mistake("UnexpectedEndOfNumber");
                return Some(Token::Word);
            }
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            if self.take_while(is_digit).is_empty() {
                self.mistake("UnexpectedEndOfNumber");
            }
        }
        Some(Token::Word)
    }

    /// Only the last mistake in a text is told.
    fn quoted(&mut self) -> Token {
        let mut wrong = None;
        self.at += 1;
        loop {
            let Some(letter) = self.peek() else {
                wrong = Some("UnexpectedEndOfString");
                break;
            };
            if letter == '\n' || letter == '\r' {
                wrong = Some("UnexpectedEndOfString");
                break;
            }
            self.at += letter.len_utf8();
            match letter {
                '"' => break,
                '\\' => match self.peek() {
                    Some('u') => {
                        self.at += 1;
                        let rest = &self.text.as_bytes()[self.at..];
                        let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
                        self.at += digits;
                        if digits < 4 {
                            wrong = Some("InvalidUnicode");
                        }
                    }
                    Some(letter) => {
                        self.at += letter.len_utf8();
                        if !"\"\\/bfnrt".contains(letter) {
                            wrong = Some("InvalidEscapeCharacter");
                        }
                    }
                    None => {}
                },
                letter if letter < ' ' => wrong = Some("InvalidCharacter"),
                _ => {}
            }
        }
        if let Some(wrong) = wrong {
            self.mistake(wrong);
        }
        Token::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> Vec<(&'static str, usize)> {
        Reader::read(text)
    }

    #[test]
    fn what_is_right_has_no_mistakes() {
        for text in ["{}", " [1, -2.5e+3, \"\\u00e9\", null,] ", "// a\n{ \"b\": true, /* c */ }"] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        // Seen on the real servers.
        assert_eq!(
            told("{ \"username\": \"x\", nonsense\n").unwrap(),
            "\n--- JSONC Input ---\n{ \"username\": \"x\", nonsense\n\n--- Errors ---\nInvalidSymbol at line 1, column \
             20\n   Line 1: { \"username\": \"x\", nonsense\n                             ^\nPropertyNameExpected at \
             line 2, column 1\nValueExpected at line 2, column 1\nCloseBraceExpected at line 2, column 1\n--- End ---"
        );
        let comma = mistakes("{ \"username\": \"x\"\n \"share\": \"never\" }");
        assert_eq!(comma, [("CommaExpected", 19)]);
    }

    #[test]
    fn the_reader_goes_on_behind_a_mistake() {
        assert_eq!(mistakes(""), [("ValueExpected", 0)]);
        assert_eq!(mistakes("{} x"), [("InvalidSymbol", 3)]);
        assert_eq!(mistakes("{} {}"), [("EndOfFileExpected", 3)]);
        assert_eq!(mistakes("{\"a\" 1}"), [("ColonExpected", 5)]);
        assert_eq!(mistakes("[1 2"), [("CommaExpected", 3), ("CloseBracketExpected", 4)]);
        assert_eq!(
            mistakes("{\"a\": 1., \"b\": \"\\q\"}"),
            [("UnexpectedEndOfNumber", 6), ("InvalidEscapeCharacter", 15)]
        );
        assert_eq!(mistakes("{\"a\": \"b\n}"), [("UnexpectedEndOfString", 6)]);
    }

    #[test]
    fn nothing_is_too_deep_to_be_told_of() {
        for open in ["[", "{\"a\":", "[{\"a\":"] {
            let mistakes = mistakes(&open.repeat(100_000));
            assert!((DEPTH_MAX..=DEPTH_MAX + 2).contains(&mistakes.len()), "{open}: {}", mistakes.len());
        }
    }
}
