//! What a file will be: a diff in the servers' spelling, over the content that is there.

/// `None` when the diff does not fit.
pub(super) fn applied(before: &str, diff: &str) -> Option<String> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut at = 0;
    let mut lines = diff.lines().peekable();
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
            let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            if mark == "@" || line.starts_with("Index: ") {
                break;
            }
            lines.next();
            let ends_bare = lines.peek().is_some_and(|next| next.starts_with("\\ "));
            if ends_bare {
                lines.next();
            }
            match mark {
                "+" => {
                    new.push_str(text);
                    new.push_str(if ends_bare { "" } else { "\n" });
                }
                " " | "-" => {
                    let there = old.get(at)?;
                    if there.trim_end_matches('\n') != text {
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
    }
}
