//! A shell line taken apart into its simple commands, by the grammar that the servers use.

use tree_sitter::{Node, Parser};

/// A command without pipes, lists and keywords.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// As it stands in the line, with its own redirections.
    pub(super) text: String,
    /// The same with the letters hidden that could be taken for the shell's own.
    pub(super) masked: String,
    /// Its name and its arguments, as far as they are words.
    pub(super) words: Vec<String>,
}

/// A line taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) commands: Vec<SimpleCommand>,
    /// Any file is redirected to or from.
    pub(super) has_redirects: bool,
    /// Text of its own is given to a command.
    pub(super) has_heredoc: bool,
    /// What the grammar can't make sense of, and a line without any command.
    pub(super) unclear: Vec<String>,
}

const WORDS: &[&str] = &["command_name", "word", "string", "raw_string", "concatenation"];
/// Pieces without pieces of their own whose letters are hidden.
const HIDDEN: &[&str] =
    &["word", "number", "string_content", "raw_string", "ansi_c_string", "heredoc_start", "heredoc_body"];

/// The simple commands of a line, in the order of their beginnings.
pub(super) fn parse(line: &str) -> Line {
    let mut parser = Parser::new();
    let mut found = Line::default();
    if parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_err() {
        return found;
    }
    if let Some(tree) = parser.parse(line, None) {
        let root = tree.root_node();
        walk(root, line, &mut found);
        if root.has_error() || found.commands.is_empty() {
            broken(root, line, &mut found.unclear);
            if found.unclear.is_empty() && !line.trim().is_empty() {
                found.unclear.push(line.trim().to_owned());
            }
        }
    }
    found
}

fn walk(node: Node<'_>, line: &str, found: &mut Line) {
    match node.kind() {
        "command" => found.commands.push(command(node, line)),
        "file_redirect" => found.has_redirects = true,
        "heredoc_redirect" => found.has_heredoc = true,
        _ => {}
    }
    children(node).for_each(|child| walk(child, line, found));
}

/// The pieces that are no shell, as far as they name commands.
fn broken(node: Node<'_>, line: &str, found: &mut Vec<String>) {
    let text = text_of(node, line).trim();
    if node.is_error() && names_command(node) && !text.is_empty() {
        found.push(text.to_owned());
    }
    children(node).for_each(|child| broken(child, line, found));
}

fn names_command(node: Node<'_>) -> bool {
    children(node).any(|child| child.kind() == "command_name" || names_command(child))
}

fn command(node: Node<'_>, line: &str) -> SimpleCommand {
    let redirected = node.parent().filter(|parent| parent.kind() == "redirected_statement");
    let whole = redirected.unwrap_or(node);
    let words = children(node).filter(|child| WORDS.contains(&child.kind()));
    let text = text_of(whole, line).trim().to_owned();
    let masked = if whole.has_error() { text.clone() } else { masked(whole, line, false) };
    SimpleCommand { text, masked, words: words.map(|word| text_of(word, line).to_owned()).collect() }
}

/// A piece of the line in which only the shell's own letters mean something.
fn masked(node: Node<'_>, line: &str, one_line: bool) -> String {
    let text = text_of(node, line);
    let is_leaf = node.child_count() == 0;
    if (is_leaf && HIDDEN.contains(&node.kind()))
        || (node.kind() == "file_redirect" && goes_nowhere(node, line))
    {
        return text.chars().map(|letter| if "<>|&;$`\n".contains(letter) { '_' } else { letter }).collect();
    }
    if is_leaf {
        return text.to_owned();
    }
    let one_line = one_line || matches!(node.kind(), "string" | "heredoc_redirect");
    let mut shown = String::new();
    let mut end = node.start_byte();
    for child in children(node) {
        let between = line.get(end..child.start_byte()).unwrap_or_default();
        shown.push_str(&if one_line { between.replace('\n', "_") } else { between.to_owned() });
        shown.push_str(&self::masked(child, line, one_line));
        end = child.end_byte();
    }
    shown.push_str(line.get(end..node.end_byte()).unwrap_or_default());
    shown
}

/// A redirection that reaches no file: to the null device, to another descriptor, or closed.
fn goes_nowhere(node: Node<'_>, line: &str) -> bool {
    let Some(sign) = children(node).find(|child| !child.is_named()) else { return false };
    if matches!(sign.kind(), ">&-" | "<&-") {
        return true;
    }
    let target = children(node).filter(Node::is_named).last().filter(|last| last.kind() != "file_descriptor");
    let Some(target) = target else { return false };
    match sign.kind() {
        ">" | ">>" | ">|" | "&>" | "&>>" | "<" => {
            target.kind() == "word" && text_of(target, line) == "/dev/null"
        }
        ">&" | "<&" => target.kind() == "number" || text_of(target, line) == "-",
        _ => false,
    }
}

fn children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    (0..node.child_count()).filter_map(move |at| node.child(at))
}

fn text_of<'l>(node: Node<'_>, line: &'l str) -> &'l str {
    line.get(node.byte_range()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// The first rows were seen on the real servers, the rest with the grammar itself.
    #[test]
    fn a_line_is_taken_apart_as_the_servers_do_it() {
        for (line, commands) in [
            (
                "cat README.md > copy.txt && echo 'made it; really' | tr a-z A-Z; (git log -n 3 2>/dev/null || ls missing 2>/dev/null)",
                &[
                    "cat README.md > copy.txt",
                    "echo 'made it; really'",
                    "tr a-z A-Z",
                    "git log -n 3 2>/dev/null",
                    "ls missing",
                ][..],
            ),
            ("for i in 1 2; do echo line $i; sleep 1; done", &["echo line $i", "sleep 1"]),
            ("FOO=1 bar \"$(date +%s)\"", &["FOO=1 bar \"$(date +%s)\"", "date +%s"]),
            ("if [ -f x ]; then echo yes; fi", &["echo yes"]),
            ("export A=b; ! grep -q x y", &["grep -q x y"]),
            ("cat <<EOF\nhi\nEOF", &["cat <<EOF\nhi\nEOF"]),
            ("", &[]),
        ] {
            let found = parse(line);
            let texts: Vec<&str> = found.commands.iter().map(|command| command.text.as_str()).collect();
            assert_eq!(texts, commands, "{line}");
        }
        let words = |line: &str| parse(line).commands[0].words.join("|");
        assert_eq!(words("a $x ${y} \"q $z\" pre\"mid\" 7 -n"), "a|\"q $z\"|pre\"mid\"|-n");
    }

    #[test]
    fn what_could_be_taken_for_the_shell_is_hidden() {
        for (line, masked) in [
            ("echo 'made it; really'", "echo 'made it_ really'"),
            ("git log -n 3 2>/dev/null", "git log -n 3 2_/dev/null"),
            ("cat a > b", "cat a > b"),
            ("echo \"a $x; b\nc\"", "echo \"a $x_ b_c\""),
            ("ls 2>&1", "ls 2__1"),
        ] {
            assert_eq!(parse(line).commands[0].masked, masked, "{line}");
        }
    }
}
