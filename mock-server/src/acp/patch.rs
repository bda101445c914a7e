//! What a file will be: a diff in the servers' spelling, over the content that is there.

/// `None` when the diff does not fit, or is about several files.
pub(super) fn applied(before: &str, diff: &str) -> Option<String> {
    if diff.split('\n').filter(|line| line.starts_with("Index: ")).count() > 1 {
        return None;
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut at = 0;
    let diff = with_ends_of(before, diff);
    let mut lines = diff.iter().map(String::as_str).peekable();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("@@ -") else { continue };
        let (start, count) = range(head)?;
        // An empty range stands behind its line.
        let start = if count == 0 { start } else { start.checked_sub(1)? };
        while at < start {
            new.push_str(old.get(at)?);
            at += 1;
        }
        while let Some(line) = lines.peek().copied() {
            let (mark, text) = line.split_at_checked(1).unwrap_or(("", ""));
            if matches!(mark, "@" | "I") {
                break;
            }
            lines.next();
            let ends_bare = lines.peek().is_some_and(|next| next.starts_with('\\'));
            match mark {
                "+" => {
                    new.push_str(text);
                    new.push_str(if ends_bare { "" } else { "\n" });
                }
                " " | "-" => {
                    let there = old.get(at)?;
                    if there.strip_suffix('\n').unwrap_or(there) != text {
                        return None;
                    }
                    if mark == " " {
                        new.push_str(there);
                    }
                    at += 1;
                }
                _ => {}
            }
        }
    }
    new.extend(old.get(at..).unwrap_or_default().iter().copied());
    Some(new)
}

/// The lines of a diff, with the ends of lines that the file has, where both have one kind alone.
fn with_ends_of(before: &str, diff: &str) -> Vec<String> {
    let mut lines: Vec<String> = diff.split('\n').map(str::to_owned).collect();
    let begin = lines.iter().position(|line| line.starts_with("@@ ")).unwrap_or(lines.len());
    let body = begin + 1..lines.len();
    // The last line of a file that has no end has none in the diff either.
    let has_none = |at: usize| {
        let is_note = |line: &String| line.starts_with('\\') || line.starts_with("@@ ") || line.is_empty();
        is_note(&lines[at]) || lines.get(at + 1).is_some_and(|next| next.starts_with('\\'))
    };
    let with_end: Vec<usize> = body.clone().filter(|at| !has_none(*at)).collect();
    let ends_so = |at: &usize| lines[*at].ends_with('\r');
    let is_of_windows =
        before.contains("\r\n") && before.matches('\n').count() == before.matches("\r\n").count();
    let is_of_unix = before.contains('\n') && !before.contains("\r\n");
    if is_of_windows && !with_end.iter().any(ends_so) {
        with_end.iter().for_each(|at| lines[*at].push('\r'));
    } else if is_of_unix && !with_end.is_empty() && with_end.iter().all(ends_so) {
        body.for_each(|at| lines[at] = lines[at].trim_end_matches('\r').to_owned());
    }
    lines
}

/// `1,2 +1,3 @@`: the first line and how many.
fn range(head: &str) -> Option<(usize, usize)> {
    let old = head.split(' ').next()?;
    let (start, count) = old.split_once(',').unwrap_or((old, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::applied;

    #[test]
    fn a_diff_is_put_over_what_is_there_or_it_does_not_fit() {
        let new = "Index: a\n===\n--- a\n+++ a\n@@ -0,0 +1,1 @@\n+hello\n";
        assert_eq!(applied("", new).as_deref(), Some("hello\n"));
        let change = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
        assert_eq!(applied("a\nb\nc\nd\n", change).as_deref(), Some("a\nB\nc\nd\n"));
        assert_eq!(applied("a\nx\nc\n", change), None);
        let bare = "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
        assert_eq!(applied("a", bare).as_deref(), Some("b"));
        let two = format!("{new}Index: b\n===\n--- b\n+++ b\n@@ -0,0 +1,1 @@\n+hello\n");
        assert_eq!(applied("", &two), None, "it is about two files");
    }

    #[test]
    fn a_diff_takes_the_ends_of_lines_that_the_file_has() {
        let change = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n";
        assert_eq!(applied("a\r\nb\r\n", change).as_deref(), Some("a\r\nB\r\n"));
        assert_eq!(applied("a\nb\n", &change.replace('\n', "\r\n")).as_deref(), Some("a\nB\n"));
        assert_eq!(applied("a\r\nb\n", change), None, "it has both");
        let mixed = "@@ -1,2 +1,2 @@\n-a\n-b\n+a\r\n+B\r\n";
        assert_eq!(applied("a\nb\n", mixed).as_deref(), Some("a\r\nB\r\n"));
    }
}
