//! A tool's call as ACP tells it.

use crate::world::resolved;
use serde_json::{Map, Value, json};

/// A call of a tool, as its part of a message has it.
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) tool: &'a str,
    pub(super) state: &'a Value,
    pub(super) folder: &'a str,
}

impl Call<'_> {
    fn name(&self) -> String {
        self.tool.to_lowercase()
    }

    fn is_shell(&self) -> bool {
        matches!(self.name().as_str(), "bash" | "shell")
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.name().as_str() {
            "bash" | "shell" => "execute",
            "webfetch" => "fetch",
            "edit" | "apply_patch" | "patch" | "write" => "edit",
            "grep" | "glob" | "context" | "context7_resolve_library_id" | "context7_get_library_docs" => {
                "search"
            }
            "read" => "read",
            "task" => "think",
            _ => "other",
        }
    }

    fn input(&self) -> &Value {
        &self.state["input"]
    }

    fn title(&self, told: Option<&str>) -> String {
        let told = told.filter(|told| !told.is_empty());
        let line =
            text(&self.input()["command"]).or_else(|| text(&self.input()["cmd"])).filter(|_| self.is_shell());
        line.or(told).unwrap_or(self.tool).to_owned()
    }

    /// The folder in which a shell line runs.
    fn shell_folder(&self) -> String {
        let wanted = text(&self.input()["workdir"]).or_else(|| text(&self.input()["cwd"]));
        match wanted.filter(|wanted| !wanted.is_empty()) {
            Some(wanted) if wanted.starts_with('/') => wanted.to_owned(),
            Some(wanted) => resolved(self.folder, wanted),
            None => self.folder.to_owned(),
        }
    }

    pub(super) fn locations(&self) -> Value {
        let input = self.input();
        let file =
            || text(&input["filePath"]).or_else(|| text(&input["filepath"])).filter(|path| !path.is_empty());
        let mut paths: Vec<String> = Vec::new();
        match self.name().as_str() {
            "bash" | "shell" if !self.folder.is_empty() => paths.push(self.shell_folder()),
            "read" | "edit" | "write" => paths.extend(file().map(str::to_owned)),
            "external_directory" => {
                paths.extend(file().map(str::to_owned));
                paths.extend(text(&input["parentDir"]).map(str::to_owned));
                let more = input["directories"].as_array().into_iter().flatten();
                paths.extend(
                    more.filter_map(Value::as_str).filter(|path| !path.is_empty()).map(str::to_owned),
                );
            }
            "grep" | "glob" | "context" | "context7_resolve_library_id" | "context7_get_library_docs" => {
                paths.extend(text(&input["path"]).map(str::to_owned));
            }
            _ => {}
        }
        let mut told: Vec<String> = Vec::new();
        for path in paths {
            if !told.contains(&path) {
                told.push(path);
            }
        }
        told.into_iter().map(|path| json!({"path": path})).collect()
    }

    fn raw_input(&self) -> Value {
        let input = self.input();
        let has_folder =
            ["cwd", "workdir"].iter().any(|key| text(&input[key]).is_some_and(|value| !value.is_empty()));
        let mut input = input.clone();
        if self.is_shell() && !has_folder && !self.folder.is_empty() {
            let folder = self.shell_folder();
            if let Some(input) = input.as_object_mut() {
                input.insert("cwd".to_owned(), json!(folder));
            }
        }
        input
    }

    /// As it begins; `title` is its state's own or the one of a question.
    pub(super) fn begun(&self, title: Option<&str>) -> Value {
        json!({
            "toolCallId": self.id, "title": self.title(title), "kind": self.kind(), "status": "pending",
            "locations": self.locations(), "rawInput": self.raw_input(),
        })
    }

    /// While it runs; a shell line with what it has printed, unless that was told.
    pub(super) fn running(&self, output: Option<&str>) -> Value {
        let mut update = json!({
            "toolCallId": self.id, "status": "in_progress", "kind": self.kind(), "title": self.title(self.own_title()),
            "locations": self.locations(), "rawInput": self.raw_input(),
        });
        if let Some(output) = output.filter(|output| !output.is_empty()) {
            update["content"] = json!([content(output)]);
        }
        update
    }

    pub(super) fn completed(&self) -> Value {
        let state = self.state;
        let mut update = Map::from_iter([
            ("toolCallId".to_owned(), json!(self.id)),
            ("status".to_owned(), json!("completed")),
        ]);
        if let Some(title) = self.own_title() {
            update.insert("title".to_owned(), json!(title));
        }
        let output = state["output"].as_str().unwrap_or_default().to_owned();
        let shown = if self.name() == "read" { displayed(&state["metadata"]) } else { None };
        let mut all = vec![content(&shown.unwrap_or(output))];
        if self.kind() == "edit" {
            all.extend(self.diff());
        }
        let attachments = state["attachments"].as_array().cloned().unwrap_or_default();
        all.extend(attachments.iter().filter_map(picture));
        update.insert("content".to_owned(), Value::Array(all));
        let mut raw = json!({"output": state["output"]});
        if let Some(metadata) = state.get("metadata") {
            raw["metadata"] = metadata.clone();
        }
        if !attachments.is_empty() {
            raw["attachments"] = Value::Array(attachments);
        }
        update.insert("rawOutput".to_owned(), raw);
        Value::Object(update)
    }

    pub(super) fn failed(&self) -> Value {
        let error = &self.state["error"];
        let mut raw = json!({"error": error});
        if let Some(metadata) = self.state.get("metadata") {
            raw["metadata"] = metadata.clone();
        }
        json!({
            "toolCallId": self.id, "status": "failed", "kind": self.kind(), "title": self.title(None),
            "locations": self.locations(), "rawInput": self.raw_input(),
            "content": [content(error.as_str().unwrap_or_default())], "rawOutput": raw,
        })
    }

    /// What a shell line has printed so far.
    pub(super) fn printed(&self) -> Option<String> {
        let output = text(&self.state["metadata"]["output"])?;
        (self.tool == "bash").then(|| output.to_owned())
    }

    pub(super) fn own_title(&self) -> Option<&str> {
        text(&self.state["title"]).filter(|title| !title.is_empty())
    }

    fn diff(&self) -> Option<Value> {
        let input = self.input();
        let old = text(&input["oldString"])?;
        let new = text(&input["newString"]).or_else(|| text(&input["content"]))?;
        Some(
            json!({"type": "diff", "path": text(&input["filePath"]).unwrap_or_default(), "oldText": old, "newText": new}),
        )
    }
}

fn content(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// What a read shows a person: the text without its numbers.
fn displayed(metadata: &Value) -> Option<String> {
    let display = &metadata["display"];
    match display["type"].as_str()? {
        "file" => text(&display["text"]).map(str::to_owned),
        "directory" => {
            let entries: Vec<&str> =
                display["entries"].as_array()?.iter().filter_map(Value::as_str).collect();
            Some(entries.join("\n"))
        }
        _ => None,
    }
}

fn picture(attachment: &Value) -> Option<Value> {
    let (mime, data) = super::content::data_url(attachment["url"].as_str()?)?;
    mime.starts_with("image/")
        .then(|| json!({"type": "content", "content": {"type": "image", "mimeType": mime, "data": data}}))
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}
