//! YAML and JSON with the line of every key: a finding is of use where it says its place.

use std::collections::{HashMap, HashSet};
use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::{ScanError, TScalarStyle};

/// More than anybody writes by hand, each repeat of an alias counted: a few lines of YAML can stand for billions.
const MOST_FIELDS: usize = 100_000;
/// Nor does anybody nest so deep.
const DEEPEST: usize = 100;

/// A value, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) value: FieldValue,
}

/// What stands there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FieldValue {
    /// A word, a number, a truth: as it is written. Nothing is an empty one.
    Word(String),
    /// Whatever it looks like, it is a text.
    Quoted(String),
    List(Vec<Field>),
    /// In the order in which they are written.
    Table(Vec<(String, Field)>),
}

/// Text that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) why: String,
}

impl Field {
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(known, _)| known == key).map(|(_, field)| field)
    }

    pub(super) fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            FieldValue::Table(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn word(&self) -> Option<&str> {
        match &self.value {
            FieldValue::Word(word) | FieldValue::Quoted(word) => Some(word),
            _ => None,
        }
    }

    /// Every line becomes that of the original.
    fn place(&mut self, lines: &[usize]) {
        self.line = lines.get(self.line.wrapping_sub(1)).copied().unwrap_or(self.line);
        match &mut self.value {
            FieldValue::Word(_) | FieldValue::Quoted(_) => {}
            FieldValue::List(items) => items.iter_mut().for_each(|item| item.place(lines)),
            FieldValue::Table(entries) => entries.iter_mut().for_each(|(_, field)| field.place(lines)),
        }
    }

    /// How many fields it is, and how deep they are nested.
    fn size(&self) -> (usize, usize) {
        let add = |(count, depth): (usize, usize), field: &Self| {
            let (own, below) = field.size();
            (count + own, depth.max(below + 1))
        };
        match &self.value {
            FieldValue::Word(_) | FieldValue::Quoted(_) => (1, 1),
            FieldValue::List(items) => items.iter().fold((1, 1), add),
            FieldValue::Table(entries) => entries.iter().map(|(_, field)| field).fold((1, 1), add),
        }
    }

    fn nothing(line: usize) -> Self {
        Self { line, value: FieldValue::Word(String::new()) }
    }
}

/// The first document of a text.
pub(super) fn yaml(text: &str) -> Result<Field, Unreadable> {
    let mut reading =
        Reading { parser: Parser::new_from_str(text), anchors: HashMap::new(), count: 0, depth: 0 };
    loop {
        match reading.next()? {
            (Event::StreamEnd, line) => return Ok(Field::nothing(line)),
            (Event::StreamStart | Event::DocumentStart | Event::Nothing, _) => {}
            (event, line) => {
                let field = reading.field(event, line)?;
                // What follows is read, too: a mistake there is one.
                while reading.next()?.0 != Event::StreamEnd {}
                return Ok(field);
            }
        }
    }
}

/// JSON, with remarks and with commas too many, as the servers read it. All of JSON is YAML once that is gone.
pub(super) fn json(text: &str) -> Result<Field, Unreadable> {
    yaml(&without_remarks(text))
}

/// The fields before the text of a Markdown file, as people write agents: `---`, YAML, `---`.
pub(super) fn front(text: &str) -> Result<Field, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let Some(rest) = text.strip_prefix("---").filter(|rest| rest.starts_with('\n')) else {
        return Ok(Field { line: 1, value: FieldValue::Table(Vec::new()) });
    };
    let head = rest.split_once("\n---").map_or(rest, |(head, _)| head);
    // Its first line is the one of the dashes, so lines count as in the file.
    let field = yaml(head).or_else(|why| {
        // The servers try again with the sentences quoted.
        let (text, lines) = in_blocks(head);
        let mut field = yaml(&text).map_err(|_| why)?;
        field.place(&lines);
        Ok(field)
    })?;
    match field.value {
        FieldValue::Table(_) => Ok(field),
        FieldValue::Word(ref word) if word.is_empty() => {
            Ok(Field { line: 1, value: FieldValue::Table(Vec::new()) })
        }
        _ => Err(Unreadable {
            line: field.line,
            why: "what stands between the dashes is no table of fields".to_owned(),
        }),
    }
}

/// People write colons into their sentences: such a line becomes a block, in which it may have them. With the line of
/// the original for each line.
fn in_blocks(head: &str) -> (String, Vec<usize>) {
    let (mut text, mut lines) = (String::new(), Vec::new());
    for (at, line) in head.lines().enumerate() {
        let field = line.split_once(':').filter(|(key, value)| {
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let value = value.trim_start();
            !key.is_empty()
                && key.trim_end().chars().all(is_word)
                && value.contains(':')
                && !value.starts_with(['"', '\'', '>', '|', '{', '['])
        });
        lines.push(at + 1);
        match field {
            Some((key, value)) => {
                text.push_str(&format!("{key}: |-\n  {}\n", value.trim_start()));
                lines.push(at + 1);
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    (text, lines)
}

struct Reading<'a> {
    parser: Parser<std::str::Chars<'a>>,
    anchors: HashMap<usize, Field>,
    /// Fields so far, repeated ones too.
    count: usize,
    /// Lists and tables that are open.
    depth: usize,
}

impl Reading<'_> {
    fn next(&mut self) -> Result<(Event, usize), Unreadable> {
        let told =
            |error: ScanError| Unreadable { line: error.marker().line(), why: error.info().to_owned() };
        self.parser.next_token().map(|(event, marker)| (event, marker.line())).map_err(told)
    }

    /// Room for so many fields more, so deep.
    fn takes(&mut self, (count, depth): (usize, usize), line: usize) -> Result<(), Unreadable> {
        self.count += count;
        let why = if self.count > MOST_FIELDS {
            format!(
                "more than {MOST_FIELDS} fields, those that aliases repeat counted: nobody writes so many"
            )
        } else if self.depth + depth > DEEPEST {
            format!("lists and tables nested more than {DEEPEST} deep: nobody writes so")
        } else {
            return Ok(());
        };
        Err(Unreadable { line, why })
    }

    fn field(&mut self, event: Event, line: usize) -> Result<Field, Unreadable> {
        self.takes((1, 1), line)?;
        self.depth += 1;
        let field = self.any_field(event, line);
        self.depth -= 1;
        field
    }

    fn any_field(&mut self, event: Event, line: usize) -> Result<Field, Unreadable> {
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let Some(size) = self.anchors.get(&anchor).map(Field::size) else {
                    return Ok(Field::nothing(line));
                };
                self.takes(size, line)?;
                return Ok(self.anchors[&anchor].clone());
            }
            Event::Scalar(word, style, anchor, _) => {
                let value = match (style, word.as_str()) {
                    (TScalarStyle::Plain, "~" | "null") => FieldValue::Word(String::new()),
                    (TScalarStyle::Plain, _) => FieldValue::Word(word),
                    _ => FieldValue::Quoted(word),
                };
                (anchor, value)
            }
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, line) => items.push(self.field(event, line)?),
                    }
                }
                (anchor, FieldValue::List(items))
            }
            Event::MappingStart(anchor, _) => (anchor, FieldValue::Table(self.entries()?)),
            other => {
                return Err(Unreadable { line, why: format!("{other:?} stands where a value was expected") });
            }
        };
        let field = Field { line, value };
        if anchor > 0 {
            let (count, _) = field.size();
            self.takes((count, 0), line)?;
            self.anchors.insert(anchor, field.clone());
        }
        Ok(field)
    }

    fn entries(&mut self) -> Result<Vec<(String, Field)>, Unreadable> {
        let (mut entries, mut known): (Vec<(String, Field)>, HashSet<String>) = Default::default();
        loop {
            let (event, line) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key = self.field(event, line)?;
            let (event, _) = self.next()?;
            // The place of an entry is that of its key.
            let value = Field { line, ..self.field(event, line)? };
            let Some(key) = key.word() else { continue };
            if !known.insert(key.to_owned()) {
                return Err(Unreadable { line, why: format!("the key '{key}' stands here a second time") });
            }
            entries.push((key.to_owned(), value));
        }
    }
}

/// Remarks become blanks, so that every line keeps its number; so do tabs, which YAML can't have.
fn without_remarks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(_)) if in_text => {
                let escaped = letters.next().unwrap_or_default();
                plain.extend([letter, escaped]);
            }
            ('"', _) => {
                in_text = !in_text;
                plain.push('"');
            }
            ('\t', _) if !in_text => plain.push(' '),
            (':', _) if !in_text => plain.push_str(": "),
            ('/', Some('/')) if !in_text => {
                while letters.peek().is_some_and(|letter| *letter != '\n') {
                    letters.next();
                }
            }
            ('/', Some('*')) if !in_text => {
                letters.next();
                let mut before = ' ';
                for letter in letters.by_ref() {
                    if before == '*' && letter == '/' {
                        break;
                    }
                    if letter == '\n' {
                        plain.push('\n');
                    }
                    before = letter;
                }
            }
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_line() {
        let text =
            "---\nmode: subagent\npermission:\n  task:\n    \"*\": deny\n    x: deny\n---\nText: no field\n";
        let front = front(text).unwrap();
        let task = front.get("permission").unwrap().get("task").unwrap();
        assert_eq!((front.get("mode").unwrap().word(), task.line), (Some("subagent"), 4));
        assert_eq!((task.get("*").unwrap().line, task.get("x").unwrap().line), (5, 6));
    }

    #[test]
    fn json_may_have_remarks_and_commas_too_many() {
        let text = "{\n\t// mine: {\n\t\"agent\": { /* two\n lines */ \"a\": {\"mode\":\"all\", \"url\": \"http://x\"},\n\t},\n}\n";
        let read = json(text).unwrap();
        let agent = read.get("agent").unwrap().get("a").unwrap();
        assert_eq!((agent.line, agent.get("url").unwrap().word()), (4, Some("http://x")));
    }

    #[test]
    fn a_sentence_may_have_a_colon() {
        let front = front("---\ndescription: Deep: with a colon\nmode: all\n---\n").unwrap();
        assert_eq!(front.get("description").unwrap().word(), Some("Deep: with a colon"));
        assert_eq!(front.get("mode").unwrap().line, 3);
    }

    #[test]
    fn a_few_lines_do_not_become_billions_of_fields() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for at in 1..12 {
            let before = vec![format!("*a{}", at - 1); 10].join(", ");
            text.push_str(&format!("a{at}: &a{at} [{before}]\n"));
        }
        let error = yaml(&text).unwrap_err();
        assert!(error.why.contains("more than 100000 fields"), "{error:?}");
        assert_eq!(error.line, 5);
        let plain: String = (0..9_000).map(|at| format!("a{at}: x\n")).collect();
        assert_eq!(yaml(&plain).unwrap().entries().len(), 9_000);
    }

    #[test]
    fn nesting_has_an_end_however_it_is_written() {
        let nested = |deep: usize| format!("{}{}", "[".repeat(deep), "]".repeat(deep));
        assert!(yaml(&nested(90)).is_ok());
        let error = yaml(&nested(150)).unwrap_err();
        assert!(error.why.contains("nested more than 100 deep"), "{error:?}");
        let by_alias = format!("a: &a {}\nb: {}*a{}\n", nested(80), "[".repeat(80), "]".repeat(80));
        let error = yaml(&by_alias).unwrap_err();
        assert!(error.why.contains("nested more than 100 deep"), "{error:?}");
    }

    #[test]
    fn what_can_not_be_read_has_its_line_too() {
        assert_eq!(front("---\nmode: all\ntools: ]a\nx: y\n---\n").unwrap_err().line, 3);
        assert_eq!(front("---\na: 1\na: 2\n---\n").unwrap_err().line, 3);
        assert!(front("---\n- a\n---\n").unwrap_err().why.contains("no table"));
        assert_eq!(front("Only text.\n").unwrap().entries(), []);
    }
}
