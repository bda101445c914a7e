//! Goal: a server with a home goes on where the one before it ended, whatever that one did. Method: each scenario is
//! performed with a home; the server is killed and asked what it knows, and so is another one over the same home.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::scenario::Ending;
use fixtures::{ServerKind, catalog};
use futures_util::{StreamExt as _, stream};
use harness::stage::Stage;
use harness::truth::stand_in_limits;
use mock_server::Options;
use mock_server::standin::fill_workspace;
use recorder::drive::Backstage as _;
use recorder::{Client, Tape};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// What says something of a server that is of no session.
const ABOUT_ALL: &[&str] = &[
    "/session",
    "/project",
    "/agent",
    "/config",
    "/global/config",
    "/permission",
    "/question",
    "/api/session",
];
/// What says something of one.
const ABOUT_ONE: &[&str] = &["", "/message", "/todo", "/children", "/diff"];
/// So many are performed at once.
const AT_ONCE: usize = 6;

async fn stage(server: ServerKind, name: &str, folder: &Path) -> Stage {
    let mut options = Options::scenario(server, catalog::scenario(name).unwrap());
    options.workspace = Some(folder.join("workspace"));
    options.home = Some(folder.join("home"));
    options.allow_shell = true;
    Stage::of_stand_in(options).await.unwrap()
}

/// All that a server says of itself.
async fn known(stage: &Stage) -> Value {
    let client = Client::new(&stage.url, stage.credentials.clone(), Tape::new()).unwrap();
    let ask = async |path: &str| {
        let reply = client.exchange(Method::GET, path, "", None).await.unwrap();
        let mut said = json!([reply.status, reply.json()]);
        // Each error has a number of its own.
        if let Some(number) = said.pointer_mut("/1/data/ref") {
            number.take();
        }
        said
    };
    let mut told = json!({});
    for path in ABOUT_ALL {
        told[*path] = ask(path).await;
    }
    // A visit is a change.
    for project in told["/project"][1].as_array_mut().into_iter().flatten() {
        project["time"].as_object_mut().unwrap().shift_remove("updated");
    }
    let lists = [told.pointer("/~1session/1"), told.pointer("/~1api~1session/1/data")];
    let sessions = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    let ids: BTreeSet<String> = sessions.map(|session| session["id"].as_str().unwrap().to_owned()).collect();
    for id in ids {
        for path in ABOUT_ONE {
            let path = format!("/session/{id}{path}");
            told[&path] = ask(&path).await;
        }
    }
    told
}

/// Whether another process knows what this one knew; the first thing that it does not.
async fn goes_on(server: ServerKind, name: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let scenario = catalog::scenario(name).unwrap();
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    fill_workspace(&scenario, &workspace).unwrap();
    let first = stage(server, name, folder.path()).await;
    let client = Client::new(&first.url, first.credentials.clone(), Tape::new()).unwrap();
    let limits = stand_in_limits();
    let performed = recorder::perform(&scenario, &first.workspace, &client, &limits, &first).await;
    if let Err(error) = performed {
        return Some(format!("{server} {name}: {error}"));
    }
    first.restart(Ending::Kill).await.unwrap();
    let before = known(&first).await;
    drop(first);
    let after = known(&stage(server, name, folder.path()).await).await;
    let differs = before.as_object().unwrap().iter().find(|(path, said)| after[path.as_str()] != **said);
    differs
        .map(|(path, said)| format!("{server} {name}: {path} was\n{said}\nand is\n{}", after[path.as_str()]))
}

/// Those that are about a server's own beginning are another server's in another process.
fn is_meant(name: &str) -> bool {
    matches!(
        name.split('/').next().unwrap(),
        "abort"
            | "next"
            | "permission"
            | "prompt"
            | "question"
            | "queue"
            | "sessions"
            | "subagent"
            | "todo"
            | "tool"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_goes_on_where_one_was_killed() {
    let names: Vec<String> = catalog::scenario_names().into_iter().filter(|name| is_meant(name)).collect();
    assert!(names.len() > 50, "{}", names.len());
    let each = names.iter().flat_map(|name| ServerKind::ALL.map(|server| (server, name)));
    let wrong: Vec<String> = stream::iter(each.map(|(server, name)| goes_on(server, name)))
        .buffer_unordered(AT_ONCE)
        .filter_map(async |wrong| wrong)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
