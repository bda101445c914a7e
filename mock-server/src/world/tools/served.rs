//! Tools of other programs: a call is passed on to the server that has the tool, and its answer is the output.

use super::{Completed, Plan};
use crate::world::permission::Wish;
use crate::world::{EffectId, World};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A call that may be passed on.
#[derive(Debug, Clone)]
pub(crate) struct ServedPlan {
    server: EffectId,
    /// The tool's name there.
    tool: String,
}

/// What an answer may carry beside text.
const ATTACHABLE: &[&str] = &["application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"];
const ATTACHED_MAX: usize = 10 * 1024 * 1024;

impl World {
    pub(super) fn start_served(&mut self, session: &str, call: usize, name: &str, plan: ServedPlan) {
        self.set_plan(session, call, Plan::Served(plan));
        let all = vec!["*".to_owned()];
        let wish = Wish { permission: name, patterns: all.clone(), metadata: json!({}), always: all };
        self.ask_or_allow(session, call, &wish);
    }

    /// The plan for a call of a tool that some server has.
    pub(super) fn served_plan(&self, session: &str, tool: &str) -> Option<ServedPlan> {
        let (server, tool) = self.server_of(session, tool)?;
        Some(ServedPlan { server, tool })
    }

    pub(super) fn pass_on(&mut self, session: &str, call: usize, plan: &ServedPlan) {
        let Some(passed) = self.run_mut(session).and_then(|run| run.calls.get(call)) else { return };
        let arguments = if passed.input.is_null() { json!({}) } else { passed.input.clone() };
        if !self.ask_for_call(plan.server, &plan.tool, &arguments, (session, call)) {
            self.fail_call(session, call, "Not connected");
        }
    }

    /// The server has answered, or it is known why not.
    pub(in crate::world) fn call_served(
        &mut self,
        session: &str,
        call: usize,
        answer: Result<Value, String>,
    ) {
        match answer.and_then(|answer| shown(&answer)) {
            Ok(result) => self.complete_told_call(session, call, result),
            Err(message) => self.fail_call(session, call, &message),
        }
    }
}

/// What the agent gets of an answer.
fn shown(answer: &Value) -> Result<Completed, String> {
    let content = answer["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    if answer["isError"] == true {
        let texts = content.iter().filter_map(text).filter(|text| !text.trim().is_empty());
        let told = texts.collect::<Vec<&str>>().join("\n\n");
        return Err(if told.is_empty() { "MCP tool returned an error".to_owned() } else { told });
    }
    let mut result = Completed { metadata: json!({"truncated": false}), ..Completed::default() };
    let structured = answer.get("structuredContent").filter(|structured| !structured.is_null());
    if let Some(structured) = structured.filter(|_| content.is_empty()) {
        result.output = structured.to_string();
        return Ok(result);
    }
    let mut texts = Vec::new();
    for item in content {
        match item["type"].as_str() {
            Some("text") => texts.extend(text(item).map(str::to_owned)),
            Some("image") => {
                let (kind, bytes) = (word(&item["mimeType"]), bytes_of(&item["data"]));
                result.attach(kind.to_owned().into(), bytes, None);
            }
            Some("resource") => texts.extend(take_resource(&item["resource"], &mut result)),
            _ => {}
        }
    }
    result.output = texts.join("\n\n");
    Ok(result)
}

/// Takes what a server has of its own: its words, or what is said of its bytes that can't be shown.
fn take_resource(resource: &Value, result: &mut Completed) -> Vec<String> {
    let mut texts = Vec::new();
    texts.extend(resource["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned));
    if resource["blob"].as_str().is_some_and(|blob| !blob.is_empty()) {
        let kind = resource["mimeType"].as_str().unwrap_or("application/octet-stream");
        let (address, bytes) = (word(&resource["uri"]), bytes_of(&resource["blob"]));
        let omitted = |why: &str| {
            let size = size_of(bytes.len());
            Some(format!("[Binary MCP resource omitted: {address} ({kind}, {size}) {why}]"))
        };
        if !ATTACHABLE.contains(&kind) {
            texts.extend(omitted("is not a supported attachment type"));
        } else if bytes.len() > ATTACHED_MAX {
            texts.extend(omitted(&format!("exceeds {}", size_of(ATTACHED_MAX))));
        } else {
            result.attach(kind.to_owned().into(), bytes, Some(address.to_owned()));
        }
    }
    texts
}

fn text(item: &Value) -> Option<&str> {
    item["text"].as_str().filter(|_| item["type"] == "text")
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn bytes_of(encoded: &Value) -> Vec<u8> {
    STANDARD.decode(word(encoded)).unwrap_or_default()
}

fn size_of(bytes: usize) -> String {
    const KIB: usize = 1024;
    match bytes {
        _ if bytes < KIB => format!("{bytes} B"),
        _ if bytes < KIB * KIB => format!("{} KB", bytes.div_ceil(KIB)),
        _ => format!("{} MB", bytes.div_ceil(KIB * KIB)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_texts() {
        let two = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(shown(&two).unwrap().output, "a\n\nb");
        let structured = json!({"content": [], "structuredContent": {"a": 1}});
        assert_eq!(shown(&structured).unwrap().output, "{\"a\":1}");
        assert_eq!(shown(&json!({"content": []})).unwrap().output, "");
    }

    #[test]
    fn an_error_is_told_in_the_servers_words() {
        let failed = json!({"isError": true, "content": [{"type": "text", "text": " "}, {"type": "text", "text": "no"}]});
        assert_eq!(shown(&failed).unwrap_err(), "no");
        assert_eq!(shown(&json!({"isError": true})).unwrap_err(), "MCP tool returned an error");
    }

    #[test]
    fn bytes_that_can_t_be_shown_are_told() {
        let of = |kind: &str, blob: &str| {
            let resource = json!({"uri": "a:b", "mimeType": kind, "blob": blob});
            shown(&json!({"content": [{"type": "resource", "resource": resource}]})).unwrap()
        };
        let told = of("text/x", "AAEC").output;
        assert_eq!(
            told,
            "[Binary MCP resource omitted: a:b (text/x, 3 B) is not a supported attachment type]"
        );
        assert_eq!(of("application/pdf", "AAEC").attachments.len(), 1);
        assert_eq!(size_of(1025), "2 KB");
        assert_eq!(size_of(ATTACHED_MAX), "10 MB");
    }
}
