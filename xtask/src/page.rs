//! The page of a report in a real browser: its filters, its links, narrow, dark and printed. For `--extra chromium`.
//!
//! A small gate is run for two adapters, one of them broken. The page is given a script that uses it as a person does
//! and writes down what it sees; the browser is asked for the page as it is then.

use crate::outcome::Outcome;
use harness::say;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The names under which the browser may stand.
pub(crate) const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Uses the page, and writes what it sees into an element of its own.
const PERSON: &str = include_str!("page/person.js");

/// What the person has to see; each line is written by the script.
const SEEN: [&str; 13] = [
    "filters are shown",
    "everything is shown at first",
    "a search finds what it names",
    "a search for nothing hides all",
    "a search narrows the cells, too",
    "a bullet inside of a range is found",
    "an area narrows the requirements",
    "an adapter can be looked at alone",
    "every requirement is printed",
    "a state that is not wanted is hidden",
    "a link opens its cell",
    "nothing is wider than the window",
    "the keys reach every control",
];

pub(crate) fn run(root: &Path) -> Outcome {
    match look(root) {
        Ok(()) => Outcome::Holds,
        Err(why) => Outcome::Fails(why),
    }
}

fn look(root: &Path) -> Result<(), String> {
    let folder = root.join("target/page");
    let _gone = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("failed to make {}: {error}", folder.display()))?;
    let page = made(root, &folder)?;
    let text = fs::read_to_string(&page).map_err(|error| format!("failed to read the page: {error}"))?;
    let used = folder.join("used.html");
    fs::write(&used, text.replace("</body>", &format!("<script>{PERSON}</script></body>")))
        .map_err(|error| format!("failed to write {}: {error}", used.display()))?;
    for (window, scheme) in [("1280,900", "light"), ("1280,900", "dark"), ("360,740", "light")] {
        let dark = format!("--force-dark-mode={}", scheme == "dark");
        let dom = browser(&folder, &[&format!("--window-size={window}"), &dark, "--dump-dom"], &used)?;
        let dom = String::from_utf8_lossy(&dom.stdout).into_owned();
        for seen in SEEN {
            if !dom.contains(&format!("<li>yes: {seen}</li>")) {
                let told = dom.split("<ul id=\"seen\">").nth(1).unwrap_or("the script did not run");
                let told: String = told.chars().take(2000).collect();
                return Err(format!("in a window of {window}, {scheme}: not so: {seen}\n{told}"));
            }
        }
        let picture = folder.join(format!("{scheme}-{}.png", window.replace(',', "x")));
        let shot = format!("--screenshot={}", picture.display());
        browser(&folder, &[&format!("--window-size={window}"), &dark, &shot], &page)?;
        is_there(&picture)?;
        say!("{window}, {scheme}: {} things seen; {}", SEEN.len(), picture.display());
    }
    let printed = folder.join("printed.pdf");
    browser(&folder, &[&format!("--print-to-pdf={}", printed.display())], &page)?;
    is_there(&printed)?;
    say!("printed: {}", printed.display());
    Ok(())
}

/// A page with a reference that passes and a mutant that fails, side by side.
fn made(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let standin = |words: &[&str], fine: &[i32]| {
        let words = ["run", "--quiet", "--locked", "--package", "cli", "--"].iter().chain(words);
        let output = Command::new("cargo").args(words).current_dir(root).output();
        let output = output.map_err(|error| format!("cargo could not be started: {error}"))?;
        match output.status.code() {
            Some(code) if fine.contains(&code) => Ok(()),
            _ => Err(format!("standin: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
        }
    };
    let place = |name: &str| folder.join(name).display().to_string();
    // The program is the reference as any other client is: without the mutants, which take their time.
    let adapter = "target/debug/standin adapter";
    standin(&["gate", "--phase", "0", "--adapter", adapter, "--out", &place("good")], &[0])?;
    standin(&["gate", "--phase", "0", "--mutant", "believes_yes", "--out", &place("bad")], &[1])?;
    let reports = [place("good/report.json"), place("bad/report.json")];
    standin(&["report", "merge", &reports[0], &reports[1], "--out", &place("both")], &[1])?;
    Ok(folder.join("both/report.html"))
}

fn browser(folder: &Path, words: &[&str], page: &Path) -> Result<Output, String> {
    let name = BROWSERS.into_iter().find(|name| crate::step::answers(&[name, "--version"]));
    let name = name.ok_or("no browser is on the PATH")?;
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let common = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", &profile];
    let url = format!("file://{}", page.display());
    let output = Command::new(name).args(common).args(words).arg(url).output();
    let output = output.map_err(|error| format!("{name} could not be started: {error}"))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// A picture or a print of something.
fn is_there(file: &Path) -> Result<(), String> {
    /// An empty page is smaller.
    const LEAST: u64 = 10_000;
    match fs::metadata(file) {
        Ok(found) if found.len() >= LEAST => Ok(()),
        Ok(found) => Err(format!("{} has {} bytes: it shows nothing", file.display(), found.len())),
        Err(error) => Err(format!("failed to find {}: {error}", file.display())),
    }
}
