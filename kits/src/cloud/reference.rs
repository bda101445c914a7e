//! A client that fetches news, and the switches that break it. It imports nothing of the stand-in.

use crate::adapter::{Adapter, Screen};
use crate::kit::Mutant;
use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Switches, each a bug of clients.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant { name: "plan-shape-only", about: "news without a type are dropped" },
    Mutant {
        name: "drops-label",
        about: "a link is called by one shape's word alone, and is `Open` in the other",
    },
    Mutant {
        name: "forgets-type",
        about: "a piece of news that is neither info nor warning is told as info",
    },
    Mutant { name: "all-unread", about: "what the user has read is told as unread" },
    Mutant { name: "whole-seconds", about: "times of news are cut to seconds" },
    Mutant { name: "escapes-words", about: "words of the news are escaped for a page, and shown as such" },
    Mutant { name: "remembers-for-anybody", about: "who has no token any more gets the news of before" },
    Mutant {
        name: "knows-some-links",
        about: "a link is offered unless it begins as one of three that are known",
    },
    Mutant { name: "looks-for-http", about: "a link is offered if `http` stands anywhere in it" },
    Mutant {
        name: "begins-with-http",
        about: "a link is offered if it begins with `http`, whatever follows",
    },
    Mutant { name: "looks-at-each-line", about: "a link is offered if one of its lines is a web page's" },
    Mutant { name: "reads-errors", about: "the list in the body of an error is told as news" },
    Mutant { name: "decodes-pieces", about: "each piece of the answer is made a text by itself" },
    Mutant { name: "looks-at-one-shape", about: "a link is looked at in one of the two shapes alone" },
    Mutant { name: "cached", about: "the first list is given again and again" },
    Mutant { name: "asks-without-token", about: "who has no token asks as nobody" },
    Mutant { name: "any-provider", about: "the token is used whoever the provider is" },
    Mutant { name: "retries", about: "what fails is asked again" },
    Mutant {
        name: "retries-later",
        about: "what fails is asked again half a minute later, when nobody waits",
    },
    Mutant { name: "impatient", about: "after three seconds it gives up" },
    Mutant { name: "patient", about: "it gives up after half a minute" },
    Mutant { name: "idle-timer", about: "its five seconds begin again at each byte" },
    Mutant { name: "throws", about: "what fails is an error to whoever asked" },
    Mutant { name: "notice-on-failure", about: "the user is told of what fails" },
    Mutant { name: "no-log", about: "what fails is written nowhere" },
    Mutant { name: "token-in-log", about: "the line in the log has the request in it" },
    Mutant { name: "claims-in-log", about: "the line in the log has the token's claims in it" },
    Mutant { name: "token-in-address", about: "whoever it is sent to gets the token, in the address" },
    Mutant { name: "any-link-on-screen", about: "the screen is told of every link, wherever it leads" },
    Mutant { name: "bearer-follows-redirect", about: "whoever it is sent to gets the token" },
    Mutant { name: "always-production", about: "every token is shown to one cloud" },
    Mutant { name: "base-from-claim", about: "a claim of the token names the host" },
    Mutant { name: "asks-for-padding", about: "a token is read only if it is padded" },
    Mutant { name: "trusting-body", about: "what the body says is taken for a list" },
    Mutant { name: "any-link", about: "a link is offered wherever it leads" },
];

/// Not a mutant: who does what a plan says, word for word. Where that harms, a case says which hazard it is.
const TO_THE_LETTER: &str = "to-the-letter";
/// Whose bugs he has.
const OF_THE_LETTER: [&str; 3] = ["idle-timer", "passes-on", "any-link"];

/// The client.
pub(super) struct Client {
    mutant: Option<&'static str>,
    http: reqwest::Client,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    production: String,
    development: String,
    /// What the mutant `any-link-on-screen` shows: the list as it came.
    raw: Option<Value>,
    /// What the mutant `cached` keeps.
    list: Option<Value>,
}

impl Client {
    pub(super) fn new(mutant: Option<&'static str>) -> Self {
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Self { mutant, http: http.build().unwrap_or_default(), memory: Mutex::default() }
    }

    fn is(&self, mutant: &str) -> bool {
        self.mutant == Some(mutant) || self.mutant == Some(TO_THE_LETTER) && OF_THE_LETTER.contains(&mutant)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cloud of a token: one of two.
    fn origin(&self, token: &str) -> String {
        let memory = self.memory();
        let claims = self.claims(token).unwrap_or_default();
        if self.is("base-from-claim")
            && let Some(host) = claims["baseUrl"].as_str()
        {
            return host.to_owned();
        }
        match claims["env"].as_str() {
            Some("development") if !self.is("always-production") => memory.development.clone(),
            _ => memory.production.clone(),
        }
    }

    fn claims(&self, token: &str) -> Option<Value> {
        let parts: Vec<&str> = token.split('.').collect();
        let [_, claims, _] = parts[..] else { return None };
        let claims = claims.replace('+', "-").replace('/', "_");
        let bytes = match self.is("asks-for-padding") {
            true => URL_SAFE.decode(claims),
            false => URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')),
        };
        serde_json::from_slice(&bytes.ok()?).ok()
    }

    /// The news, or nothing: whoever asks is never told why not.
    async fn fetch(self: &Arc<Self>, params: &Value, screen: &Screen) -> Result<Value, RpcError> {
        let is_ours = params["provider"] == "kilocode" || self.is("any-provider");
        let token = params["token"].as_str().or_else(|| self.is("asks-without-token").then_some("anonymous"));
        let list = match token.filter(|_| is_ours) {
            Some(token) => self.list(token, screen).await?,
            None if self.is("remembers-for-anybody") => self.memory().list.clone().unwrap_or(json!([])),
            None => json!([]),
        };
        let raw = self.memory().raw.take().filter(|_| self.is("any-link-on-screen"));
        let shown = raw.as_ref().unwrap_or(&list);
        screen.show(json!({"kind": "notificationsResponse", "notifications": shown}));
        Ok(json!({"notifications": list}))
    }

    async fn list(self: &Arc<Self>, token: &str, screen: &Screen) -> Result<Value, RpcError> {
        if let Some(list) = self.memory().list.clone().filter(|_| self.is("cached")) {
            return Ok(list);
        }
        let mut asked = self.in_time(token, screen).await;
        if asked.is_err() && self.is("retries") {
            asked = self.in_time(token, screen).await;
        }
        if asked.is_err() && self.is("retries-later") {
            let (client, token, screen) = (self.clone(), token.to_owned(), screen.clone());
            tokio::spawn(async move {
                screen.wait(30_000.0).await;
                // Nobody waits for it.
                let _late = client.in_time(&token, &screen).await;
            });
        }
        let list = match asked.and_then(|body| self.read(&body)) {
            Ok(list) => list,
            Err(why) => {
                let claims = token.split('.').nth(1).unwrap_or_default();
                let request = match self.mutant {
                    Some("token-in-log") => format!(" (bearer {token})"),
                    Some("claims-in-log") => format!(" (claims {claims})"),
                    _ => String::new(),
                };
                if !self.is("no-log") {
                    screen.show(json!({"kind": "log", "text": format!("no news: {why}{request}")}));
                }
                if self.is("notice-on-failure") {
                    screen.show(json!({"kind": "notice", "level": "error", "text": "no news"}));
                }
                if self.is("throws") {
                    return Err(RpcError::failed(why));
                }
                json!([])
            }
        };
        self.memory().list = Some(list.clone());
        Ok(list)
    }

    /// The bytes of the answer, within five seconds in all.
    async fn in_time(&self, token: &str, screen: &Screen) -> Result<Vec<u8>, String> {
        let limit = match self.mutant {
            Some("impatient") => 3000.0,
            Some("patient") => 30_000.0,
            _ => 5000.0,
        };
        let is_idle_timer = self.is("idle-timer");
        let whole = async {
            let mut response = patiently(screen, is_idle_timer, self.send(token)).await??;
            let mut body = Vec::new();
            loop {
                let piece = async { response.chunk().await.map_err(|error| error.without_url().to_string()) };
                match patiently(screen, is_idle_timer, piece).await?? {
                    Some(piece) if self.is("decodes-pieces") => {
                        body.extend_from_slice(String::from_utf8_lossy(&piece).as_bytes());
                    }
                    Some(piece) => body.extend_from_slice(&piece),
                    None => return Ok(body),
                }
            }
        };
        if is_idle_timer {
            return whole.await;
        }
        tokio::select! {
            biased;
            body = whole => body,
            () = screen.wait(limit) => Err("it took too long".to_owned()),
        }
    }

    async fn send(&self, token: &str) -> Result<reqwest::Response, String> {
        let asked = |url: String| {
            let request = self.http.get(url).header(ACCEPT, "application/json");
            request.header(CONTENT_TYPE, "application/json").header(AUTHORIZATION, format!("Bearer {token}"))
        };
        let url = format!("{}/api/users/notifications", self.origin(token));
        let mut response = asked(url).send().await.map_err(|error| error.without_url().to_string())?;
        let location =
            response.headers().get(LOCATION).and_then(|place| place.to_str().ok()).map(str::to_owned);
        if let Some(place) = &location
            && self.is("token-in-address")
        {
            let there = self.http.get(format!("{place}?token={token}")).send();
            response = there.await.map_err(|error| error.without_url().to_string())?;
        }
        if let Some(place) = location.filter(|_| self.is("bearer-follows-redirect")) {
            response = asked(place).send().await.map_err(|error| error.without_url().to_string())?;
        }
        match response.status().as_u16() {
            200 => Ok(response),
            _ if self.is("reads-errors") => Ok(response),
            status => Err(format!("status {status}")),
        }
    }

    /// The news in a body of either shape; what is no news in it is left out.
    fn read(&self, body: &[u8]) -> Result<Value, String> {
        let body: Value = match serde_json::from_slice(body) {
            Err(_) if self.is("passes-on") => Value::Null,
            body => body.map_err(|_| "no JSON".to_owned())?,
        };
        if self.is("passes-on") {
            let list = &body["notifications"];
            return Ok(if list.is_null() { json!([]) } else { list.clone() });
        }
        if self.is("trusting-body") {
            return Ok(body["notifications"].clone());
        }
        let list = body["notifications"].as_array().ok_or("no list of news")?;
        self.memory().raw = Some(body["notifications"].clone());
        Ok(list.iter().filter_map(|one| self.piece(one)).collect())
    }

    fn piece(&self, one: &Value) -> Option<Value> {
        if self.is("plan-shape-only") {
            one["type"].as_str()?;
        }
        let (id, title, message) = (one["id"].as_str()?, one["title"].as_str()?, one["message"].as_str()?);
        let escaped = |words: &str| words.replace('&', "&amp;").replace('<', "&lt;");
        let mut piece = match self.is("escapes-words") {
            true => json!({"id": id, "title": escaped(title), "message": escaped(message)}),
            false => json!({"id": id, "title": title, "message": message}),
        };
        if let (Some(kind), Some(at), Some(read)) =
            (one["type"].as_str(), one["timestamp"].as_u64(), one["read"].as_bool())
        {
            let is_known = !self.is("forgets-type") || matches!(kind, "info" | "warning");
            piece["type"] = json!(if is_known { kind } else { "info" });
            piece["timestamp"] = json!(if self.is("whole-seconds") { at / 1000 * 1000 } else { at });
            piece["read"] = json!(read && !self.is("all-unread"));
        }
        let action = &one["action"];
        let either =
            |plan: &str, doc: &str| action[plan].as_str().or_else(|| action[doc].as_str()).map(str::to_owned);
        if let (Some(text), Some(url)) = (either("label", "actionText"), either("url", "actionURL"))
            && self.is_followed(&url, action["url"].is_null())
        {
            let is_other = self.is("drops-label") && action["label"].is_null();
            piece["link"] = json!({"text": if is_other { "Open" } else { text.as_str() }, "url": url});
        }
        Some(piece)
    }
}

impl Client {
    /// May the user follow it? A page is one that comes with TLS.
    fn is_followed(&self, url: &str, is_of_doc: bool) -> bool {
        match self.mutant {
            Some("knows-some-links") => {
                !["javascript:", "file:", "command:"].iter().any(|begin| url.starts_with(begin))
            }
            Some("looks-for-http") => url.contains("http"),
            Some("begins-with-http") => url.starts_with("http"),
            Some("looks-at-each-line") => url.lines().any(|line| line.starts_with("https://")),
            Some("looks-at-one-shape") if is_of_doc => true,
            _ => self.is("any-link") || url.starts_with("https://"),
        }
    }
}

/// Waits for a part; a timer that begins again with each part ends it.
async fn patiently<T>(screen: &Screen, is_timed: bool, part: impl Future<Output = T>) -> Result<T, String> {
    if !is_timed {
        return Ok(part.await);
    }
    tokio::select! {
        biased;
        part = part => Ok(part),
        () = screen.wait(5000.0) => Err("it took too long".to_owned()),
    }
}

impl Adapter for Client {
    fn introduce(&self) -> Value {
        let capabilities = ["cloud.notifications", "cloud.token"];
        let policy = if self.mutant == Some(TO_THE_LETTER) { "seed" } else { "careful" };
        json!({"name": "cloud-reference", "capabilities": capabilities, "clock": "virtual", "declares": {"policy": policy}})
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            match method.as_str() {
                "configure" => {
                    let origin = |name: &str| params["origins"][name].as_str().unwrap_or_default().to_owned();
                    let mut memory = self.memory();
                    (memory.production, memory.development) = (origin("production"), origin("development"));
                    Ok(json!({}))
                }
                "notifications/fetch" => self.fetch(&params, &screen).await,
                "token/base" => {
                    let token = params["token"].as_str().unwrap_or_default();
                    Ok(json!({"origin": self.origin(token)}))
                }
                _ => Err(RpcError::unsupported(&method)),
            }
        })
    }
}
