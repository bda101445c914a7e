//! What a provider says in place of an answer: how it is told, and whether the model is asked again.

use super::Refusal;
use crate::model::usual_phrase;
use crate::profile::Profile;
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What comes of an answer that does not come.
#[derive(Debug)]
pub(crate) struct Told {
    /// As the wire has it.
    pub(crate) error: Value,
    /// What is told while the model is left alone before it is asked again; it is not where there is none.
    pub(crate) retry: Option<String>,
    /// How long the provider wants to be left alone.
    pub(crate) wait_ms: Option<u64>,
    /// The provider has answered at all: then no wait is too long.
    pub(crate) answered: bool,
}

/// What the servers call an answer whose connection breaks.
pub(super) const CUT_OFF: &str = "Connection reset by server";
pub(super) const CLOSED: &str = "The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the \
                      second argument to fetch()";
pub(super) const UNREACHABLE: &str = "Unable to connect. Is the computer able to access the url?";
const OVERLOADED: &str = "Provider is overloaded";

/// The words of a refusal that is tried again, whatever its status says; and those of one that server knows by its
/// status.
const TRIED_AGAIN: &[&str] = &[
    r"(?i)rate increased too quickly|rate limit|rate-limit|rate_limit|too many requests",
    r"(?i)overloaded|service unavailable|service_unavailable|service-unavailable|internal error|internal_error|internal server error|server error|server_error|server-error|provider returned error|provider_returned_error|provider-returned-error",
    r"(?i)^timeout$|\b(?:request|response|connection|network|stream|read) (?:timeout|timed out|time out)\b",
    r"(?i)try your request again|retry your request|resource exhausted|resource_exhausted",
];
/// The same of broken connections.
const BROKEN: &str = r"terminated|fetch failed|failed to fetch|upstream connect|connection error|connection refused|connection lost|socket connection was closed|socket hang up|reset before headers|getaddrinfo|enotfound|eai_again|econnrefused|econnreset|etimedout";
/// How a provider says that a conversation is too long.
const TOO_LONG: &str = r"(?i)prompt is too long|request_too_large|input is too long for requested model|exceeds the context window|exceeds (?:the )?(?:model'?s )?maximum context length(?: of [\d,]+ tokens?|\s*\([\d,]+\))|input token count.*exceeds the maximum|tokens in request more than max tokens allowed|maximum prompt length is \d+|reduce the length of the messages|maximum context length is \d+ tokens|exceeds (?:the )?maximum allowed input length of [\d,]+ tokens?|input \(\d+ tokens\) is longer than the model'?s context length \(\d+ tokens\)|exceeds the limit of \d+|exceeds the available context size|greater than the context length|context window exceeds limit|exceeded model token limit|context[_ ]length[_ ]exceeded|request entity too large|context length is only \d+ tokens|input length.*exceeds.*context length|prompt too long; exceeded (?:max )?context length|too large for model with \d+ maximum context length|prompt has [\d,]+ tokens?, but the configured context size is [\d,]+ tokens?|model_context_window_exceeded|too many tokens|token limit exceeded";
const NOT_TOO_LONG: &str = r"(?i)^(throttling error|service unavailable):|rate limit|too many requests";
/// What some servers know better than that.
const WAITS: &str = r"(?i)(?:too many tokens|token limit exceeded).*(?:wait|try again|retry after)";
/// What a code or a kind of error has to say to be tried again.
const CODES: &str = r"(?i)rate.?limit|too.?many.?requests|rate increased too quickly|exhausted|overload|server|unavailable|timeout";
const RATES: &str = r"(?i)rate increased too quickly|rate.?limit|too.?many.?requests";

/// The words that one kind of server looks for.
#[derive(Debug)]
struct Words {
    tried_again: Vec<Regex>,
    too_long: Vec<Regex>,
    not_too_long: Vec<Regex>,
    codes: Vec<Regex>,
    rates: Vec<Regex>,
}

impl Words {
    fn new(strict: bool) -> Self {
        // An expression that is none finds nothing; a test holds that all are.
        let all = |list: &[&str]| list.iter().filter_map(|text| Regex::new(text).ok()).collect::<Vec<_>>();
        let mut tried_again = all(TRIED_AGAIN);
        tried_again.extend(if strict {
            all(&[r"\b(?:429|500|502|503|504|524)\b", &format!("(?i){BROKEN}|network error")])
        } else {
            let later = r"(?i)\btry again (?:later|in\b)|\b(?:currently|temporarily) at capacity\b";
            all(&["429|500|502|503|504|524", &format!(r"(?i){BROKEN}|network[-_\s]error"), later])
        });
        let no_body = r"(?i)^4(00|13)\s*(status code)?\s*\(no body\)";
        Self {
            tried_again,
            too_long: all(&[TOO_LONG, no_body]),
            not_too_long: all(if strict { &[NOT_TOO_LONG, WAITS] } else { &[NOT_TOO_LONG] }),
            codes: all(&[CODES]),
            rates: all(&[RATES]),
        }
    }

    fn of(profile: &Profile) -> &'static Self {
        static STRICT: LazyLock<Words> = LazyLock::new(|| Words::new(true));
        static LOOSE: LazyLock<Words> = LazyLock::new(|| Words::new(false));
        if profile.strict_about_refusals { &STRICT } else { &LOOSE }
    }

    fn is_too_long(&self, text: &str) -> bool {
        !finds(&self.not_too_long, text) && finds(&self.too_long, text)
    }
}

fn finds(list: &[Regex], text: &str) -> bool {
    list.iter().any(|words| words.is_match(text))
}

impl Told {
    /// The provider refuses the request.
    pub(crate) fn of_refusal(profile: &Profile, refusal: &Refusal) -> Self {
        let words = Words::of(profile);
        let status = refusal.status;
        let body: Option<Value> = serde_json::from_str(&refusal.body).ok();
        let message = message_of(profile, refusal, body.as_ref());
        let code = body.as_ref().and_then(|body| body.pointer("/error/code"));
        if words.is_too_long(&message)
            || status == 413
            || code.is_some_and(|code| code == "context_length_exceeded")
        {
            return Self::too_long(&message, &refusal.body);
        }
        let is_retryable = matches!(status, 408 | 409 | 429 | 500..);
        let worth =
            is_retryable || finds(&words.tried_again, &message) || finds(&words.tried_again, &refusal.body);
        let retry = (worth && (is_retryable || !profile.strict_about_refusals || !refusal.body.is_empty()))
            .then(|| if message.contains("Overloaded") { OVERLOADED.to_owned() } else { message.clone() });
        let error = json!({"name": "APIError", "data": {
            "message": message, "statusCode": status, "isRetryable": is_retryable,
            "responseHeaders": refusal.headers, "responseBody": refusal.body, "metadata": {"url": refusal.url},
        }});
        Self { error, retry, wait_ms: wait_of(refusal), answered: true }
    }

    /// The connection breaks.
    pub(crate) fn of_cut_off() -> Self {
        let metadata = json!({"code": "ECONNRESET", "syscall": "", "message": CLOSED});
        let data = json!({"message": CUT_OFF, "isRetryable": true, "metadata": metadata});
        let retry = Some(CUT_OFF.to_owned());
        Self { error: json!({"name": "APIError", "data": data}), retry, wait_ms: None, answered: false }
    }

    /// The connection breaks before there is an answer.
    pub(crate) fn of_no_answer(url: &str, why: &str) -> Self {
        let message = format!("Cannot connect to API: {why}");
        let data = json!({"message": message, "isRetryable": true, "metadata": {"url": url}});
        let error = json!({"name": "APIError", "data": data});
        Self { error, retry: Some(message), wait_ms: None, answered: false }
    }

    /// The stream tells of an error.
    pub(crate) fn in_stream(profile: &Profile, error: &Value) -> Self {
        let words = Words::of(profile);
        let known: Vec<(&str, &Value)> = ["message", "type", "param", "code"]
            .into_iter()
            .filter_map(|key| Some((key, error.get(key)?)))
            .collect();
        let told: Value = known.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        let text = told.to_string();
        let is_plain = told.get("type").is_none() && told.get("code").is_some();
        if profile.strict_about_refusals && is_plain {
            return Self::plain_in_stream(words, &told);
        }
        Self::unknown(profile, &text)
    }

    /// Such an error without a kind is taken for one of the provider's interface.
    fn plain_in_stream(words: &Words, told: &Value) -> Self {
        let body = told.to_string();
        let message = told["message"].as_str().unwrap_or_default();
        let or = |other: &str| if message.trim().is_empty() { other.to_owned() } else { message.to_owned() };
        let (message, is_retryable) = match told["code"].as_str().unwrap_or_default() {
            "context_length_exceeded" => {
                return Self::too_long("Input exceeds context window of this model", &body);
            }
            "rate_limit_exceeded" => (or("Provider rate limit exceeded. Please try again shortly."), true),
            "insufficient_quota" => {
                ("Quota exceeded. Check your plan and billing details.".to_owned(), false)
            }
            "usage_not_included" => {
                let plus =
                    "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.";
                (plus.to_owned(), false)
            }
            "invalid_prompt" => (message.to_owned(), false),
            "server_is_overloaded" | "server_error" => (message.to_owned(), true),
            code => {
                let number = told["code"].as_f64().or_else(|| code.trim().parse().ok());
                let by_code = match number {
                    Some(number) => number == 429.0 || (500.0..600.0).contains(&number),
                    None => finds(&words.codes, code),
                };
                (message.to_owned(), by_code || finds(&words.rates, message))
            }
        };
        let worth = is_retryable || finds(&words.tried_again, &message) || finds(&words.tried_again, &body);
        let retry = worth
            .then(|| if message.contains("Overloaded") { OVERLOADED.to_owned() } else { message.clone() });
        let data = json!({"message": message, "isRetryable": is_retryable, "responseBody": body});
        Self { error: json!({"name": "APIError", "data": data}), retry, wait_ms: None, answered: false }
    }

    /// An error of no known kind.
    pub(crate) fn unknown(profile: &Profile, message: &str) -> Self {
        let words = Words::of(profile);
        let small = message.to_lowercase();
        let retry = if small.contains("too_many_requests") {
            Some("Too Many Requests".to_owned())
        } else if small.contains("exhausted") || small.contains("unavailable") {
            Some(OVERLOADED.to_owned())
        } else {
            finds(&words.tried_again, message).then(|| message.to_owned())
        };
        let error = json!({"name": "UnknownError", "data": {"message": message}});
        Self { error, retry, wait_ms: None, answered: false }
    }

    /// Was the model told more than it takes?
    pub(crate) fn is_too_long(&self) -> bool {
        self.error["name"] == "ContextOverflowError"
    }

    fn too_long(message: &str, body: &str) -> Self {
        let error =
            json!({"name": "ContextOverflowError", "data": {"message": message, "responseBody": body}});
        Self { error, retry: None, wait_ms: None, answered: true }
    }
}

/// The words that the real servers take for no more than the status: those of their runtime, not of who sent it.
fn phrase_of_node(status: u16) -> Option<&'static str> {
    match status {
        418 => Some("I'm a Teapot"),
        509 => Some("Bandwidth Limit Exceeded"),
        _ => usual_phrase(status),
    }
}

/// What the refusal is told as: the provider's own words, if they stand where they are looked for.
fn message_of(profile: &Profile, refusal: &Refusal, body: Option<&Value>) -> String {
    let usual = phrase_of_node(refusal.status);
    let said = body.and_then(words_of).unwrap_or(&refusal.phrase);
    if said.is_empty() {
        let other = if refusal.body.is_empty() { usual.unwrap_or("Unknown error") } else { &refusal.body };
        return other.trim().to_owned();
    }
    if refusal.body.is_empty() || usual != Some(said) {
        return said.trim().to_owned();
    }
    let elsewhere = body.and_then(|body| {
        let is_there = |value: &&Value| !value.is_null() && **value != "" && **value != false && **value != 0;
        body.get("message").filter(is_there).or_else(|| body.get("error").filter(is_there))?.as_str()
    });
    if let Some(elsewhere) = elsewhere {
        return format!("{said}: {elsewhere}").trim().to_owned();
    }
    let start = refusal.body.trim_start().to_ascii_lowercase();
    if start.starts_with("<!doctype") || start.starts_with("<html") {
        let word = profile.server.word();
        return match refusal.status {
            401 => format!(
                "Unauthorized: request was blocked by a gateway or proxy. Your authentication token may be missing or \
                 expired — try running `{word} auth login <your provider URL>` to re-authenticate."
            ),
            403 => "Forbidden: request was blocked by a gateway or proxy. You may not have permission to access this \
                    resource — check your account and provider settings."
                .to_owned(),
            _ => said.trim().to_owned(),
        };
    }
    format!("{said}: {}", refusal.body).trim().to_owned()
}

/// The message of an error of the OpenAI dialect.
fn words_of(body: &Value) -> Option<&str> {
    let error = body.get("error")?;
    let fits =
        |key: &str, is: fn(&Value) -> bool| error.get(key).is_none_or(|value| value.is_null() || is(value));
    let is_error =
        fits("type", Value::is_string) && fits("code", |code| code.is_string() || code.is_number());
    error.get("message")?.as_str().filter(|_| is_error)
}

/// How long the provider wants to be left alone.
fn wait_of(refusal: &Refusal) -> Option<u64> {
    let number = |name: &str| {
        let text = refusal.headers.get(name)?.trim_start();
        let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        text[..end].parse::<f64>().ok()
    };
    let ms = number("retry-after-ms").or_else(|| Some(number("retry-after")? * 1000.0))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wait is no age")]
    Some(ms.ceil().clamp(0.0, 2_147_483_647.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    fn refusal(status: u16, body: &str) -> Refusal {
        let phrase = usual_phrase(status).unwrap_or_default();
        Refusal { status, phrase: phrase.to_owned(), body: body.to_owned(), ..Refusal::default() }
    }

    fn told(status: u16, body: &str) -> Told {
        Told::of_refusal(Profile::of(ServerKind::Kilo), &refusal(status, body))
    }

    #[test]
    fn words_that_the_runtime_spells_otherwise_are_taken_for_the_provider_s_own() {
        let message = |status| {
            let told = told(status, r#"{"message":"short and stout"}"#);
            told.error["data"]["message"].clone()
        };
        assert_eq!(message(418), "I'm a teapot");
        assert_eq!(message(416), "Range Not Satisfiable: short and stout");
    }

    #[test]
    fn every_expression_is_one() {
        for strict in [true, false] {
            let words = Words::new(strict);
            assert_eq!(words.tried_again.len(), if strict { 6 } else { 7 });
            assert_eq!((words.too_long.len(), words.codes.len(), words.rates.len()), (2, 1, 1));
            assert_eq!(words.not_too_long.len(), if strict { 2 } else { 1 });
        }
    }

    #[test]
    fn a_refusal_is_told_in_the_provider_s_words_where_they_are_found() {
        for (status, body, message) in [
            (400, r#"{"error":{"message":"Bad."}}"#, "Bad."),
            (
                400,
                r#"{"error":{"message":"Bad.","code":{}}}"#,
                r#"Bad Request: {"error":{"message":"Bad.","code":{}}}"#,
            ),
            (400, r#"{"message":"Bad."}"#, "Bad Request: Bad."),
            (404, r#"{"error":"none"}"#, "Not Found: none"),
            (403, "go away", "Forbidden: go away"),
            (402, "", "Payment Required"),
            (400, r#"{"error":{"message":""}}"#, r#"{"error":{"message":""}}"#),
            (500, "<html></html>", "Internal Server Error"),
        ] {
            assert_eq!(told(status, body).error["data"]["message"], message, "{status} {body}");
        }
    }

    #[test]
    fn words_can_make_a_refusal_worth_another_try() {
        let limit = r#"{"error":{"message":"Rate limit reached"}}"#;
        assert_eq!(told(400, limit).retry.as_deref(), Some("Rate limit reached"));
        assert_eq!(told(400, r#"{"error":{"message":"No."}}"#).retry, None);
        assert_eq!(told(529, r#"{"error":{"message":"Overloaded"}}"#).retry.as_deref(), Some(OVERLOADED));
        for (status, body) in [(413, "x"), (400, r#"{"error":{"message":"Prompt is too long"}}"#)] {
            assert_eq!(told(status, body).error["name"], "ContextOverflowError");
        }
    }

    #[test]
    fn a_provider_says_how_long_it_wants_to_be_left_alone() {
        let wait = |name: &str, value: &str| {
            let headers = [(name.to_owned(), value.to_owned())].into();
            wait_of(&Refusal { headers, ..refusal(429, "") })
        };
        assert_eq!(wait("retry-after", "1.5"), Some(1500));
        assert_eq!(wait("retry-after-ms", "20"), Some(20));
        assert_eq!(wait("retry-after", "soon"), None);
    }
}
