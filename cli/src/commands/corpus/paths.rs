//! `standin corpus paths`: paths that lead out of a workspace.

use super::{Format, cases_of, named_or};
use crate::commands::{Failure, Outcome, writable_folder};
use clap::{Args, ValueEnum};
use fixtures::error::FileError;
use fixtures::paths::Policy;
use fixtures::paths::told::{self, Told};
use harness::complain;
use mock_server::paths::{Machine, NotMade, make};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which paths, and how they are told.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case has a path, the roots in which a tool may work, and the verdict of each policy: inside,
outside, or not-applicable with the reason. docs/path-corpus.md has tests in Python and TypeScript.

    standin corpus paths --policy lexical --format json
    standin corpus paths --kind dots --kind prefix-sibling
    standin corpus paths --policy realpath --make /tmp/paths --format json

What `realpath` asks needs files and links: --make makes them, each case in a folder of its own, and the
paths told are those."
)]
pub(super) struct Paths {
    /// What is told of each case; without it, all policies.
    #[arg(long, value_enum)]
    policy: Vec<PolicyWord>,
    /// Paths of this kind alone; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Make the files and links of every case below this folder, which is empty or not there yet.
    #[arg(long, value_name = "FOLDER")]
    make: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyWord {
    /// By its text: `.` and `..` are folded, links are not looked at.
    Lexical,
    /// By where it leads on the disk.
    Realpath,
    /// By its text, as Windows reads it.
    Windows,
}

impl From<PolicyWord> for Policy {
    fn from(word: PolicyWord) -> Self {
        match word {
            PolicyWord::Lexical => Self::Lexical,
            PolicyWord::Realpath => Self::Realpath,
            PolicyWord::Windows => Self::Windows,
        }
    }
}

pub(super) fn run(arguments: &Paths) -> Outcome {
    let policies = named_or(arguments.policy.iter().map(|word| (*word).into()), Policy::ALL);
    let cases = cases_of(&arguments.kind)?.into_iter();
    let mut all: Vec<Told> = cases.map(|case| Told::new(case, &policies)).collect();
    if let Some(folder) = &arguments.make {
        if !policies.contains(&Policy::Realpath) {
            let why =
                "only the policy realpath looks at the disk: leave --make out, or add --policy realpath";
            return Err(Failure::Misuse(why.to_owned()));
        }
        put(&mut all, folder)?;
    }
    arguments.format.say(|| told::text(&all), || told::json(&all), || told::csv(&all));
    Ok(ExitCode::SUCCESS)
}

/// Makes all cases below a folder; what the disk can't have is told as not applicable.
fn put(all: &mut [Told], folder: &Path) -> Result<(), Failure> {
    writable_folder(folder, "--make")?;
    let failed = |error| Failure::CouldNot(FileError::io(folder, "look into it", &error).to_string());
    if folder.read_dir().map_err(failed)?.next().is_some() {
        let why = format!("{} is not empty: name a new folder with --make, or empty it", folder.display());
        return Err(Failure::Misuse(why));
    }
    let could_not = |error: FileError| Failure::CouldNot(error.to_string());
    let machine = Machine::probed(folder).map_err(could_not)?;
    let mut left_out = 0;
    for told in all {
        let case = told.case();
        match make(case, &folder.join(&case.kind).join(&case.name), &machine) {
            Ok(made) => told.stands(made.asked()),
            Err(NotMade::NotApplicable(reason)) => {
                told.can_not_stand(&reason);
                left_out += 1;
            }
            Err(NotMade::Failed(error)) => return Err(could_not(error)),
        }
    }
    if left_out > 0 {
        complain!("standin: note: {left_out} cases can't be on this disk; their verdict is not-applicable");
    }
    Ok(())
}
