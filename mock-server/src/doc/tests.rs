//! Goal: requests are refused in the words of the real servers. Method: the messages that they were seen to send.

use super::*;
use fixtures::catalog;

fn told(method: &str, target: &str, body: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query = crate::http::decode_query(query);
    let operations = Operations::of(ServerKind::Kilo);
    let Some(operation) = operations.find(method, path) else { return "no such operation".to_owned() };
    let asked = Asked { path, query: &query, content_type: Some("application/json"), body: body.as_bytes() };
    match operations.complaint(operation, &asked) {
        None => "good".to_owned(),
        Some(Complaint::Bad { message, kind }) => format!("{kind}: {message}"),
        Some(other) => format!("{other:?}"),
    }
}

#[test]
fn requests_are_refused_in_the_words_of_the_servers() {
    let message = |body: &str| told("POST", "/session/ses_a/message", body);
    assert_eq!(message("{}"), "Payload: Missing key\n  at [\"parts\"]");
    assert_eq!(message(""), "Payload: Expected object, got undefined");
    assert_eq!(message("{"), "Unexpected");
    assert_eq!(message("null"), "Payload: Expected object, got null");
    assert_eq!(message(r#"{"parts":[],"agent":null}"#), "good");
    let inner = [
        (r#"{"agent":5,"parts":5}"#, "Expected string | null, got 5\n  at [\"agent\"]"),
        (r#"{"agent":5,"model":5}"#, "Expected object | null, got 5\n  at [\"model\"]"),
        (r#"{"parts":[],"model":{"providerID":"a"}}"#, "Missing key\n  at [\"model\"][\"modelID\"]"),
        (r#"{"parts":[],"tools":{"a":5}}"#, "Expected boolean, got 5\n  at [\"tools\"][\"a\"]"),
        (
            r#"{"parts":[],"messageID":"x"}"#,
            "Expected a string starting with \"msg\", got \"x\"\n  at [\"messageID\"]",
        ),
        (r#"{"parts":[],"format":5}"#, "Expected OutputFormat | null, got 5\n  at [\"format\"]"),
        (
            r#"{"parts":[],"format":{"type":"x"}}"#,
            "Expected OutputFormat, got {\"type\":\"x\"}\n  at [\"format\"]",
        ),
        (r#"{"parts":[{"type":"text","text":5}]}"#, "Expected string, got 5\n  at [\"parts\"][0][\"text\"]"),
        (
            r#"{"parts":[{}]}"#,
            "Expected { readonly \"type\": \"text\", ... } | { readonly \"type\": \"file\", ... } | \
             { readonly \"type\": \"agent\", ... } | { readonly \"type\": \"subtask\", ... }, got {}\n  at [\"parts\"][0]",
        ),
    ];
    for (body, expected) in inner {
        assert_eq!(message(body), format!("Payload: {expected}"), "{body}");
    }
    let others = [
        ("PATCH", "/config", "[]", "Payload: Expected Config, got []"),
        (
            "PATCH",
            "/config",
            r#"{"share":"x"}"#,
            "Payload: Expected \"manual\" | \"auto\" | \"disabled\", got \"x\"\n  at [\"share\"]",
        ),
        (
            "PATCH",
            "/config",
            r#"{"permission":5}"#,
            "Payload: Expected PermissionActionConfig | object | null, got 5\n  at [\"permission\"]",
        ),
        (
            "PATCH",
            "/session/ses_a",
            r#"{"permission":[5]}"#,
            "Payload: Expected PermissionRule, got 5\n  at [\"permission\"][0]",
        ),
        ("PUT", "/auth/x", "", "Payload: Expected Auth, got undefined"),
        ("PUT", "/auth/x", r#"{"type":"api"}"#, "Payload: Missing key\n  at [\"key\"]"),
        (
            "PUT",
            "/auth/x",
            r#"{"type":"oauth","refresh":"a","access":"b","expires":-1}"#,
            "Payload: Expected a value greater than or equal to 0, got -1\n  at [\"expires\"]",
        ),
        ("POST", "/session", "{", "Tagged"),
        ("POST", "/session", "", "good"),
        ("POST", "/session/ses_a/fork", r#"{"messageID":"x"}"#, "Tagged"),
    ];
    for (method, target, body, expected) in others {
        assert_eq!(told(method, target, body), expected, "{method} {target} {body}");
    }
}

#[test]
fn paths_and_queries_are_read_as_the_servers_read_them() {
    let get = |target: &str| told("GET", target, "");
    let cases = [
        ("/session/nonsense/message?limit=-1", "Unexpected"),
        (
            "/session/ses_a/message/x?limit=-1",
            "Params: Expected a string starting with \"msg\", got \"x\"\n  at [\"messageID\"]",
        ),
        (
            "/session/ses_a/message?limit=-1",
            "Query: Expected a value greater than or equal to 0, got -1\n  at [\"limit\"]",
        ),
        ("/session/ses_a/message?limit=abc", "Query: Expected an integer, got NaN\n  at [\"limit\"]"),
        ("/session/ses_a/message?limit=1.5", "Query: Expected an integer, got 1.5\n  at [\"limit\"]"),
        (
            "/session/ses_a/message?limit=99999999999999999999",
            "Query: Expected an integer, got 100000000000000000000\n  at [\"limit\"]",
        ),
        ("/session/ses_a/message?limit=", "good"),
        ("/session?limit=abc", "good"),
        ("/session?roots=5", "Query: Expected \"true\" | \"false\", got \"5\"\n  at [\"roots\"]"),
        (
            "/session?roots=true&roots=false",
            "Query: Expected \"true\" | \"false\" | undefined, got [\"true\",\"false\"]\n  at [\"roots\"]",
        ),
        (
            "/session?limit=5&limit=6",
            "Query: Expected string | undefined, got [\"5\",\"6\"]\n  at [\"limit\"]",
        ),
        ("/file", "Query: Missing key\n  at [\"path\"]"),
        ("/file/content?path=a&path=b", "Query: Expected string, got [\"a\",\"b\"]\n  at [\"path\"]"),
        (
            "/find/file?query=a&limit=0",
            "Query: Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]",
        ),
        (
            "/find/file?query=a&type=abc",
            "Query: Expected \"file\" | \"directory\", got \"abc\"\n  at [\"type\"]",
        ),
        ("//session/", "good"),
        ("/session/status", "good"),
        ("/api/fs/read/a/b/c", "good"),
        ("/api/fs/read", "good"),
        ("/api/fs", "no such operation"),
        ("/no/such", "no such operation"),
    ];
    for (target, expected) in cases {
        assert_eq!(get(target), expected, "{target}");
    }
    let operations = Operations::of(ServerKind::Kilo);
    assert_eq!(
        operations.find("GET", "/session/status").map(|found| found.id.as_str()),
        Some("session.status")
    );
}

#[test]
fn a_body_of_another_type_is_not_read() {
    let operations = Operations::of(ServerKind::Opencode);
    let operation = operations.find("POST", "/session/ses_a/message").unwrap();
    let asked = |content_type| Asked {
        path: "/session/ses_a/message",
        query: &[],
        content_type,
        body: b"{\"parts\":[]}",
    };
    assert_eq!(
        operations.complaint(operation, &asked(Some("text/plain"))),
        Some(Complaint::ContentType("text/plain".to_owned()))
    );
    assert_eq!(operations.complaint(operation, &asked(Some("application/json; charset=utf-8"))), None);
    assert_eq!(operations.complaint(operation, &asked(None)), None);
}

#[tokio::test]
async fn a_server_begins_before_its_doc_is_read() {
    let welcome = catalog::scenario("text/welcome").unwrap();
    for server in ServerKind::ALL {
        let started = crate::StandIn::start(crate::Options::scenario(server, welcome.clone())).await.unwrap();
        assert_eq!(read::READ.get(), 0, "{server:?}");
        drop(started);
    }
    drop(Index::read(ServerKind::Kilo));
    assert_eq!(read::READ.get(), 1, "to read one counts");
}
