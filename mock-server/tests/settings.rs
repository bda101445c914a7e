//! Goal: who changes settings over REST loses nothing of what people have written into the same file. Method: a plain client on
//! loopback, files in a folder of this machine.

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
use std::path::Path;

const MINE: &str =
    "{\n  // mine\n  \"instructions\": [\"A.md\"],\n  \"permission\": { \"bash\": \"deny\" }\n}\n";

async fn stand_in(server: ServerKind, workspace: &Path) -> StandIn {
    let mut options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
    options.workspace = Some(workspace.to_owned());
    StandIn::start(options).await.unwrap()
}

async fn patch(stand_in: &StandIn, path: &str, body: Value) -> (u16, Value) {
    let client = Client::builder().no_proxy().build().unwrap();
    let url = format!("{}{path}", stand_in.url());
    let response = client.request(Method::PATCH, url).json(&body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn what_people_have_written_stays_where_a_client_sets_something() {
    for (path, body) in [
        ("/config", json!({"snapshot": false})),
        ("/config/overlay", json!({"scope": "project", "set": {"snapshot": false}})),
    ] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".kilo")).unwrap();
        let file = root.join(".kilo/kilo.jsonc");
        fs::write(&file, MINE).unwrap();
        let stand_in = stand_in(ServerKind::Kilo, &root).await;
        let (status, told) = patch(&stand_in, path, body).await;
        assert_eq!(status, 200, "{told}");
        let text = fs::read_to_string(&file).unwrap();
        for kept in ["// mine", "\"A.md\"", "\"bash\": \"deny\"", "\"snapshot\": false"] {
            assert!(text.contains(kept), "{path}: {kept} is not in {text}");
        }
    }
}

#[tokio::test]
async fn a_file_of_the_other_server_is_written_anew_with_all_that_it_said() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let file = root.join("config.json");
    fs::write(&file, MINE).unwrap();
    let stand_in = stand_in(ServerKind::Opencode, &root).await;
    patch(&stand_in, "/config", json!({"snapshot": false})).await;
    let said: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(said["instructions"], json!(["A.md"]));
    assert_eq!((&said["permission"], &said["snapshot"]), (&json!({"bash": "deny"}), &json!(false)));
}

#[tokio::test]
async fn from_a_folder_inside_the_file_above_is_changed_and_a_stale_client_refused() {
    // The real server keeps comments where they belong to the kind of file, and loses them elsewhere.
    for (file, keeps_comments) in [("kilo.jsonc", true), ("kilo.json", false)] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let file = root.join(file);
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(&file, MINE).unwrap();
        let stand_in = stand_in(ServerKind::Kilo, &root).await;
        let path = format!("/config/overlay?directory={}/sub", root.display());
        let unset = json!({"scope": "project", "unset": [["permission", "bash"]], "set": {"permission": {"edit": "ask"}}});
        let (status, told) = patch(&stand_in, &path, unset).await;
        assert_eq!((status, &told["project"]["permission"]), (200, &json!({"edit": "ask"})), "{told}");
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.contains("// mine"), keeps_comments, "{text}");
        assert!(text.contains("\"edit\": \"ask\"") && !text.contains("bash"), "{text}");
        assert!(!root.join("sub/.kilo").exists());
        let target = &told["targets"]["active"];
        fs::write(&file, MINE).unwrap();
        // Who begins there marks the file that it reads.
        patch(&stand_in, &format!("/config/overlay?directory={}/sub", root.display()), json!({})).await;
        let found = fs::read_to_string(&file).unwrap();
        assert!(found.contains("$schema"), "{found}");
        let expected = json!({"path": target["path"], "revision": target["revision"]});
        let late = json!({"scope": "project", "set": {"snapshot": true}, "expected": expected});
        let (status, told) = patch(&stand_in, &path, late).await;
        assert_eq!((status, &told["code"]), (409, &json!("revision-conflict")));
        assert_eq!(fs::read_to_string(&file).unwrap(), found, "nothing was written");
    }
}

#[tokio::test]
async fn a_file_that_is_no_json_is_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".kilo")).unwrap();
    let stand_in = stand_in(ServerKind::Kilo, &root).await;
    fs::write(root.join(".kilo/kilo.jsonc"), "{ \"a\": ").unwrap();
    let (status, told) =
        patch(&stand_in, "/config/overlay", json!({"scope": "project", "set": {"snapshot": true}})).await;
    assert_eq!((status, &told["name"]), (400, &json!("ConfigJsonError")));
    assert_eq!(fs::read_to_string(root.join(".kilo/kilo.jsonc")).unwrap(), "{ \"a\": ");
}

#[tokio::test]
async fn who_has_begun_in_a_folder_goes_on_with_what_was_read_then() {
    for server in [ServerKind::Kilo, ServerKind::Opencode] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("sub")).unwrap();
        let write = |name: &str| {
            let text = json!({"$schema": "here", "username": name});
            fs::write(root.join("opencode.json"), text.to_string()).unwrap();
        };
        write("one");
        let stand_in = stand_in(server, &root).await;
        let below = format!("?directory={}/sub", root.display());
        let client = Client::builder().no_proxy().build().unwrap();
        let name_at = async |query: &str| {
            let url = format!("{}/config{query}", stand_in.url());
            let told: Value = client.get(url).send().await.unwrap().json().await.unwrap();
            told["username"].as_str().unwrap().to_owned()
        };
        let dispose = async |query: &str| {
            let url = format!("{}/instance/dispose{query}", stand_in.url());
            client.post(url).send().await.unwrap();
        };
        assert_eq!([name_at("").await, name_at(&below).await], ["one", "one"]);
        write("two");
        dispose("").await;
        assert_eq!([name_at("").await, name_at(&below).await], ["two", "one"], "{server}");
        dispose(&below).await;
        assert_eq!(name_at(&below).await, "two");
    }
}
