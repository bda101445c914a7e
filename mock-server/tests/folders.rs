//! Goal: seen from outside of the project, rules lead to the server's own files from the root. Method: a plain client on
//! loopback; no recording can hold it, because it names folders of the machine.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::Client;
use serde_json::Value;
use std::fs;

async fn stand_in(server: ServerKind) -> StandIn {
    StandIn::start(Options::scenario(server, catalog::scenario("text/welcome").unwrap())).await.unwrap()
}

async fn get(stand_in: &StandIn, path: &str) -> Value {
    let client = Client::builder().no_proxy().build().unwrap();
    client.get(format!("{}{path}", stand_in.url())).send().await.unwrap().json().await.unwrap()
}

/// The patterns of the agents' rules that lead to the planner's own plans.
fn plans(agents: &Value) -> Vec<String> {
    let rules = agents.as_array().unwrap().iter().flat_map(|agent| agent["permission"].as_array().unwrap());
    let patterns = rules.filter_map(|rule| rule["pattern"].as_str());
    patterns
        .filter(|pattern| pattern.contains(".local/share") && pattern.ends_with("plans/*.md"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn from_outside_of_the_project_rules_lead_to_the_servers_own_files_from_the_root() {
    for server in ServerKind::ALL {
        let stand_in = stand_in(server).await;
        let place = get(&stand_in, "/path").await;
        let home = place["home"].as_str().unwrap().trim_start_matches('/').to_owned();
        let inside = get(&stand_in, "/agent").await;
        let outside = get(&stand_in, "/agent?directory=/nowhere/gone").await;
        assert!(!plans(&inside).is_empty(), "{server}");
        assert!(plans(&inside).iter().all(|pattern| pattern.starts_with("../")), "{server}");
        assert!(plans(&outside).iter().all(|pattern| pattern.starts_with(&home)), "{server}: {outside}");
        assert_eq!(plans(&inside).len(), plans(&outside).len(), "{server}");
    }
}

#[tokio::test]
async fn a_repository_elsewhere_is_a_project_where_one_may_go() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for git in ["own/.git", "own/nest/.git", "own/nest/deep", "other/.git"] {
        fs::create_dir_all(root.join(git)).unwrap();
    }
    let scenario = || catalog::scenario("text/welcome").unwrap();
    for (server, allow_outside) in [(ServerKind::Kilo, false), (ServerKind::Opencode, true)] {
        let workspace = Some(root.join("own"));
        let stand_in =
            StandIn::start(Options { workspace, allow_outside, ..Options::scenario(server, scenario()) });
        let stand_in = stand_in.await.unwrap();
        for (folder, worktree, is_known) in
            [("own", "own", true), ("own/nest/deep", "own/nest", true), ("other", "other", allow_outside)]
        {
            let directory = root.join(folder);
            let path = get(&stand_in, &format!("/path?directory={}", directory.display())).await;
            let worktree = if is_known { root.join(worktree) } else { "/".into() };
            assert_eq!(path["worktree"], worktree.to_str().unwrap(), "{server} {folder}");
        }
    }
}
