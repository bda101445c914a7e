//! The clients of the control API in other languages: each does all that it can, against a stand-in that serves. What
//! stands beside them is held against the corpora.

use crate::outcome::Outcome;
use crate::step;
use harness::machine::Machine;
use std::fs;
use std::path::Path;

/// What compiles TypeScript, and the types of the platform; installed outside the repository.
const COMPILER: [&str; 2] = ["typescript@5", "@types/node@20"];

/// The program that they are run against: the build puts it beside this one, wherever that is.
pub(crate) fn program() -> Result<String, Outcome> {
    let own = std::env::current_exe()
        .map_err(|error| Outcome::Untestable(format!("failed to find the own program: {error}")))?;
    let name = format!("standin{}", std::env::consts::EXE_SUFFIX);
    Ok(own.with_file_name(name).display().to_string())
}

pub(crate) fn python(root: &Path) -> Outcome {
    match program() {
        Ok(program) => in_order(
            root,
            &[
                BUILD,
                &["python3", "clients/tests/control.py", &program],
                &["python3", "clients/tests/paths.py", &program],
                &["python3", "clients/tests/commands.py", &program],
            ],
        ),
        Err(outcome) => outcome,
    }
}

pub(crate) fn typescript(root: &Path) -> Outcome {
    let program = match program() {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    let out = root.join("target/control-client");
    let made = fs::create_dir_all(&out)
        .and_then(|()| fs::write(out.join("package.json"), "{\"type\": \"module\"}\n"));
    if let Err(error) = made {
        return Outcome::Untestable(format!("failed to make a folder for TypeScript: {error}"));
    }
    let files = [
        "clients/standin.ts",
        "clients/tests/control.ts",
        "clients/tests/paths.ts",
        "clients/tests/errors.ts",
    ];
    let built = in_order(root, &[BUILD]);
    if built != Outcome::Holds {
        return built;
    }
    let compiled = compile(root, &files, &["--rootDir", "clients", "--outDir", "target/control-client"]);
    if compiled != Outcome::Holds {
        return compiled;
    }
    in_order(
        root,
        &[
            &["node", "target/control-client/tests/control.js", &program],
            &["node", "target/control-client/tests/paths.js", &program],
            &["node", "target/control-client/tests/errors.js", &program],
        ],
    )
}

/// Compiles files of a folder, strictly; the compiler is installed when it is not there.
pub(crate) fn compile(folder: &Path, files: &[&str], more: &[&str]) -> Outcome {
    let tools = Machine::of_this_process().default_npm_dir().join("typescript");
    if let Err(error) = fs::create_dir_all(&tools) {
        return Outcome::Untestable(format!("failed to make a folder for TypeScript: {error}"));
    }
    let tools = tools.display().to_string();
    let compiler = format!("{tools}/node_modules/.bin/tsc");
    let types = format!("{tools}/node_modules/@types");
    let mut install = vec!["npm", "install", "--silent", "--prefix", &tools];
    install.extend(COMPILER);
    let mut compile = vec![&*compiler, "--typeRoots", &types];
    compile.extend(STRICTLY);
    compile.extend(more);
    compile.extend(files);
    in_order(folder, &[&install, &compile])
}

/// How TypeScript is compiled: as its users do who want to hear everything.
const STRICTLY: [&str; 13] = [
    "--strict",
    "--noUncheckedIndexedAccess",
    "--skipLibCheck",
    "--target",
    "es2022",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2022,dom,dom.asynciterable",
    "--types",
    "node",
];

/// The program, built.
pub(crate) fn built(root: &Path) -> Outcome {
    in_order(root, &[BUILD])
}

const BUILD: &[&str] = &["cargo", "build", "--quiet", "--package", "cli"];

/// Each step needs the one before.
fn in_order(root: &Path, steps: &[&[&str]]) -> Outcome {
    let outcomes = steps.iter().map(|line| step::run(root, line, &[]));
    outcomes.into_iter().find(|outcome| *outcome != Outcome::Holds).unwrap_or(Outcome::Holds)
}
