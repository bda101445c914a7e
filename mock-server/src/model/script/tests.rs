//! What the script answers, and what it says when it can't.

use super::*;
use serde_json::json;
use std::path::Path;

fn script() -> Script {
    let text = r#"
about = "three turns"
agent = [
  { on = { prompt_contains = "write" }, steps = [
    { think = "Hm." }, { say = "I will." },
    { tool = "write", input = { filePath = "${workspace}/ü", content = "$${HOME}" } }, { tool = "read" },
    { say = "Done." } ] },
  { on = { prompt_contains = "list" }, steps = [{ tool = "glob" }] },
  { on = { prompt_contains = "try" }, steps = [
    { fail = 429, retry_after = 1 }, { say = "half " }, { break_off = "truncated" }, { gate = "g" }, { say = "whole" },
    { finish = "length", output_tokens = 9 } ] },
]
user = { steps = [{ prompt = "write" }, { prompt = "list" }, { prompt = "try" }, { open_gate = "g" }] }
"#;
    Script::new(Scenario::parse(Path::new("s.toml"), text).unwrap(), "/w")
}

fn request(messages: Value) -> ChatRequest {
    let body = json!({"messages": messages, "tools": [{"function": {"name": "write"}}], "stream": true});
    ChatRequest::parse(&body).unwrap()
}

fn ask(messages: Value) -> Answer {
    script().answer(&request(messages))
}

fn beats(answer: &Answer) -> &[Beat] {
    match &answer.reply {
        Reply::Beats(beats) => beats,
        other => panic!("no beats: {other:?}"),
    }
}

fn finish(answer: &Answer) -> FinishReason {
    match beats(answer).last() {
        Some(Beat::Delta(Delta::Finish(finish))) => finish.reason,
        other => panic!("no finish: {other:?}"),
    }
}

#[test]
fn calls_that_follow_each_other_are_one_response() {
    let first = ask(json!([{"role": "system", "content": "s"}, {"role": "user", "content": "please write"}]));
    assert_eq!(first.answered, "turn 1, response 1 of 2");
    assert_eq!(finish(&first), FinishReason::ToolCalls);
    let arguments: String = beats(&first)
        .iter()
        .filter_map(|beat| match beat {
            Beat::Delta(Delta::ToolArguments { index: 0, text }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(arguments, r#"{"filePath":"/w/ü","content":"${HOME}"}"#);
    let ids: Vec<_> = beats(&first)
        .iter()
        .filter_map(|beat| match beat {
            Beat::Delta(Delta::ToolStart { id, name, .. }) => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(ids, [("call_1", "write"), ("call_2", "read")]);
}

#[test]
fn the_conversation_alone_decides() {
    let said = json!({"role": "assistant", "tool_calls": [{"id": "call_1"}, {"id": "call_2"}]});
    let second = ask(json!([{"role": "user", "content": [{"type": "text", "text": "write"}]}, said]));
    assert_eq!(second.answered, "turn 1, response 2 of 2");
    assert_eq!(finish(&second), FinishReason::Stop);
    let other = ask(json!([{"role": "user", "content": "write"}, said, {"role": "user", "content": "list"}]));
    assert!(
        matches!(&beats(&other)[0], Beat::Delta(Delta::ToolStart { id, .. }) if id == "call_3"),
        "{other:?}"
    );
}

#[test]
fn a_request_that_comes_again_gets_the_same_answer_unless_it_failed() {
    let mut script = script();
    let write = request(json!([{"role": "user", "content": "write"}]));
    assert_eq!(script.answer(&write), script.answer(&write));
    let attempt = request(json!([{"role": "user", "content": "try"}]));
    let refused = script.answer(&attempt);
    assert_eq!(refused.answered, "turn 3, response 1 of 3: status 429");
    assert!(matches!(&refused.reply, Reply::Refused(Fail { status: 429, retry_after: Some(1), .. })));
    let mut elsewhere = attempt.clone();
    elsewhere.session = Some("ses_2".to_owned());
    assert_eq!(script.answer(&elsewhere).answered, refused.answered, "another session has its own attempts");
    let broken = script.answer(&attempt);
    assert_eq!(broken.answered, "turn 3, response 2 of 3: broken off (truncated)");
    assert_eq!(beats(&broken).last(), Some(&Beat::BreakOff(BreakOff::Truncated)));
    let whole = script.answer(&attempt);
    assert_eq!(whole.answered, "turn 3, response 3 of 3");
    assert_eq!(beats(&whole)[0], Beat::Gate("g".to_owned()));
    assert_eq!(finish(&whole), FinishReason::Length);
    assert_eq!(script.answer(&attempt), whole);
}

#[test]
fn a_server_that_takes_a_broken_answer_for_a_message_goes_on_behind_it() {
    let mut script = script();
    let said = json!({"role": "assistant", "content": "half "});
    script.answer(&request(json!([{"role": "user", "content": "try"}])));
    script.answer(&request(json!([{"role": "user", "content": "try"}])));
    let next = script.answer(&request(json!([{"role": "user", "content": "try"}, said])));
    assert_eq!(next.answered, "turn 3, response 3 of 3");
}

#[test]
fn a_script_that_was_never_asked_before_goes_by_the_conversation() {
    let said = json!({"role": "assistant", "content": "half "});
    let next = ask(json!([{"role": "user", "content": "try"}, said]));
    assert_eq!(
        next.answered, "turn 3, response 3 of 3",
        "the refusal left no message, the broken answer did"
    );
}

#[test]
fn what_has_no_answer_is_named_with_its_near_miss_and_what_was_not_used_is_told() {
    let mut script = script();
    let why = |answer: Answer| match answer.reply {
        Reply::Unscripted(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        why(script.answer(&request(json!([{"role": "user", "content": "delete it"}])))),
        "no turn answers the prompt \"delete it\"; the scenario's turns answer prompts with [\"write\", \"list\", \"try\"]"
    );
    let said = json!({"role": "assistant", "content": "x"});
    assert!(
        why(script.answer(&request(json!([{"role": "user", "content": "write"}, said, said]))))
            .starts_with("turn 1 has 2 responses, and the server asks for number 3")
    );
    script.answer(&request(json!([{"role": "user", "content": "write"}])));
    let report = script.report();
    assert_eq!(report.unscripted.len(), 2);
    assert_eq!(
        report.unused,
        ["turn 1 (on \"write\"), response 2 of 2", "turn 2 (on \"list\")", "turn 3 (on \"try\")"]
    );
}

#[test]
fn the_servers_own_calls_leave_the_script_alone() {
    let mut script = script();
    let own = |system: &str, prompt: &str| {
        let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": prompt}]);
        ChatRequest::parse(&json!({"messages": messages})).unwrap()
    };
    let title = script.answer(&own("You are a title generator.", "write"));
    let summary = script.answer(&own("You summarize.", "Create a new anchored summary of: write"));
    assert_eq!([title.answered.as_str(), summary.answered.as_str()], ["the title", "the summary"]);
    assert_eq!(script.report().unused.len(), 3);
}
