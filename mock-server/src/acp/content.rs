//! Parts of messages: what a client's blocks are to a server, and what a server's parts are to a client.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

/// What an address of a file never has in the open.
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`').add(b'\\');

/// The parts of a prompt.
pub(super) fn parts(blocks: &Value) -> Vec<Value> {
    blocks.as_array().into_iter().flatten().filter_map(part).collect()
}

fn part(block: &Value) -> Option<Value> {
    let text = |name: &str| block[name].as_str().filter(|text| !text.is_empty());
    match block["type"].as_str()? {
        "text" => {
            let mut part = json!({"type": "text", "text": block["text"]});
            match block["annotations"]["audience"].as_array().map(Vec::as_slice) {
                Some([one]) if one == "assistant" => part["synthetic"] = json!(true),
                Some([one]) if one == "user" => part["ignored"] = json!(true),
                _ => {}
            }
            Some(part)
        }
        "image" => {
            let name = text("uri").and_then(file_name).unwrap_or_else(|| "image".to_owned());
            let url = match (text("data"), text("uri")) {
                (Some(data), _) => format!("data:{};base64,{data}", text("mimeType").unwrap_or_default()),
                (None, Some(uri))
                    if ["data:", "http://", "https://"].iter().any(|scheme| uri.starts_with(scheme)) =>
                {
                    uri.to_owned()
                }
                _ => return None,
            };
            Some(json!({"type": "file", "url": url, "filename": name, "mime": block["mimeType"]}))
        }
        "resource_link" => {
            let uri = text("uri")?;
            let mime = text("mimeType").unwrap_or("text/plain");
            if uri.starts_with("file://") {
                let name = text("name").map(str::to_owned).or_else(|| file_name(uri));
                return Some(
                    json!({"type": "file", "url": uri, "filename": name.unwrap_or_else(|| "file".to_owned()), "mime": mime}),
                );
            }
            if let Some(path) = path_of_zed(uri) {
                let name = text("name").map(str::to_owned).or_else(|| file_name(&path));
                let name = name.unwrap_or_else(|| "file".to_owned());
                return Some(json!({"type": "file", "url": file_url(&path), "filename": name, "mime": mime}));
            }
            Some(json!({"type": "text", "text": uri}))
        }
        "resource" => resource(&block["resource"]),
        _ => None,
    }
}

fn resource(resource: &Value) -> Option<Value> {
    let uri = resource["uri"].as_str().unwrap_or_default();
    if let Some(text) = resource["text"].as_str() {
        let path = uri.strip_prefix("file://").map(|rest| {
            let (path, hash) = rest.split_once('#').unwrap_or((rest, ""));
            let line: String =
                hash.strip_prefix('L').unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
            let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
            if line.is_empty() { path } else { format!("{path}:{line}") }
        });
        return Some(
            json!({"type": "text", "text": format!("[{}]\n{text}", path.unwrap_or_else(|| uri.to_owned()))}),
        );
    }
    let mime = resource["mimeType"].as_str().filter(|mime| !mime.is_empty())?;
    let url = match uri.starts_with("data:") {
        true => uri.to_owned(),
        false => format!("data:{mime};base64,{}", resource["blob"].as_str().unwrap_or_default()),
    };
    Some(
        json!({"type": "file", "url": url, "filename": file_name(uri).unwrap_or_else(|| "file".to_owned()), "mime": mime}),
    )
}

/// `zed:///agent/file?path=/a/b`: the file that the editor means.
fn path_of_zed(uri: &str) -> Option<String> {
    let (_, query) = uri.strip_prefix("zed://")?.split_once('?')?;
    let query = query.split('#').next().unwrap_or_default();
    let named = query.split('&').find_map(|pair| pair.strip_prefix("path="))?.replace('+', " ");
    let path = percent_decode_str(&named).decode_utf8_lossy().into_owned();
    Some(path).filter(|path| !path.is_empty())
}

fn file_url(path: &str) -> String {
    format!("file://{}", utf8_percent_encode(path, PATH))
}

/// A part of a message that is told again, as content of a chunk; the real agents take the name of a file for a path from
/// the folder that they were started in.
pub(super) fn block(part: &Value, started_in: &str) -> Option<Value> {
    match part["type"].as_str()? {
        "text" | "reasoning" => {
            let text = part["text"].as_str().filter(|text| !text.is_empty())?;
            let mut content = json!({"type": "text", "text": text});
            if part["type"] == "text" {
                let audience = match (&part["synthetic"], &part["ignored"]) {
                    (Value::Bool(true), _) => Some("assistant"),
                    (_, Value::Bool(true)) => Some("user"),
                    _ => None,
                };
                if let Some(audience) = audience {
                    content["annotations"] = json!({"audience": [audience]});
                }
            }
            Some(content)
        }
        "file" => file(part, started_in),
        _ => None,
    }
}

fn file(part: &Value, started_in: &str) -> Option<Value> {
    let (url, name, mime) = (part["url"].as_str()?, part["filename"].as_str(), &part["mime"]);
    if url.starts_with("file://") {
        return Some(
            json!({"type": "resource_link", "uri": url, "name": name.unwrap_or("file"), "mimeType": mime}),
        );
    }
    let (mime, data) = data_url(url)?;
    let uri = |fallback: &str| {
        file_url(&std::path::Path::new(started_in).join(name.unwrap_or(fallback)).to_string_lossy())
    };
    if mime.starts_with("image/") {
        return Some(json!({"type": "image", "mimeType": mime, "data": data, "uri": uri("image")}));
    }
    let is_text = mime.starts_with("text/") || mime == "application/json";
    let decoded = BASE64_STANDARD.decode(&data).unwrap_or_default();
    let resource = match is_text {
        true => json!({"uri": uri("file"), "mimeType": mime, "text": String::from_utf8_lossy(&decoded)}),
        false => json!({"uri": uri("file"), "mimeType": mime, "blob": data}),
    };
    Some(json!({"type": "resource", "resource": resource}))
}

/// `data:image/png;base64,…`: its type and what it holds.
pub(super) fn data_url(url: &str) -> Option<(String, String)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let mime = head.split([';', ',']).next().filter(|mime| !mime.is_empty())?;
    Some((mime.to_owned(), data.to_owned()))
}

fn file_name(uri: &str) -> Option<String> {
    if uri.is_empty() || uri.starts_with("data:") {
        return None;
    }
    let path = uri.split_once("://").map_or(uri, |(_, path)| path);
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_an_editor_is_the_file_that_it_names_or_a_text() {
        let link = |uri: &str| {
            let told = json!([{"type": "resource_link", "name": "n", "uri": uri}]);
            let part = parts(&told).remove(0);
            part["url"].as_str().or(part["text"].as_str()).unwrap().to_owned()
        };
        assert_eq!(link("zed:///agent/file?path=/w/a%20b/%C3%BC.txt#L3"), "file:///w/a%20b/%C3%BC.txt");
        assert_eq!(link("zed:///agent/selection"), "zed:///agent/selection");
        assert_eq!(link("https://example.com/x?path=/a"), "https://example.com/x?path=/a");
    }

    #[test]
    fn a_file_is_told_again_under_the_folder_that_the_agent_was_started_in() {
        let file = |name: &str, mime: &str| {
            let url = format!("data:{mime};base64,aGVsbG8=");
            let part = json!({"type": "file", "url": url, "filename": name, "mime": mime});
            block(&part, "/w").unwrap()
        };
        assert_eq!(file("image", "image/png")["uri"], "file:///w/image");
        assert_eq!(file("my paper.pdf", "application/pdf")["resource"]["uri"], "file:///w/my%20paper.pdf");
        assert_eq!(file("/b.pdf", "application/pdf")["resource"]["uri"], "file:///b.pdf");
    }
}
