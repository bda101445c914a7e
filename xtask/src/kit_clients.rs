//! Who is judged by kits for `cargo xtask adapters`: clients of agents, naive ones on the official SDKs and acpx as a command;
//! and a careful guard and a careful runner, which are there to be copied.

use crate::adapters::{Judged, in_words, runtime, untestable};
use crate::control_clients;
use crate::outcome::Outcome;
use crate::step;
use futures_util::StreamExt as _;
use harness::clock::Limits;
use harness::complain;
use harness::judge::Verdict;
use harness::report::kit::KitCell;
use indicatif::ProgressBar;
use kits::gate::{Subject, load};
use recorder::real_servers;
use std::path::Path;

/// The SDK that the adapter in Python is written on.
const SDK: &str = "agent-client-protocol";
const SDK_VERSION: &str = "0.12.1";
/// A client that is a command.
const ACPX: (&str, &str) = ("acpx", "0.19.1");
/// The rest of the words, where programs are looked for in the first of them, too.
const FINDS: &str = "PATH=\"$0:$PATH\" exec \"$@\"";
/// Programs of interpreters: more of them at once are too slow to be judged.
const AT_ONCE: usize = 4;

/// The adapter in Python, with its SDK in an environment of its own.
pub(crate) fn python(root: &Path, npm_dir: &Path) -> Result<Judged, Outcome> {
    let place = npm_dir.join("clients/acp-python");
    let (place, python) = (place.display().to_string(), place.join("bin/python").display().to_string());
    let is_there =
        format!("import importlib.metadata as of, sys; sys.exit(of.version('{SDK}') != '{SDK_VERSION}')");
    if !step::answers(&[&python, "-c", &is_there]) {
        let wanted = format!("{SDK}=={SDK_VERSION}");
        let steps: [&[&str]; 2] =
            [&["python3", "-m", "venv", &place], &[&python, "-m", "pip", "install", "--quiet", &wanted]];
        for line in steps {
            if step::run(root, line, &[]) != Outcome::Holds {
                return Err(untestable(format!("{SDK} {SDK_VERSION} can't be installed by pip")));
            }
        }
    }
    judged(
        root,
        "acp",
        "naive.py",
        &python,
        &[&root.join("adapters/acp-python/naive.py").display().to_string()],
    )
}

/// `acpx exec`, as adapters/acpx/acpx.toml has it.
pub(crate) fn acpx(root: &Path, npm_dir: &Path) -> Result<Judged, Outcome> {
    let clients = npm_dir.join("clients");
    let found = real_servers::library(ACPX.0, ACPX.1, &clients, |what| complain!("{what}"));
    found.map_err(|error| untestable(error.to_string()))?;
    let programs = std::path::absolute(clients.join("node_modules/.bin"));
    let programs = programs.map_err(|error| untestable(format!("the folder of npm: {error}")))?;
    let (programs, standin) = (programs.display().to_string(), control_clients::program()?);
    let file = root.join("adapters/acpx/acpx.toml").display().to_string();
    let words = ["-c", FINDS, &programs, &standin, "adapter", "--kit", "acp", "--commands", &file];
    judged(root, "acp", "acpx exec", "sh", &words)
}

/// The guard.
pub(crate) fn guard(root: &Path) -> Result<Judged, Outcome> {
    let file = root.join("adapters/guard/guard.py").display().to_string();
    judged(root, "guards", "guard.py", "python3", &[&file])
}

/// The runner, as adapters/pipeline-runner/runner.toml has it.
pub(crate) fn runner(root: &Path) -> Result<Judged, Outcome> {
    let folder = root.join("adapters/pipeline-runner");
    let place = format!("PIPELINE_RUNNER={}", folder.join("runner.py").display());
    let (file, standin) = (folder.join("runner.toml").display().to_string(), control_clients::program()?);
    let words = [&place, &standin, "adapter", "--kit", "pipeline", "--commands", &file];
    judged(root, "pipeline", "runner.py", "env", &words)
}

/// An adapter through a kit's cases.
pub(crate) fn judged(
    root: &Path,
    kit: &str,
    name: &str,
    program: &str,
    args: &[&str],
) -> Result<Judged, Outcome> {
    let built = control_clients::built(root);
    if built != Outcome::Holds {
        return Err(built);
    }
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    let subject = Subject::Program { program: program.into(), args };
    let kit = kits::find(kit).ok_or_else(|| untestable(format!("there is no kit {kit}")))?;
    let matrix = harness::matrix::embedded().map_err(|error| untestable(error.to_string()))?;
    let loaded = load(kit, &matrix).map_err(|error| untestable(error.to_string()))?;
    let bar = ProgressBar::new(u64::try_from(loaded.cases.len()).unwrap_or(0));
    let limits = Limits::default();
    let mut cells: Vec<KitCell> = runtime()?.block_on(async {
        let runs = loaded.cases.iter().map(|case| async {
            let finished = loaded.cell(case, &subject, &limits).await;
            bar.inc(1);
            finished.cell
        });
        futures_util::stream::iter(runs).buffer_unordered(AT_ONCE).collect().await
    });
    bar.finish_and_clear();
    cells.sort_by(|a, b| a.case.cmp(&b.case));
    Ok(of_cells(name, &cells))
}

fn of_cells(name: &str, cells: &[KitCell]) -> Judged {
    let count = |verdict: Verdict| cells.iter().filter(|cell| cell.verdict == verdict).count();
    let asked = cells.len() - count(Verdict::Unsupported);
    let unseen: Vec<&KitCell> = cells.iter().filter(|cell| cell.verdict == Verdict::HarnessError).collect();
    let row = |cell: &KitCell| {
        let failing = cell.checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
        let words = in_words(cell.verdict, failing.map(|judged| judged.check.as_str()), &cell.troubles);
        vec![cell.case.clone(), cell.verdict.to_string(), words]
    };
    Judged {
        summary: format!(
            "{} of {asked} pass with {name}, {} are not asked of it",
            count(Verdict::Pass),
            count(Verdict::Unsupported)
        ),
        rows: cells.iter().map(row).collect(),
        columns: &["case", "verdict", "what fails"],
        unseen: unseen
            .first()
            .map(|first| (unseen.len(), first.troubles.first().cloned().unwrap_or_default())),
    }
}
