//! Which requests a test expects, which it forbids, and in which order they come: held against the journal. What is missed is
//! told with what came in its place.

use super::near;
use crate::http::core::ANOTHER_CLIENT;
use fixtures::fault_plan::{Route, StreamName, check_route};
use fixtures::near_names::unknown;
use fixtures::recording::{Body, Line, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The calls that a test means.
///
/// ```
/// use mock_server::{Call, Calls, StandIn};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stand_in = StandIn::kilo().lenient().start().await?;
/// reqwest::get(format!("{}/session", stand_in.url())).await?;
/// let calls = Calls::default()
///     .expects(Call::to("GET /session").times(1))
///     .expects(Call::to("POST /session/{sessionID}/prompt_async").with("parts.0.text", "say hello"))
///     .forbids("POST /session/{sessionID}/abort")
///     .in_order(["GET /session", "POST /session/{sessionID}/prompt_async"]);
/// let unmet = stand_in.verify_calls(&calls).unwrap_err();
/// assert!(unmet.to_string().contains("expected: POST /session/{sessionID}/prompt_async"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    #[serde(default)]
    expected: Vec<Call>,
    #[serde(default)]
    forbidden: Vec<Call>,
    #[serde(default)]
    order: Vec<Call>,
}

/// One call, or several that are alike.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Call {
    request: String,
    lane: Option<String>,
    body: Map<String, Value>,
    count: Option<usize>,
}

/// A call as a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "the one or the other")]
struct Table {
    request: String,
    lane: Option<String>,
    #[serde(default)]
    body: Map<String, Value>,
    count: Option<usize>,
}

impl TryFrom<Value> for Call {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        if let Value::String(request) = value {
            return Ok(Self::to(request));
        }
        let table = serde_json::from_value(value).map_err(|error| {
            format!("a call is \"POST /session\" or {{\"request\": \"POST /session\", …}}: {error}")
        })?;
        let Table { request, lane, body, count } = table;
        Ok(Self { request, lane, body, count })
    }
}

impl From<&str> for Call {
    fn from(request: &str) -> Self {
        Self::to(request)
    }
}

impl Call {
    /// Requests as a fault plan calls them: `GET /session/{sessionID}/message`, `streams`, `rest`, `*`.
    #[must_use]
    pub fn to(request: impl Into<String>) -> Self {
        Self { request: request.into(), lane: None, body: Map::new(), count: None }
    }

    /// Only those in whose body this stands at the dotted path.
    #[must_use]
    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        self.body.insert(path.to_owned(), value.into());
        self
    }

    /// Only those of this client.
    #[must_use]
    pub fn on_lane(mut self, lane: &str) -> Self {
        self.lane = Some(lane.to_owned());
        self
    }

    /// So often and no more; once at least when nothing is said.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.count = Some(count);
        self
    }

    pub(super) fn route(&self) -> Result<Route, String> {
        self.request.parse()
    }

    /// In which way a request is another one, of those that come to its route.
    pub(super) fn differs(&self, request: &Request) -> Option<String> {
        let lane = request.lane.as_deref().unwrap_or_default();
        // The client that a fault plan lets answer is nobody's client, unless it is named.
        let is_meant = self.lane.as_deref().map_or(lane != ANOTHER_CLIENT, |wanted| wanted == lane);
        if !is_meant {
            return Some(format!("it is of lane '{lane}'"));
        }
        let body = match &request.body {
            Body::Json(body) => body.clone(),
            other => serde_json::from_slice(&other.to_bytes()).unwrap_or_default(),
        };
        self.body.iter().find_map(|(path, wanted)| match crate::fault::frames::at(&body, path) {
            Some(there) if there == wanted => None,
            Some(there) => Some(format!("{path} is {there}")),
            None => Some(format!("it has no {path}")),
        })
    }

    fn means(&self, route: &Route, request: &Request) -> bool {
        leads_to(route, request) && self.differs(request).is_none()
    }
}

pub(super) fn leads_to(route: &Route, request: &Request) -> bool {
    let is_stream = request.method == "GET" && StreamName::is_path(&request.path);
    route.means(&request.method, &request.path, is_stream)
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.request)?;
        if let Some(lane) = &self.lane {
            write!(f, " on lane '{lane}'")?;
        }
        for (path, value) in &self.body {
            write!(f, ", {path} = {value}")?;
        }
        match self.count {
            Some(count) => write!(f, ", {}", often(count)),
            None => Ok(()),
        }
    }
}

/// What a call did not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Broken {
    /// It is to come, or so often.
    Expected,
    /// It is not to come.
    Forbidden,
    /// It is to come behind another one.
    Order,
    /// No call can be judged: the words are wrong, or the journal has forgotten what came.
    Unjudged,
}

/// A call that is not as it is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmetCall {
    /// What it did not keep to.
    pub what: Broken,
    /// The call.
    pub call: String,
    /// What happened.
    pub says: String,
    /// The requests that came near it, and how they are others.
    pub near: Vec<String>,
}

/// All that did not go as it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetCalls(pub Vec<UnmetCall>);

impl std::error::Error for UnmetCalls {}

impl fmt::Display for UnmetCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the calls are not as they are meant to be:")?;
        for UnmetCall { what, call, says, near } in &self.0 {
            let what = match what {
                Broken::Expected => "expected",
                Broken::Forbidden => "forbidden",
                Broken::Order => "order",
                Broken::Unjudged => "not judged",
            };
            write!(f, "\n  {what}: {call}: {says}")?;
            near.iter().try_for_each(|near| write!(f, "\n    {near}"))?;
        }
        Ok(())
    }
}

impl Calls {
    /// This is to come.
    #[must_use]
    pub fn expects(mut self, call: impl Into<Call>) -> Self {
        self.expected.push(call.into());
        self
    }

    /// This is not to come.
    #[must_use]
    pub fn forbids(mut self, call: impl Into<Call>) -> Self {
        self.forbidden.push(call.into());
        self
    }

    /// These are to come one after the other, whatever comes between them.
    #[must_use]
    pub fn in_order<C: Into<Call>>(mut self, calls: impl IntoIterator<Item = C>) -> Self {
        self.order.extend(calls.into_iter().map(Into::into));
        self
    }

    /// Are the words those of a server of this release with these lanes? A call that can't come is forbidden in vain.
    pub(crate) fn check(&self, release: &str, lanes: &[String]) -> Result<(), String> {
        let all = || self.expected.iter().chain(&self.forbidden).chain(&self.order);
        if all().next().is_none() {
            return Err("say which calls: {\"expected\": [\"POST /session\"]}, forbidden or order".to_owned());
        }
        for call in all() {
            check_route(&call.route()?, release)?;
            let lane = call.lane.iter().find(|lane| *lane != ANOTHER_CLIENT && !lanes.contains(lane));
            if let Some(lane) = lane {
                return Err(unknown("lane", lane, lanes));
            }
        }
        let counted = self.forbidden.iter().chain(&self.order).find(|call| call.count.is_some());
        counted.map_or(Ok(()), |call| Err(format!("'{call}': only what is expected has a count")))
    }

    /// What is not as it is meant, of the requests in these lines.
    pub(crate) fn unmet(&self, lines: &[Line]) -> Vec<UnmetCall> {
        let requests: Vec<&Request> = lines
            .iter()
            .filter_map(|line| if let Line::Request(request) = line { Some(request) } else { None })
            .collect();
        let expected = self.expected.iter().filter_map(|call| expected(call, &requests));
        let forbidden = self.forbidden.iter().filter_map(|call| forbidden(call, &requests));
        expected.chain(forbidden).chain(out_of_order(&self.order, &requests)).collect()
    }
}

fn meant<'r>(call: &Call, requests: &[&'r Request]) -> Vec<&'r Request> {
    // A route that is none was refused before.
    let Ok(route) = call.route() else { return Vec::new() };
    requests.iter().copied().filter(|request| call.means(&route, request)).collect()
}

fn unmet(what: Broken, call: &Call, says: String, near: Vec<String>) -> UnmetCall {
    UnmetCall { what, call: call.to_string(), says, near }
}

fn often(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn expected(call: &Call, requests: &[&Request]) -> Option<UnmetCall> {
    let came = meant(call, requests);
    let (is_met, wanted) = match call.count {
        None => (!came.is_empty(), String::new()),
        Some(count) => (came.len() == count, format!(", not {}", often(count))),
    };
    if is_met {
        return None;
    }
    if came.is_empty() {
        return Some(unmet(Broken::Expected, call, "it never came".to_owned(), near::of(call, requests)));
    }
    let mut near = near::told(&came);
    near.extend(near::of(call, requests));
    Some(unmet(Broken::Expected, call, format!("it came {}{wanted}", often(came.len())), near))
}

fn forbidden(call: &Call, requests: &[&Request]) -> Option<UnmetCall> {
    let came = meant(call, requests);
    let says = format!("it came {}", often(came.len()));
    (!came.is_empty()).then(|| unmet(Broken::Forbidden, call, says, near::told(&came)))
}

/// The first that does not come behind the one before it.
fn out_of_order(order: &[Call], requests: &[&Request]) -> Option<UnmetCall> {
    let mut rest = requests;
    let mut before: Option<(&Call, &Request)> = None;
    for call in order {
        let route = call.route().ok()?;
        if let Some(at) = rest.iter().position(|request| call.means(&route, request)) {
            before = Some((call, rest[at]));
            rest = &rest[at + 1..];
            continue;
        }
        let Some((last, request)) = before else {
            return Some(unmet(Broken::Order, call, "it never came".to_owned(), near::of(call, requests)));
        };
        let earlier = meant(call, requests);
        let (says, near) = match earlier.is_empty() {
            true => ("it never came".to_owned(), near::of(call, requests)),
            false => {
                let says =
                    format!("it does not come behind '{last}', which came as {}", near::words(request));
                (says, near::told(&earlier))
            }
        };
        return Some(unmet(Broken::Order, call, says, near));
    }
    None
}

#[cfg(test)]
mod tests;
