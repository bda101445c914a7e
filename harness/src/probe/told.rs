//! A probe as text, JSON and Markdown.

use super::{Probe, Row};
use std::fmt::Write as _;

const HEAD: [&str; 6] = ["agent", "reached", "about", "declared", "effective", "where"];

impl Probe {
    /// For people: what differs, what the files contradict, and on demand all rows.
    #[must_use]
    pub fn text(&self, whole: bool) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}: {} agents of {}", self.by, self.agents.len(), self.folder);
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        let rows: Vec<&Row> =
            self.rows.iter().filter(|row| whole || row.holds == Some(false) || row.is_unseen()).collect();
        if !rows.is_empty() {
            let mut lines = vec![HEAD.map(str::to_owned)];
            lines.extend(rows.iter().map(|row| short(cells(row))));
            let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
            let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
            text.push('\n');
            for (at, line) in lines.iter().enumerate() {
                let mark = match at.checked_sub(1).map(|at| rows[at]) {
                    Some(row) if row.is_unseen() => "? ",
                    Some(row) if row.holds == Some(false) => "! ",
                    _ => "  ",
                };
                let cells: Vec<String> =
                    line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
                let _ = writeln!(text, "{mark}{}", cells.join("  ").trim_end());
            }
        }
        if !self.findings.is_empty() {
            text.push('\n');
            for finding in &self.findings {
                let _ =
                    writeln!(text, "{}:{}: {}: {}", finding.file, finding.line, finding.rule, finding.says);
            }
        }
        let _ = write!(text, "\n{}", self.summary());
        text
    }

    /// For a page or a comment.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Agents of `{}`, {}\n\n{}\n", self.folder, self.by, self.summary());
        let line = |cells: [String; 6]| {
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            format!("| {} |\n", cells.join(" | "))
        };
        if !self.rows.is_empty() {
            text.push('\n');
            text.push_str(&line(HEAD.map(str::to_owned)));
            text.push_str("|---|---|---|---|---|---|\n");
        }
        for row in &self.rows {
            let mut cells = cells(row);
            if row.holds == Some(false) {
                cells[4] = format!("**{}**", cells[4]);
            }
            text.push_str(&line(cells));
        }
        if !self.findings.is_empty() {
            text.push_str("\n## In the files\n\n");
        }
        for finding in &self.findings {
            let _ =
                writeln!(text, "- `{}:{}` {}: {}", finding.file, finding.line, finding.rule, finding.says);
        }
        text
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    fn summary(&self) -> String {
        let differs = self.differences();
        let held = self.rows.iter().filter(|row| row.holds == Some(true)).count();
        let (differ, found) = (count(differs, "differs", "differ"), self.findings.len());
        let found = if found == 1 { "1 finding".to_owned() } else { format!("{found} findings") };
        match self.rows.is_empty() {
            true => format!("{found} in the files"),
            false if self.unseen() > 0 => {
                format!("{held} rows hold, {differ}, {} not seen; {found} in the files", self.unseen())
            }
            false => format!("{held} rows hold, {differ}; {found} in the files"),
        }
    }
}

/// A refusal quotes the rules; a column has no room for them.
fn short(mut cells: [String; 6]) -> [String; 6] {
    const SHOWN: usize = 64;
    if let Some((at, _)) = cells[4].char_indices().nth(SHOWN) {
        cells[4] = format!("{}…", cells[4][..at].trim_end());
    }
    cells
}

fn count(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn cells(row: &Row) -> [String; 6] {
    let declared = row.declared.clone().unwrap_or_else(|| "-".to_owned());
    let at = row.at.clone().unwrap_or_default();
    [row.agent.clone(), row.role.to_owned(), row.about.clone(), declared, row.effective.clone(), at]
}
