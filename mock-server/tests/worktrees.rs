//! Goal: what clients have done with worktrees beyond the recorded life of one: names that are taken, lines that prepare
//! it, comparisons, and that nothing is taken away where agents may not go. Method: a plain client on loopback, git in
//! the workspace.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

struct Life {
    stand_in: StandIn,
    client: Client,
    workspace: PathBuf,
}

impl Life {
    async fn of(server: ServerKind) -> Self {
        Self::with(Options::scenario(server, catalog::scenario("text/welcome").unwrap())).await
    }

    async fn with(options: Options) -> Self {
        let stand_in = StandIn::start(options).await.unwrap();
        let client = Client::builder().no_proxy().build().unwrap();
        let path = client.get(format!("{}/path", stand_in.url())).send().await.unwrap();
        let path: Value = path.json().await.unwrap();
        let workspace = PathBuf::from(path["directory"].as_str().unwrap());
        Self { stand_in, client, workspace }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let sent = self.client.request(method, format!("{}{path}", self.stand_in.url())).json(&body);
        let answer = sent.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn create(&self, body: Value) -> Value {
        let (status, made) = self.ask(Method::POST, "/experimental/worktree", body).await;
        assert_eq!(status, 200, "{made}");
        made
    }

    async fn get(&self, path: &str, folder: &Path) -> Value {
        let url = format!("{}{path}", self.stand_in.url());
        let asked = self.client.get(url).query(&[("directory", folder.to_str().unwrap())]);
        asked.send().await.unwrap().json().await.unwrap()
    }

    /// A worktree is prepared behind the answer: asks the server for something else until a file has a whole line.
    async fn until(&self, file: &Path) -> String {
        for _ in 0..2_000 {
            match fs::read_to_string(file) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => drop(self.get("/path", &self.workspace).await),
            }
        }
        panic!("{} was never written", file.display());
    }
}

#[tokio::test]
async fn a_name_that_is_taken_gets_words_behind_it() {
    for server in ServerKind::ALL {
        let life = Life::of(server).await;
        let first = life.create(json!({"name": "Side by side"})).await;
        assert_eq!(
            (&first["name"], &first["branch"]),
            (&json!("side-by-side"), &json!("opencode/side-by-side"))
        );
        let second = life.create(json!({"name": "side by side"})).await;
        let name = second["name"].as_str().unwrap();
        assert!(name.starts_with("side-by-side-") && name.len() > "side-by-side-".len(), "{server}: {name}");
        let nameless = life.create(json!({})).await;
        assert_eq!(nameless["name"].as_str().unwrap().split('-').count(), 2, "{server}: {nameless}");
        let listed = life.get("/experimental/worktree", &life.workspace).await;
        assert_eq!(listed.as_array().unwrap().len(), 3, "{server}: {listed}");
    }
}

#[tokio::test]
async fn the_projects_line_and_the_clients_prepare_it() {
    for server in ServerKind::ALL {
        let life = Life::of(server).await;
        let project = life.get("/project/current", &life.workspace).await;
        let path = format!("/project/{}", project["id"].as_str().unwrap());
        let said = json!({"commands": {"start": "echo project > order.txt"}});
        assert_eq!(life.ask(Method::PATCH, &path, said).await.0, 200, "{server}");
        let made = life
            .create(json!({"name": "one", "startCommand": "echo client >> order.txt; pwd > where"}))
            .await;
        let folder = PathBuf::from(made["directory"].as_str().unwrap());
        let place = life.until(&folder.join("where")).await;
        assert_eq!(place.trim(), folder.canonicalize().unwrap().to_str().unwrap(), "{server}");
        assert_eq!(fs::read_to_string(folder.join("order.txt")).unwrap(), "project\nclient\n", "{server}");
    }
}

#[tokio::test]
async fn kilo_compares_it_with_the_branch_that_it_left() {
    let life = Life::of(ServerKind::Kilo).await;
    let kept = fs::read_dir(&life.workspace).unwrap().flatten().find(|entry| entry.path().is_file()).unwrap();
    let made = life.create(json!({"name": "one"})).await;
    let folder = PathBuf::from(made["directory"].as_str().unwrap());
    let (known, new) = (folder.join(kept.file_name()), folder.join("dist/new.js"));
    life.until(&known).await;
    fs::write(&known, "other\n").unwrap();
    fs::create_dir(folder.join("dist")).unwrap();
    fs::write(&new, "a\nb").unwrap();
    let summary = life.get("/experimental/worktree/diff/summary", &folder).await;
    assert_eq!(summary[0]["file"], json!(kept.file_name().to_str().unwrap()));
    assert_eq!((&summary[0]["status"], &summary[0]["patch"]), (&json!("modified"), &json!("")));
    let added = json!([
        summary[1]["file"],
        summary[1]["additions"],
        summary[1]["tracked"],
        summary[1]["generatedLike"]
    ]);
    assert_eq!(added, json!(["dist/new.js", 2, false, true]));
    let one = life.get("/experimental/worktree/diff/file?file=dist/new.js", &folder).await;
    assert_eq!((&one["after"], &one["summarized"]), (&json!("a\nb"), &json!(false)));
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret\n").unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), folder.join("link")).unwrap();
    let whole = life.get("/experimental/worktree/diff", &folder).await;
    assert_eq!(whole.as_array().unwrap().len(), 2, "a link that leads out is not read: {whole}");
    assert!(!whole.to_string().contains("secret"), "{whole}");
    for (file, what) in [
        ("link", "a link that leads out"),
        ("nothing", "nothing"),
        ("/etc/passwd", "a path from the root"),
        ("../../../../../../../../../etc/passwd", "a path that leaves"),
    ] {
        let told = life.get(&format!("/experimental/worktree/diff/file?file={file}"), &folder).await;
        assert_eq!(told, Value::Null, "{what}");
    }
}

#[tokio::test]
async fn nothing_is_taken_away_where_agents_may_not_go() {
    let outside = tempfile::tempdir().unwrap();
    for (server, allow_outside) in
        ServerKind::ALL.into_iter().flat_map(|server| [(server, false), (server, true)])
    {
        let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
        let life = Life::with(Options { allow_outside, ..options }).await;
        let plain = life.workspace.join("plain");
        fs::create_dir(&plain).unwrap();
        let remove = async |folder: &Path| {
            life.ask(Method::DELETE, "/experimental/worktree", json!({"directory": folder})).await
        };
        assert_eq!(remove(&plain).await, (200, json!(true)), "{server}");
        assert!(!plain.exists(), "{server}: what is no worktree is taken away, too");
        let (status, said) = remove(outside.path()).await;
        assert_eq!((status, &said["name"]), (400, &json!("WorktreeRemoveFailedError")), "{server}");
        assert!(said["data"]["message"].as_str().unwrap().contains("in no case"), "{server}: {said}");
        assert!(outside.path().is_dir(), "{server}");
        let above = life.workspace.parent().unwrap();
        for kept in [life.workspace.as_path(), above] {
            assert_eq!(remove(kept).await.0, 400, "{server}");
        }
        assert!(life.workspace.is_dir(), "{server}");
    }
}

#[tokio::test]
async fn what_was_said_in_a_worktree_that_is_gone_is_listed_by_kilo_alone() {
    for server in ServerKind::ALL {
        let life = Life::of(server).await;
        let made = life.create(json!({"name": "one"})).await;
        let folder = PathBuf::from(made["directory"].as_str().unwrap());
        let path = format!("/session?directory={}", folder.display());
        assert_eq!(life.ask(Method::POST, &path, json!({})).await.0, 200, "{server}");
        let listed = async || life.get("/session", &folder).await.as_array().unwrap().len();
        assert_eq!(listed().await, 1, "{server}");
        let removed = life.ask(Method::DELETE, "/experimental/worktree", json!({"directory": folder})).await;
        assert_eq!(removed, (200, json!(true)), "{server}");
        assert_eq!(listed().await, usize::from(server == ServerKind::Kilo), "{server}");
        assert_eq!(life.get("/experimental/worktree", &life.workspace).await, json!([]), "{server}");
        let projects = life.get("/project", &life.workspace).await;
        assert_eq!(projects[0]["sandboxes"], json!([]), "{server}: {projects}");
    }
}
