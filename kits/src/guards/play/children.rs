//! What programs were started with, as everybody on the machine can read it. Where the system does not tell, nothing is seen.

use super::super::key;
use super::Stage;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The parent of what the system itself runs, which never has words.
const KERNEL: i32 = 2;
/// So often is looked for the words of a process that should have some.
const LOOKS_MAX: u32 = 1000;

/// A process: whose child it is, of which group, and with which words it was started.
struct Process {
    parent: i32,
    group: i32,
    words: String,
}

impl Stage<'_> {
    /// Among the words of which of the adapter's children the key stands just now. An adapter within this process shares it with
    /// others: there a child is its own that is told the address of this case.
    pub(super) fn look_at_children(&self, url: &str) {
        let all = processes();
        if all.is_empty() {
            return;
        }
        let adapter = self.scene.program_number();
        let is_own = |number: i32, process: &Process| match adapter {
            Some(adapter) => process.group == adapter || descends(&all, number, adapter),
            None => process.words.contains(url),
        };
        let told = all.iter().filter(|(number, process)| {
            Some(**number) != adapter && key::stands_in(&process.words) && is_own(**number, process)
        });
        let program = |process: &Process| process.words.split(' ').next().unwrap_or_default().to_owned();
        let told: Vec<String> = told.map(|(_, process)| program(process)).collect();
        self.scene.witness("key-told-to", &json!(told));
    }
}

fn descends(all: &BTreeMap<i32, Process>, number: i32, adapter: i32) -> bool {
    let parent = |number: &i32| all.get(number).map(|process| process.parent).filter(|parent| *parent > 1);
    std::iter::successors(Some(number), parent).skip(1).any(|parent| parent == adapter)
}

/// All processes of the machine, by their numbers; none where neither the system nor `ps` tells.
fn processes() -> BTreeMap<i32, Process> {
    let told = by_files();
    if told.is_empty() { by_ps() } else { told }
}

fn by_ps() -> BTreeMap<i32, Process> {
    let told = Command::new("ps").args(["-axww", "-o", "pid=,ppid=,pgid=,args="]).output();
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let read = |line: &str| {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse::<i32>().ok();
        let (own, parent, group) = (number()?, number()?, number()?);
        Some((own, Process { parent, group, words: words.collect::<Vec<_>>().join(" ") }))
    };
    told.lines().filter_map(read).collect()
}

fn by_files() -> BTreeMap<i32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name of the program stands in brackets, and may have any letters.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let has_words = state != "Z" && ![0, KERNEL].contains(&parent);
        let words = words_in(&entry.path().join("cmdline"), has_words)?;
        Some((number, Process { parent, group, words }))
    };
    entries.filter_map(read).collect()
}

/// What a process was started with. One that has just begun has no words yet, for a moment.
fn words_in(file: &Path, has_words: bool) -> Option<String> {
    let read = || fs::read(file).ok();
    let mut words = read()?;
    for _ in 0..LOOKS_MAX {
        if !has_words || !words.is_empty() {
            break;
        }
        std::thread::yield_now();
        words = read()?;
    }
    Some(String::from_utf8_lossy(&words).replace('\0', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_among_all() {
        let own = i32::try_from(std::process::id()).unwrap();
        for told in [by_files(), by_ps()].into_iter().filter(|told| !told.is_empty()) {
            assert!(told[&own].words.contains("kits"), "{}", told[&own].words);
        }
    }

    #[test]
    fn a_child_of_a_child_descends() {
        let process = |parent| Process { parent, group: 0, words: String::new() };
        let all = BTreeMap::from([(1, process(0)), (10, process(1)), (11, process(10)), (12, process(11))]);
        assert!(descends(&all, 12, 10) && descends(&all, 11, 10));
        assert!(!descends(&all, 10, 10) && !descends(&all, 12, 1) && !descends(&all, 99, 10));
    }
}
