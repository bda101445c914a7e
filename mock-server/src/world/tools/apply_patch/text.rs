//! The text of a patch, taken apart: which files it adds, deletes, changes and moves; and what a file holds after it.

use crate::javascript::{trimmed, trimmed_end};

/// What is done to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Section {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, moved_to: Option<String>, chunks: Vec<Chunk> },
}

/// Lines that stand in a file, and those that take their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    /// A line somewhere before them.
    context: Option<String>,
    old: Vec<String>,
    new: Vec<String>,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
/// What begins a line of the patch's own.
const MARK: &str = "***";
const CHUNK: &str = "@@";

impl Section {
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }
}

/// The sections between the first two marks. What makes no sense there is passed over, as the servers do.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, String> {
    let lines: Vec<&str> = without_here(trimmed(text)).split('\n').collect();
    let place = |mark: &str| lines.iter().position(|line| trimmed(line) == mark);
    let (begin, end) = match (place(BEGIN), place(END)) {
        (Some(begin), Some(end)) if begin < end => (begin, end),
        _ => return Err("Invalid patch format: missing Begin/End markers".to_owned()),
    };
    let mut sections = Vec::new();
    let mut at = begin + 1;
    while at < end {
        let line = lines[at];
        let named = |mark: &str| {
            let path = trimmed(line.strip_prefix(mark)?);
            (!path.is_empty()).then(|| path.to_owned())
        };
        at += 1;
        if let Some(path) = named(ADD) {
            let body = body(&lines, &mut at);
            let added: Vec<&str> = body.iter().filter_map(|line| line.strip_prefix('+')).collect();
            sections.push(Section::Add { path, content: added.join("\n") });
        } else if let Some(path) = named(DELETE) {
            sections.push(Section::Delete { path });
        } else if let Some(path) = named(UPDATE) {
            let moved_to = lines.get(at).and_then(|line| line.strip_prefix(MOVE));
            at += usize::from(moved_to.is_some());
            let moved_to = moved_to.map(|to| trimmed(to).to_owned()).filter(|to| !to.is_empty());
            let chunks = chunks(body(&lines, &mut at));
            sections.push(Section::Update { path, moved_to, chunks });
        }
    }
    Ok(sections)
}

/// Some models write the text as a shell would be given it: `cat <<'EOF'`, the text, `EOF`.
fn without_here(text: &str) -> &str {
    let read = || {
        let (first, rest) = text.split_once('\n')?;
        let rest = rest.trim_start_matches(|sign: char| sign.is_whitespace());
        let word = first.strip_prefix("cat").map_or(first, |after| after.trim_start());
        let word = word.strip_prefix("<<")?.trim_end();
        let word = word.trim_start_matches(['\'', '"']).trim_end_matches(['\'', '"']);
        let (body, last) = rest.trim_end().rsplit_once('\n')?;
        let is_word = !word.is_empty() && word.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
        (is_word && last == word).then_some(body)
    };
    read().unwrap_or(text)
}

/// The lines up to the next one of the patch's own.
fn body<'l>(lines: &[&'l str], at: &mut usize) -> Vec<&'l str> {
    let body: Vec<&str> = lines[*at..].iter().copied().take_while(|line| !line.starts_with(MARK)).collect();
    *at += body.len();
    body
}

fn chunks(body: Vec<&str>) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for line in body {
        if let Some(context) = line.strip_prefix(CHUNK) {
            let context = Some(trimmed(context).to_owned()).filter(|context| !context.is_empty());
            chunks.push(Chunk { context, ..Chunk::default() });
            continue;
        }
        let Some(chunk) = chunks.last_mut() else { continue };
        let Some(kind) = line.chars().next() else { continue };
        let rest = &line[kind.len_utf8()..];
        if matches!(kind, ' ' | '-') {
            chunk.old.push(rest.to_owned());
        }
        if matches!(kind, ' ' | '+') {
            chunk.new.push(rest.to_owned());
        }
    }
    chunks
}

/// What a file holds after these chunks; each is looked for behind the one before it.
pub(super) fn applied(text: &str, chunks: &[Chunk], path: &str) -> Result<String, String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut changes: Vec<(usize, usize, &[String])> = Vec::new();
    let mut from = 0;
    for chunk in chunks {
        if let Some(context) = &chunk.context {
            let found = seek(&lines, std::slice::from_ref(context), from);
            let found = found.ok_or_else(|| format!("Failed to find context '{context}' in {path}"))?;
            from = found + 1;
        }
        if chunk.old.is_empty() {
            let is_blank = lines.last() == Some(&"");
            changes.push((lines.len() - usize::from(is_blank), 0, &chunk.new));
            continue;
        }
        let (mut old, mut new) = (&chunk.old[..], &chunk.new[..]);
        let mut found = seek(&lines, old, from);
        if found.is_none()
            && let [before @ .., last] = old
            && last.is_empty()
        {
            // The blank line at its end may be that of the patch.
            old = before;
            new = match new {
                [before @ .., last] if last.is_empty() => before,
                all => all,
            };
            found = seek(&lines, old, from);
        }
        let missing = || format!("Failed to find expected lines in {path}:\n{}", chunk.old.join("\n"));
        let found = found.ok_or_else(missing)?;
        changes.push((found, old.len(), new));
        from = found + old.len();
    }
    changes.sort_by_key(|(at, ..)| *at);
    for (at, count, new) in changes.into_iter().rev() {
        let end = (at + count).min(lines.len());
        lines.splice(at..end, new.iter().map(String::as_str));
    }
    if lines.last() != Some(&"") {
        lines.push("");
    }
    Ok(lines.join("\n"))
}

/// How a line of a file may be like one of a patch: the first way that finds all lines decides.
const LIKENESSES: [fn(&str, &str) -> bool; 4] = [
    |one, two| one == two,
    |one, two| trimmed_end(one) == trimmed_end(two),
    |one, two| trimmed(one) == trimmed(two),
    |one, two| plain(trimmed(one)) == plain(trimmed(two)),
];

fn seek(lines: &[&str], wanted: &[String], from: usize) -> Option<usize> {
    if wanted.is_empty() || wanted.len() > lines.len() {
        return None;
    }
    LIKENESSES.iter().find_map(|is_like| {
        let fits = |at: &usize| lines[*at..].iter().zip(wanted).all(|(line, wanted)| is_like(line, wanted));
        (from..=lines.len() - wanted.len()).find(fits)
    })
}

/// Without the signs of typesetters.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\u{2018}'..='\u{201b}' => plain.push('\''),
            '\u{201c}'..='\u{201f}' => plain.push('"'),
            '\u{2010}'..='\u{2015}' => plain.push('-'),
            '\u{2026}' => plain.push_str("..."),
            '\u{a0}' => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(body: &str) -> Vec<Chunk> {
        let text = format!("{BEGIN}\n{UPDATE} a\n{body}\n{END}");
        match &sections(&text).unwrap()[..] {
            [Section::Update { chunks, .. }] => chunks.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_text_is_taken_apart() {
        let text = "*** Begin Patch\n*** Add File: n/n.txt\n+one\n+\nnoise\n+two\n*** Delete File:  old.txt \n\
                    *** Update File: a\n*** Move to: b\n@@ fn x\n-1\n+2\n 3\n*** End Patch";
        let chunk = Chunk {
            context: Some("fn x".into()),
            old: vec!["1".into(), "3".into()],
            new: vec!["2".into(), "3".into()],
        };
        let expected = [
            Section::Add { path: "n/n.txt".into(), content: "one\n\ntwo".into() },
            Section::Delete { path: "old.txt".into() },
            Section::Update { path: "a".into(), moved_to: Some("b".into()), chunks: vec![chunk] },
        ];
        assert_eq!(sections(text).unwrap(), expected);
        assert_eq!(sections(&format!("cat <<'EOF'\n{text}\nEOF\n")).unwrap(), expected);
        for none in ["", "nonsense", "*** End Patch\n*** Begin Patch", "*** Begin Patch"] {
            assert!(sections(none).unwrap_err().contains("missing Begin/End markers"), "{none}");
        }
        assert_eq!(sections("*** Begin Patch\n*** End Patch").unwrap(), []);
    }

    #[test]
    fn lines_are_found_where_they_are_meant() {
        let text = "a\n  b\nc\nb\n";
        for (body, after) in [
            ("@@\n-c\n+C", Ok("a\n  b\nC\nb\n")),
            ("@@ c\n-b\n+B", Ok("a\n  b\nc\nB\n")),
            ("@@\n-b\n+B", Ok("a\n  b\nc\nB\n")),
            ("@@\n a\n-b\n+B", Ok("a\nB\nc\nb\n")),
            ("@@\n+end", Ok("a\n  b\nc\nb\nend\n")),
            ("@@\n-a\n@@\n-b\n+x", Ok("  b\nc\nx\n")),
            ("@@\n-nowhere\n+x", Err("Failed to find expected lines in a:\nnowhere")),
            ("@@ nowhere\n-a\n+x", Err("Failed to find context 'nowhere' in a")),
        ] {
            let got = applied(text, &update(body), "a");
            assert_eq!(got, after.map(str::to_owned).map_err(str::to_owned), "{body}");
        }
        assert_eq!(applied("“x” – y", &update("@@\n-\"x\" - y\n+z"), "a").unwrap(), "z\n");
        assert_eq!(applied("", &update("@@\n+x"), "a").unwrap(), "x\n");
    }
}
