//! Goal: what git is asked for is told in git's order, by bytes, whether there is something new or not. Method: a plain
//! client on loopback, files written beside the server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may: its failure is its answer")]

use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::{Options, StandIn};
use std::fs;
use std::path::Path;

const SCENARIO: &str = r#"
about = "Two files whose names a dictionary has in another order than git."
[workspace.files]
"B.txt" = "b\n"
"a.txt" = "a\n"
[[agent]]
on = { prompt_contains = "hello" }
steps = [{ say = "Hello." }]
[user]
steps = [{ prompt = "hello" }, { wait_for = "idle" }]
"#;

async fn raw(stand_in: &StandIn) -> Vec<String> {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/vcs/diff/raw", stand_in.url());
    let text = client.get(url).send().await.unwrap().text().await.unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("diff --git a/"));
    names.map(|names| names.split(' ').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn changes_are_told_in_the_order_of_git() {
    for server in ServerKind::ALL {
        let scenario = Scenario::parse(Path::new("test.toml"), SCENARIO).unwrap();
        let stand_in = StandIn::start(Options::scenario(server, scenario)).await.unwrap();
        let root = stand_in.workspace().to_owned();
        let write = |name: &str| fs::write(Path::new(&root).join(name), "new\n").unwrap();
        write("a.txt");
        write("B.txt");
        assert_eq!(raw(&stand_in).await, ["B.txt", "a.txt"], "{server}");
        write("A.txt");
        assert_eq!(raw(&stand_in).await, ["B.txt", "a.txt", "A.txt"], "{server}: what is new comes last");
    }
}
