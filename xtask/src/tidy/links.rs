//! Rule: a relative link in a Markdown file leads to a file of the repository.

use super::Finding;
use super::markdown;
use super::repo::Repo;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.texts(".md") {
        for line in markdown::lines(text).into_iter().filter(|line| !line.is_code) {
            for link in links(line.text) {
                let Some(target) = relative(&link) else { continue };
                if !resolve(path, target).is_some_and(|target| repo.has(&target)) {
                    let wrong = format!("the link to `{link}` leads nowhere");
                    let mend = "correct it, or add the file; git must know it";
                    findings.push(Finding::at(path, line.number, wrong, mend));
                }
            }
        }
    }
    findings
}

/// The targets of `[text](target)`, and of `[name]: target` at the start of a line; not inside inline code.
fn links(line: &str) -> Vec<String> {
    let prose = without_inline_code(line);
    let definition = prose.trim_start().strip_prefix('[').and_then(|rest| Some(rest.split_once("]:")?.1));
    let definition = definition.into_iter();
    let inline =
        prose.match_indices("](").map(|(at, _)| prose[at + 2..].split(')').next().unwrap_or_default());
    definition.chain(inline).filter_map(target).collect()
}

/// The target without a title and without angle brackets.
fn target(text: &str) -> Option<String> {
    let text = text.trim();
    let target = match text.strip_prefix('<') {
        Some(bracketed) => bracketed.split('>').next(),
        None => text.split_whitespace().next(),
    };
    target.map(str::to_owned)
}

/// The path of a link inside the repository, without its anchor; `None` for web addresses and bare anchors.
fn relative(link: &str) -> Option<&str> {
    let scheme = link.split_once(':').map(|(scheme, _)| scheme);
    let is_address = scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric()));
    let path = link.split('#').next().unwrap_or_default();
    (!is_address && !path.is_empty()).then_some(path)
}

/// The path from the root; `None` if it leads out of the repository.
fn resolve(file: &str, link: &str) -> Option<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let start = if link.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(link.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn without_inline_code(line: &str) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    let closed = pieces.len() % 2 == 1;
    let prose = pieces.iter().enumerate().filter(|(index, _)| !closed || index % 2 == 0);
    prose.map(|(_, piece)| *piece).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn a_link_that_leads_nowhere() {
        let told = told(
            check,
            &[
                ("docs/a.md", "# A\n[b](b.md) [c](../c.md#top \"C\") [gone](gone.md)\n\n[out]: ../../c.md\n"),
                (
                    "docs/b.md",
                    "[a](/docs/a.md) [folder](../docs/) [web](https://example.org/x) [here](#here)\n",
                ),
                ("c.md", "`[x](y)` [gone](<gone too.md>)\n```\n[x](y)\n```\n"),
            ],
        );
        assert_eq!(
            told,
            [
                "c.md:1: the link to `gone too.md` leads nowhere; correct it, or add the file; git must know it",
                "docs/a.md:2: the link to `gone.md` leads nowhere; correct it, or add the file; git must know it",
                "docs/a.md:4: the link to `../../c.md` leads nowhere; correct it, or add the file; git must know it",
            ]
        );
    }
}
