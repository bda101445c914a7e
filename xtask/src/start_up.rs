//! `cargo xtask start-up`: which functions the released command runs until it is ready, for the linker to put side by side.
//!
//! The system maps a program by windows of 64 KiB, and whoever touches one function has its window in memory. What is
//! called until the ready line is a fifteenth of the program, and lay in two windows of three; side by side it is a few.
//! The list is a linker script: a line of it that names what there is no more is without effect.

use crate::outcome::Outcome;
use crate::step;
use harness::say;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the list stands; `cli/build.rs` hands it to the linker.
const LIST: &str = "cli/start-up.ld";
/// As users build it.
pub(crate) const BUILD: &[&str] = &["cargo", "build", "--release", "--locked", "--bin", "standin"];
/// As `cargo install` does: a crate may have other features then, and its functions other names.
const BUILD_ALONE: &[&str] = &["cargo", "build", "--release", "--locked", "--package", "cli"];
/// The ways in which it is started.
const WAYS: &[&[&str]] = &[
    &["as", "kilo", "serve", "--port", "0.5"],
    &["as", "opencode", "serve", "--port", "0.5"],
    &["serve", "--profile", "kilo", "--port", "0"],
    &["serve", "--profile", "opencode", "--port", "0"],
];
/// What stands before the address in the line of a server that is ready.
pub(crate) const READY: &str = " listening on ";
/// What begins the part of a name that the compiler computes: sixteen digits.
const DIGITS: &str = "17h";
/// Functions of one name that are not run may come along, up to so many bytes.
const ALONG: u64 = 1_000;

pub(crate) fn run(root: &Path) -> Outcome {
    let mut patterns = BTreeSet::new();
    for build in [BUILD_ALONE, BUILD] {
        let built = step::run(root, build, &[]);
        if built != Outcome::Holds {
            return built;
        }
        match listed(&root.join("target/release/standin")) {
            Ok(listed) => patterns.extend(listed),
            Err(why) => return Outcome::Untestable(why),
        }
    }
    match fs::write(root.join(LIST), script(&patterns)) {
        Ok(()) => {
            say!("written: {LIST}: {} lines", patterns.len());
            Outcome::Holds
        }
        Err(error) => Outcome::Fails(format!("failed to write {LIST}: {error}")),
    }
}

fn listed(program: &Path) -> Result<BTreeSet<String>, String> {
    let named = Command::new("nm").args(["--print-size", "--defined-only"]).arg(program).output();
    let named =
        named.map_err(|error| format!("nm could not be started: {error}; it comes with a C compiler"))?;
    let sizes = sizes(&String::from_utf8_lossy(&named.stdout));
    let mut called = BTreeSet::new();
    for way in WAYS {
        called.extend(calls(&observed(program, way)?));
    }
    called.retain(|name| sizes.contains_key(name));
    if called.is_empty() {
        return Err(format!("{} has no names; was it stripped?", program.display()));
    }
    let bytes: u64 = called.iter().filter_map(|name| sizes.get(name)).sum();
    say!("{} functions are called until it is ready, {} KiB", called.len(), bytes / 1024);
    Ok(patterns(&called, &sizes))
}

/// Starts it, ends it when it is ready, and returns what was called, in the words of callgrind.
fn observed(program: &Path, way: &[&str]) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", way.join(" "));
    let home = std::env::temp_dir().join(format!("standin-start-up-{}", std::process::id()));
    fs::create_dir_all(&home).map_err(failed)?;
    let out = home.join("calls");
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(way)
        .current_dir(&home)
        .env("HOME", &home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("valgrind could not be started: {error}; is it installed?"))?;
    let lines = child.stdout.take().map(|stdout| BufReader::new(stdout).lines());
    let mut lines = lines.into_iter().flatten().map_while(Result::ok);
    let is_ready = lines.any(|line| line.contains(READY));
    if is_ready {
        kill_process(Pid::from_child(&child), Signal::TERM).map_err(|error| failed(error.into()))?;
    }
    lines.for_each(drop);
    child.wait().map_err(failed)?;
    let calls = fs::read_to_string(&out);
    fs::remove_dir_all(&home).map_err(failed)?;
    match is_ready {
        true => calls.map_err(failed),
        false => Err(format!("{}: it ended before it was ready", way.join(" "))),
    }
}

/// The functions in a report of callgrind: each is named where it stands first, and numbered from then on.
fn calls(report: &str) -> BTreeSet<String> {
    let names = report.lines().filter_map(|line| {
        let named = line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn="))?;
        named.split_once(") ").map(|(_, name)| name)
    });
    // Who calls itself has a number behind its name.
    names.map(|name| name.split('\'').next().unwrap_or(name).to_owned()).collect()
}

/// How long each function is, from the lines of nm: address, size, kind and name.
fn sizes(lines: &str) -> BTreeMap<String, u64> {
    let sizes = lines.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let size = u64::from_str_radix(words.next()?, 16).ok()?;
        matches!(words.next()?, "t" | "T" | "w" | "W").then_some(())?;
        Some((words.next()?.to_owned(), size))
    });
    sizes.collect()
}

/// A name without the compiler's digits, when it has some.
fn stem(name: &str) -> Option<&str> {
    let (stem, digits) = name.rsplit_once(DIGITS)?;
    let is_whole = digits.get(..16).is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (is_whole && digits[16..].starts_with('E')).then(|| &name[..stem.len() + DIGITS.len()])
}

/// The digits change with the compiler and with what a crate is built of. They stand where only they tell functions
/// apart that are called from those that are not.
fn patterns(called: &BTreeSet<String>, sizes: &BTreeMap<String, u64>) -> BTreeSet<String> {
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, size) in sizes.iter().filter(|(name, _)| !called.contains(*name)) {
        *others.entry(stem(name).unwrap_or(name)).or_default() += size;
    }
    called
        .iter()
        .map(|name| match stem(name) {
            Some(stem) if others.get(stem).is_none_or(|size| *size <= ALONG) => format!("{stem}*"),
            // What the optimizer appends is no part of a section's name everywhere.
            _ => match name.split_once(".llvm.") {
                Some((name, _)) => format!("{name}*"),
                None => name.clone(),
            },
        })
        .collect()
}

fn script(patterns: &BTreeSet<String>) -> String {
    let mut script = String::from(
        "/* What the released command calls until it is ready, side by side. Written by `cargo xtask start-up`. */\n\
         SECTIONS\n{\n  .text.start_up :\n  {\n",
    );
    for pattern in patterns {
        let _ = writeln!(script, "    *(.text.{pattern} .text.unlikely.{pattern})");
    }
    script.push_str("  }\n}\nINSERT BEFORE .text;\n");
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    const NM: &str = "\
0000000000001000 0000000000000010 t _ZN1a3run17h0123456789abcdefE
0000000000001010 0000000000000400 T _ZN1a3run17hfedcba9876543210E
0000000000002000 0000000000000020 t _ZN1b3two17h0123456789abcdefE.llvm.77
0000000000003000 0000000000000030 t _RNvC1c3one
0000000000004000 0000000000000030 r not_a_function
0000000000005000 t without_a_size
";

    #[test]
    fn the_list_is_as_it_is_written() {
        let list = fs::read_to_string(crate::root().join(LIST)).unwrap();
        let pattern = |line: &str| Some(line.trim().strip_prefix("*(.text.")?.split_once(' ')?.0.to_owned());
        let listed: BTreeSet<String> = list.lines().filter_map(pattern).collect();
        assert!(listed.iter().any(|one| one.contains("mock_server")), "{} lines", listed.len());
        assert_eq!(list, script(&listed), "edited by hand? `cargo xtask start-up` writes it");
    }

    #[test]
    fn a_name_is_told_by_its_digits_only_where_they_tell_it_apart() {
        let report = "fn=(1) _ZN1a3run17h0123456789abcdefE\ncfn=(2) _ZN1b3two17h0123456789abcdefE.llvm.77'2\n\
                      calls=1 0\nfn=(1)\nfn=(3) _RNvC1c3one\nfn=(4) elsewhere\n";
        let sizes = sizes(NM);
        assert_eq!(sizes.len(), 4);
        let mut called = calls(report);
        assert_eq!(called.len(), 4);
        called.retain(|name| sizes.contains_key(name));
        let script = script(&patterns(&called, &sizes));
        let lines: Vec<&str> = script.lines().filter(|line| line.contains("*(")).map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "*(.text._RNvC1c3one .text.unlikely._RNvC1c3one)",
                "*(.text._ZN1a3run17h0123456789abcdefE .text.unlikely._ZN1a3run17h0123456789abcdefE)",
                "*(.text._ZN1b3two17h* .text.unlikely._ZN1b3two17h*)",
            ]
        );
    }
}
