//! The paths that Rust code names, with grouped imports written out: `use std::{fs, net}` names `std::fs` and
//! `std::net`. Without this a rule about paths could be got round by a pair of braces, not even on purpose.

use super::rust_text::{self, is_name};

/// One path, such as `std::fs::read`, or a single name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPath {
    /// 1-based line of its last part.
    pub(super) line: usize,
    /// Its parts; the last may be `*`.
    pub(super) parts: Vec<String>,
    /// It stands in a `use` or an `extern crate`.
    pub(super) imported: bool,
}

/// All paths of a Rust source, in the order of the text. Comments and strings name nothing.
pub(super) fn named_in(source: &str) -> Vec<NamedPath> {
    let mut reader = Reader { tokens: tokens(&rust_text::code(source)), at: 0, found: Vec::new() };
    while let Some(token) = reader.peek() {
        let imported = reader.last() == "use" || (reader.last() == "crate" && is_name_token(token));
        let before = reader.at;
        let starts_path = is_name_token(token) && !NOT_A_PART.contains(&token);
        if imported || starts_path {
            reader.tree(Vec::new(), imported);
        }
        if reader.at == before {
            reader.at += 1;
        }
    }
    reader.found
}

/// Words that a path may follow, but not go on from: in `use ::std::fs` the first part is `std`.
const NOT_A_PART: [&str; 14] = [
    "use", "return", "in", "as", "mut", "dyn", "impl", "else", "match", "if", "where", "for", "while",
    "break",
];

fn is_name_token(token: &str) -> bool {
    token.starts_with(is_name)
}

fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                _ if rest.starts_with("r#") && rest[2..].starts_with(is_name) => {
                    rest = &rest[2..];
                    continue;
                }
                c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
                _ if rest.starts_with("::") => 2,
                c => c.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            tokens.push((index + 1, token.to_owned()));
            rest = after.trim_start();
        }
    }
    tokens
}

struct Reader {
    tokens: Vec<(usize, String)>,
    at: usize,
    found: Vec<NamedPath>,
}

impl Reader {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(|(_, token)| token.as_str())
    }

    fn last(&self) -> &str {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or("", |(_, token)| token)
    }

    /// Steps over the next token if it is this one.
    fn skip(&mut self, token: &str) -> bool {
        let there = self.peek() == Some(token);
        self.at += usize::from(there);
        there
    }

    fn line(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(1, |(line, _)| *line)
    }

    /// Reads a path, or in an import a tree of them.
    fn tree(&mut self, mut parts: Vec<String>, imported: bool) {
        self.skip("::");
        loop {
            match self.peek() {
                Some("{") if imported => return self.group(&parts),
                Some("*") if imported => {
                    parts.push(String::from("*"));
                    self.at += 1;
                    return self.found(parts, imported);
                }
                Some(token) if is_name_token(token) => {
                    parts.push(token.to_owned());
                    self.at += 1;
                }
                _ => return self.found(parts, imported),
            }
            if !self.skip("::") {
                return self.found(parts, imported);
            }
        }
    }

    /// Reads `{a, b::{c}, d as e}`, each with the parts before the brace.
    fn group(&mut self, before: &[String]) {
        self.skip("{");
        loop {
            match self.peek() {
                None => return,
                Some("}") => {
                    self.at += 1;
                    return;
                }
                Some(",") => self.at += 1,
                Some("as") => self.at += 2,
                Some("{" | "*" | "::") => self.tree(before.to_vec(), true),
                Some(token) if is_name_token(token) => self.tree(before.to_vec(), true),
                Some(_) => self.at += 1,
            }
        }
    }

    fn found(&mut self, parts: Vec<String>, imported: bool) {
        if !parts.is_empty() {
            let line = self.line();
            self.found.push(NamedPath { line, parts, imported });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(source: &str) -> Vec<String> {
        let imported = named_in(source).into_iter().filter(|path| path.imported);
        imported.map(|path| format!("{}:{}", path.line, path.parts.join("::"))).collect()
    }

    #[test]
    fn groups_are_written_out() {
        assert_eq!(
            imports("use std::{\n    fs::{self, File},\n    net,\n};\npub use ::a::*;\nuse {b, c::d as e};"),
            ["2:std::fs::self", "2:std::fs::File", "3:std::net", "5:a::*", "6:b", "6:c::d"]
        );
    }

    #[test]
    fn an_extern_crate_is_an_import_and_a_visibility_is_not() {
        assert_eq!(imports("extern crate tokio;\npub(crate) fn f() {}"), ["1:tokio"]);
    }

    #[test]
    fn paths_in_expressions_are_found_and_braces_after_them_are_code() {
        let paths = named_in("let a = std::fs::read(x); match b { C::D => {} }");
        let shown: Vec<String> = paths.iter().map(|path| path.parts.join("::")).collect();
        assert_eq!(shown, ["let", "a", "std::fs::read", "x", "b", "C::D"]);
    }

    #[test]
    fn a_path_from_the_root_does_not_join_the_word_before_it() {
        let paths = named_in("return ::std::fs::read(x)");
        assert_eq!(paths[0].parts, ["std", "fs", "read"]);
    }

    #[test]
    fn strings_comments_and_raw_names() {
        assert_eq!(named_in("\"std::fs\" // std::net").len(), 0);
        assert_eq!(named_in("r#std::fs")[0].parts, ["std", "fs"]);
    }

    #[test]
    fn unfinished_code_ends() {
        for source in ["use", "use a::", "use a::{", "use a::{b as", "use <", "extern crate", "a::<b>::c"] {
            let _ends = named_in(source);
        }
    }
}
