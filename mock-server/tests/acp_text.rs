//! Goal: the agent in text says what a person sees of Kiro's, byte for byte, and each unusual manner changes what it says
//! it changes. Method: a person who answers what is on the screen; the whole screen is held.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::ServerKind;
use fixtures::fault_plan::TextManner;
use fixtures::scenario::Scenario;
use mock_server::Options;
use mock_server::acp::agent::Left;
use mock_server::acp::dialect::{Dialect, Strictness};
use mock_server::acp::ids::Ids;
use mock_server::acp::text::Text;
use mock_server::acp::{Agent, AgentOptions};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const SCENARIO: &str = r#"
about = "The agent writes a file when it may, and quotes otherwise."
[workspace]
config = { permission = { edit = "ask" } }
[[agent]]
on = { prompt_contains = "write" }
steps = [{ tool = "write", input = { filePath = "${workspace}/out.txt", content = "x\n" } }, { say = "Done." }]
[[agent]]
on = { prompt_contains = "quote" }
steps = [{ say = "He said:\n" }, { say = "> no prompt" }]
[user]
steps = [{ prompt = "write" }, { answer_permission = "once" }, { wait_for = "idle" }, { prompt = "quote" }, { wait_for = "idle" }]
"#;

/// What stands on the screen when the person has said all this; each word is said when what precedes it is seen.
async fn screen(text: Text, says: &[(&str, &str)]) -> (String, Left) {
    let scenario = Scenario::parse(Path::new("test.toml"), SCENARIO).unwrap();
    let options = AgentOptions {
        server: Options::scenario(ServerKind::Kilo, scenario),
        dialect: Dialect::AcpV1,
        turn_end: None,
        strictness: Strictness::Strict,
        home: None,
        ids: Ids::FromZero,
        started_in: None,
        stderr: Arc::new(|_| {}),
    };
    let agent = Agent::start(options).await.unwrap();
    let (mut stdin, words) = tokio::io::duplex(1 << 16);
    let (said, mut stdout) = tokio::io::duplex(1 << 16);
    let person = async {
        let (mut screen, mut from) = (Vec::new(), 0);
        let mut says = says.iter();
        let mut next = says.next();
        let mut buffer = [0; 4096];
        loop {
            let shown = String::from_utf8_lossy(&screen[from..]).into_owned();
            match next {
                Some((sees, word)) if shown.contains(sees) => {
                    stdin.write_all(format!("{word}\n").as_bytes()).await.unwrap();
                    from = screen.len();
                    next = says.next();
                    continue;
                }
                _ => {}
            }
            match stdout.read(&mut buffer).await.unwrap() {
                0 => return String::from_utf8(screen).unwrap(),
                count => screen.extend_from_slice(&buffer[..count]),
            }
        }
    };
    let (screen, left) = tokio::join!(person, agent.chat(text, words, said));
    (screen, left)
}

const PROMPT: &str = "\u{1b}[35m> \u{1b}[0m";

#[tokio::test]
async fn a_person_is_asked_for_trust_and_sees_colours_and_prompts() {
    let says = [(PROMPT, "please write"), ("[y/n/t]:", "y"), ("Done.", "/quit")];
    let (screen, left) = screen(Text::default(), &says).await;
    assert_eq!(left, Left::Quietly);
    let expected = "\u{1b}]0;kiro-cli\u{7}\u{1b}[?25l\u{1b}[36mWelcome. Ask me to do something, or end with /quit.\u{1b}[0m\n\n\
        \u{1b}[35m> \u{1b}[0m\u{1b}[36m\nUsing tool: out.txt\u{1b}[0m\n\n\
        Allow this action? Use 't' to trust (always allow) this tool for the session. [y/n/t]:\n\n\
        \u{1b}[35m> \u{1b}[0m\n\u{1b}[2m - completed\u{1b}[0m\nDone.\u{1b}[0m\n\n\u{1b}[35m> \u{1b}[0m";
    let folders = screen.split("tool: ").nth(1).unwrap().split("out.txt").next().unwrap();
    assert_eq!(screen.replace(folders, ""), expected);
}

#[tokio::test]
async fn who_trusts_all_is_not_asked_and_a_no_is_a_no() {
    let all = Text { trusts_all: true, ..Text::default() };
    let (trusted, _) = screen(all, &[(PROMPT, "please write"), ("Done.", "/quit")]).await;
    assert!(!trusted.contains("Allow this action?"), "{trusted}");
    let says = [(PROMPT, "please write"), ("[y/n/t]:", "n"), ("failed", "/quit")];
    let (refused, _) = screen(Text::default(), &says).await;
    assert!(!refused.contains("completed"), "{refused}");
}

#[tokio::test]
async fn each_manner_changes_what_it_says_it_changes() {
    let manner = TextManner {
        prompt: Some("kiro> ".to_owned()),
        echo: true,
        plain: true,
        trust: Some("May I?".to_owned()),
        trust_times: Some(2),
        ..TextManner::default()
    };
    let says = [("kiro> ", "please write"), ("May I?", "y"), ("Done.", "quote"), ("> no prompt", "/quit")];
    let (screen_, _) = screen(Text { manner, ..Text::default() }, &says).await;
    assert!(!screen_.contains('\u{1b}'), "{screen_}");
    assert_eq!(screen_.matches("May I?").count(), 2);
    assert!(screen_.contains("kiro> please write\n"), "{screen_}");
    assert!(screen_.ends_with("He said:\n> no prompt\n\nkiro> "), "{screen_}");
    let manner = TextManner { exit: Some(7), cut_into: Some(1), ..TextManner::default() };
    let (cut, left) = screen(Text { manner, ..Text::default() }, &[(PROMPT, "quote")]).await;
    assert_eq!(left, Left::Exit(7));
    assert!(cut.contains("He ") && !cut.contains("said"), "{cut}");
}
