//! `cargo xtask providers`: what a release knows of providers and their models, asked from the real server.
//!
//! Too much for a recording: thousands of models. So it is kept once for each release, in a file with a line for each
//! provider, and of a provider that somebody has a key for only what is otherwise then. It is packed: `gzip -dc` shows it.

use crate::outcome::Outcome;
use crate::pinned;
use clap::Args;
use fixtures::ServerKind;
use fixtures::recording::{Line, Recording};
use fixtures::scenario::Scenario;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use harness::machine::Machine;
use harness::performance::{Piece, Program};
use harness::say;
use recorder::Limits;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// What is told of a provider whose key somebody has given, and follows from that.
const FOLLOWS: &[&str] = &["key", "source", "metadata", "models"];

/// Ask the real servers for the providers that they know, and compare with what is kept.
#[derive(Debug, Args)]
#[command(after_help = "Without --update nothing is written:

    cargo xtask providers
    cargo xtask providers --server kilo --update

Exit codes: 0 equal, or written; 1 something differs; 2 misuse; 3 a server can't be had.")]
pub(crate) struct Arguments {
    /// Only this server: kilo or opencode.
    #[arg(long)]
    server: Option<ServerKind>,
    /// Write what differs.
    #[arg(long)]
    update: bool,
    /// The folder whose node_modules hold the servers; made and filled when absent [default: the user's cache].
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let machine = Machine::of_this_process();
    let servers = arguments.server.map_or_else(|| ServerKind::ALL.to_vec(), |server| vec![server]);
    let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
    let of_server = |server: ServerKind| match pinned::program(server, &npm_dir, &machine) {
        Ok(program) => compare(server, &program, root, arguments.update).unwrap_or_else(Outcome::Fails),
        Err(why) => Outcome::Untestable(why),
    };
    Outcome::of_all(servers.into_iter().map(of_server))
}

fn compare(server: ServerKind, program: &Program, root: &Path, update: bool) -> Result<Outcome, String> {
    let text = asked(server, program)?;
    let path = root.join("fixtures/recordings").join(server.release()).join("providers.json.gz");
    if std::fs::read(&path).is_ok_and(|kept| unpacked(&kept).is_ok_and(|kept| kept == text)) {
        say!("✓ {server}: equal");
        return Ok(Outcome::Holds);
    }
    if !update {
        return Err(format!("{} is not what {server} says; --update replaces it", path.display()));
    }
    let packed = packed(&text).map_err(|error| format!("failed to pack the list: {error}"))?;
    std::fs::write(&path, packed).map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    say!("✓ {server}: written: {}", path.display());
    Ok(Outcome::Holds)
}

fn unpacked(packed: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).map(|_| text)
}

fn packed(text: &str) -> std::io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

fn asked(server: ServerKind, program: &Program) -> Result<String, String> {
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("failed to start a runtime: {error}"))?;
    let perform = |steps: &str| {
        let text = format!("about = \"Its providers.\"\n\n[user]\nsteps = [\n{steps}]\n");
        let scenario =
            Scenario::parse(Path::new("providers.toml"), &text).map_err(|error| error.to_string())?;
        let piece = Piece { name: "server/providers".to_owned(), scenario, server };
        let performed = runtime.block_on(piece.by_program(program, &Limits::default()));
        performed.map(|performed| performed.recording).map_err(|error| error.to_string())
    };
    let fresh = answer(&perform("  { request = \"GET /provider\" },\n")?, "/provider")?;
    let mut steps = String::new();
    for id in ids(&fresh) {
        let key = "json = { type = \"api\", key = \"k\" }";
        let _ = writeln!(steps, "  {{ request = \"PUT /auth/{id}\", {key} }},");
    }
    // Keys are looked at when an instance begins.
    for last in ["POST /instance/dispose", "GET /provider", "GET /config/providers"] {
        let _ = writeln!(steps, "  {{ request = \"{last}\" }},");
    }
    let performed = perform(&steps)?;
    let usable = answer(&performed, "/config/providers")?;
    Ok(told(&fresh, &answer(&performed, "/provider")?, &usable["providers"]))
}

fn answer(recording: &Recording, path: &str) -> Result<Value, String> {
    let mut asked = None;
    for line in &recording.lines {
        match line {
            Line::Request(request) if request.path == path => asked = Some(request.exchange),
            Line::Response(response) if asked == Some(response.exchange) => {
                return response.body.json().ok_or_else(|| format!("GET {path}: {}", response.status));
            }
            _ => {}
        }
    }
    Err(format!("GET {path} was not answered"))
}

/// All but the one that this run has made.
fn of_release(list: &Value) -> impl Iterator<Item = &Value> {
    list["all"].as_array().into_iter().flatten().filter(|provider| provider["id"] != "fake")
}

fn ids(list: &Value) -> impl Iterator<Item = &str> {
    of_release(list).filter_map(|provider| provider["id"].as_str())
}

/// The file: a line for each provider; those that a key alone does not make usable.
fn told(fresh: &Value, keyed: &Value, usable: &Value) -> String {
    let mut text = String::from("{\"all\":[\n");
    let lines = |items: Vec<String>| items.join(",\n");
    text.push_str(&lines(of_release(fresh).map(Value::to_string).collect()));
    text.push_str("\n],\"keyed\":{\n");
    let with_key = |known: &Value| {
        let id = known["id"].as_str()?;
        let other = of_release(keyed).find(|provider| provider["id"] == id)?;
        let changed = changed(known, other, &keyed["default"][id], &fresh["default"][id]);
        Some(format!("{}:{}", json!(id), Value::Object(changed)))
    };
    text.push_str(&lines(
        of_release(fresh).filter_map(with_key).filter(|line| !line.ends_with(":{}")).collect(),
    ));
    let is_usable = |id: &str| usable.as_array().is_some_and(|all| all.iter().any(|one| one["id"] == id));
    let unkeyed: Vec<&str> = ids(fresh).filter(|id| !is_usable(id)).collect();
    let mut default = fresh["default"].clone();
    if let Some(all) = default.as_object_mut() {
        all.shift_remove("fake");
    }
    let connected = fresh["connected"].as_array().into_iter().flatten();
    let without_key: Vec<&Value> = connected.filter(|id| **id != "fake").collect();
    let _ = write!(text, "\n}},\"unkeyed\":{},\"usable\":{}", json!(unkeyed), json!(without_key));
    let _ = write!(text, ",\"default\":{default}");
    if let Some(failed) = fresh.get("failed") {
        let _ = write!(text, ",\"failed\":{failed}");
    }
    text.push_str("}\n");
    text
}

/// What is otherwise with a key: fields, models (null for one that is gone), the model that is offered first.
fn changed(fresh: &Value, keyed: &Value, default: &Value, default_before: &Value) -> Map<String, Value> {
    let mut changed = Map::new();
    for (name, value) in keyed.as_object().into_iter().flatten() {
        if !FOLLOWS.contains(&name.as_str()) && fresh.get(name) != Some(value) {
            changed.insert(name.clone(), value.clone());
        }
    }
    let empty = Map::new();
    let models =
        |provider: &'_ Value| provider["models"].as_object().cloned().unwrap_or_else(|| empty.clone());
    let (before, after) = (models(fresh), models(keyed));
    let mut other = Map::new();
    for id in before.keys().filter(|id| !after.contains_key(*id)) {
        other.insert(id.clone(), Value::Null);
    }
    other.extend(after.into_iter().filter(|(id, model)| before.get(id) != Some(model)));
    if !other.is_empty() {
        changed.insert("models".to_owned(), Value::Object(other));
    }
    if default != default_before {
        changed.insert("default".to_owned(), default.clone());
    }
    changed
}
