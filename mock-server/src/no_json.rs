//! Why a text is no JSON, in the words of the servers' language.

/// The first thing that is wrong with a text; `None` where nothing is.
pub(crate) fn why(text: &str) -> Option<String> {
    let mut parser = Parser { rest: text, depth: 0 };
    let read = parser.value().and_then(|()| match parser.next()? {
        Token::End => Ok(()),
        _ => Err("Unable to parse JSON string".to_owned()),
    });
    read.err().map(|why| format!("JSON Parse error: {why}"))
}

/// A piece of JSON, or of what is taken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'t> {
    Text,
    /// A number, or one of the three words.
    Plain,
    Name(&'t str),
    Sign(char),
    End,
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

/// What is nested deeper is not looked at: it would be too much for the stack.
const DEPTH_MAX: usize = 512;

impl<'t> Parser<'t> {
    fn value(&mut self) -> Result<(), String> {
        match self.next()? {
            Token::Text | Token::Plain => Ok(()),
            Token::Sign('[' | '{') if self.depth >= DEPTH_MAX => Err("Unexpected EOF".to_owned()),
            Token::Sign('[') => self.deeper(Self::list),
            Token::Sign('{') => self.deeper(Self::object),
            Token::Sign(sign) => Err(format!("Unexpected token '{sign}'")),
            Token::Name(name) => Err(format!("Unexpected identifier \"{name}\"")),
            Token::End => Err("Unexpected EOF".to_owned()),
        }
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    fn list(&mut self) -> Result<(), String> {
        if self.peek()? == Token::Sign(']') {
            return self.next().map(drop);
        }
        loop {
            self.value()?;
            match self.next()? {
                Token::Sign(']') => return Ok(()),
                Token::Sign(',') if self.peek()? == Token::Sign(']') => {
                    return Err("Unexpected comma at the end of array expression".to_owned());
                }
                Token::Sign(',') => {}
                _ => return Err("Expected ']'".to_owned()),
            }
        }
    }

    fn object(&mut self) -> Result<(), String> {
        match self.next()? {
            Token::Sign('}') => return Ok(()),
            Token::Text => {}
            _ => return Err("Expected '}'".to_owned()),
        }
        loop {
            if self.next()? != Token::Sign(':') {
                return Err("Expected ':' before value in object property definition".to_owned());
            }
            self.value()?;
            match self.next()? {
                Token::Sign('}') => return Ok(()),
                Token::Sign(',') if self.next()? == Token::Text => {}
                Token::Sign(',') => return Err("Property name must be a string literal".to_owned()),
                _ => return Err("Expected '}'".to_owned()),
            }
        }
    }

    fn peek(&self) -> Result<Token<'t>, String> {
        Parser { rest: self.rest, depth: 0 }.next()
    }

    fn next(&mut self) -> Result<Token<'t>, String> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        for word in ["true", "false", "null"] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(Token::Plain);
            }
        }
        match first {
            '"' => self.text().map(|()| Token::Text),
            '-' | '0'..='9' => self.number().map(|()| Token::Plain),
            '[' | ']' | '{' | '}' | '(' | ')' | ',' | ':' | ';' | '=' | '.' => {
                self.rest = &self.rest[1..];
                Ok(Token::Sign(first))
            }
            'A'..='Z' | 'a'..='z' | '_' | '$' => {
                let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$'));
                let (name, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
                self.rest = rest;
                Ok(Token::Name(name))
            }
            '\'' => Err("Single quotes (') are not allowed in JSON".to_owned()),
            other => Err(format!("Unrecognized token '{other}'")),
        }
    }

    fn text(&mut self) -> Result<(), String> {
        let unterminated = || Err("Unterminated string".to_owned());
        self.rest = &self.rest[1..];
        loop {
            let mut letters = self.rest.chars();
            match letters.next() {
                Some('"') => {
                    self.rest = letters.as_str();
                    return Ok(());
                }
                Some('\\') => self.rest = escaped(letters.as_str())?,
                Some(letter) if letter >= ' ' => self.rest = letters.as_str(),
                _ => return unterminated(),
            }
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let digits = |text: &'t str| text.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let unsigned = self.rest.strip_prefix('-').unwrap_or(self.rest);
        self.rest = unsigned.strip_prefix('0').unwrap_or_else(|| digits(unsigned));
        if self.rest.len() == unsigned.len() {
            return Err("Invalid number".to_owned());
        }
        if let Some(fraction) = self.rest.strip_prefix('.') {
            self.rest = digits(fraction);
            if self.rest.len() == fraction.len() {
                return Err("Invalid digits after decimal point".to_owned());
            }
        }
        if let Some(power) = self.rest.strip_prefix(['e', 'E']) {
            let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
            if digits(unsigned).len() < unsigned.len() {
                self.rest = digits(unsigned);
            }
        }
        Ok(())
    }
}

/// What follows an escape, whose backslash is gone.
fn escaped(rest: &str) -> Result<&str, String> {
    let mut letters = rest.chars();
    match letters.next() {
        None => Err("Unterminated string".to_owned()),
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => Ok(letters.as_str()),
        Some('u') => {
            let code: String = letters.by_ref().take(4).collect();
            if code.chars().count() < 4 {
                return Err("\\u must be followed by 4 hex digits".to_owned());
            }
            if code.chars().all(|digit| digit.is_ascii_hexdigit()) {
                Ok(letters.as_str())
            } else {
                Err(format!("\"\\u{code}\" is not a valid unicode escape"))
            }
        }
        Some(other) => Err(format!("Invalid escape character {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::why;

    /// All rows were seen on the servers' own engine.
    #[test]
    fn what_is_wrong_is_told_as_the_servers_tell_it() {
        for (text, told) in [
            (r#"{"a": "#, "Unexpected EOF"),
            (r#"{"a": 1"#, "Expected '}'"),
            (r#"{"a" 1}"#, "Expected ':' before value in object property definition"),
            ("{a: 1}", "Expected '}'"),
            ("{", "Expected '}'"),
            (r#"{"a": "x"#, "Unterminated string"),
            ("{\"a\": \"x\n\"}", "Unterminated string"),
            ("{'a': 1}", "Single quotes (') are not allowed in JSON"),
            (r#"{"a": tru}"#, "Unexpected identifier \"tru\""),
            (r#"{"a":truex}"#, "Expected '}'"),
            ("[1, 2", "Expected ']'"),
            ("[1,", "Unexpected EOF"),
            ("[1,]", "Unexpected comma at the end of array expression"),
            (r#"{"a": 1,}"#, "Property name must be a string literal"),
            (r#"{"a": 1} x"#, "Unable to parse JSON string"),
            (r#"{"a": 1}""#, "Unterminated string"),
            ("", "Unexpected EOF"),
            (r#"{"a": "\q"}"#, "Invalid escape character q"),
            (r#"{"a": "\u12"}"#, "\"\\u12\"}\" is not a valid unicode escape"),
            (r#""\u1"#, "\\u must be followed by 4 hex digits"),
            (r#"{"a": 01}"#, "Expected '}'"),
            (r#"{"a": -}"#, "Invalid number"),
            (r#"{"a": 1.}"#, "Invalid digits after decimal point"),
            (r#"{"a": 1e}"#, "Expected '}'"),
            (r#"{"a":+1}"#, "Unrecognized token '+'"),
            (r#"{"a":.5}"#, "Unexpected token '.'"),
            (r#"{"a":}"#, "Unexpected token '}'"),
            ("```json", "Unrecognized token '`'"),
        ] {
            assert_eq!(why(text), Some(format!("JSON Parse error: {told}")), "{text}");
        }
        assert!(why(&"[".repeat(1_000_000)).is_some());
        for text in [r#"{"a":[1,-2.5e+3,"x\né",{},[],null,true]}"#, " 0 ", "\"\""] {
            assert_eq!(why(text), None, "{text}");
        }
    }
}
