//! What a person wants of a session beside prompts: another mode, another model, a command.

use super::agent::Refused;
use super::client::{Client, text};
use harness::protocol::RpcError;
use serde_json::{Value, json};

/// The agent has no such method.
const NO_METHOD: i64 = -32601;
/// The agent takes other params.
const OTHER_PARAMS: i64 = -32602;

impl Client {
    pub(super) async fn set_mode(&self, params: &Value) -> Result<Value, RpcError> {
        let name = if self.quirk.is("to-the-letter") { "mode" } else { "modeId" };
        self.set(params, text(params, "mode")?, "mode", ("session/set_mode", name), false).await
    }

    /// Agents of today take models as an option; older ones have a method for it.
    pub(super) async fn set_model(&self, params: &Value) -> Result<Value, RpcError> {
        let is_option = self.chat(params)?.state().options.iter().any(|option| option == "model");
        let name = if self.quirk.is("to-the-letter") { "model" } else { "modelId" };
        self.set(params, text(params, "model")?, "model", ("session/set_model", name), is_option).await
    }

    /// Sets it by a method of its own or as an option; where there is not the one, by the other.
    async fn set(
        &self,
        params: &Value,
        value: &str,
        option: &str,
        (method, name): (&str, &str),
        is_option: bool,
    ) -> Result<Value, RpcError> {
        let (chat, agent) = (self.chat(params)?, self.agent()?);
        let latest = self.state().latest.clone().filter(|_| self.quirk.is("sets-in-the-latest"));
        let latest = latest.and_then(|id| self.state().chats.get(&id).map(|chat| chat.session()));
        let session = latest.unwrap_or_else(|| chat.session());
        let own = (method, json!({"sessionId": session, name: value}));
        let general =
            ("session/set_config_option", json!({"sessionId": session, "configId": option, "value": value}));
        let single = self.quirk.is("one-setter") || self.quirk.is("to-the-letter");
        let ways = if single {
            vec![own]
        } else if is_option {
            vec![general, own]
        } else {
            vec![own, general]
        };
        let mut why = String::new();
        for (method, asked) in ways {
            match agent.ask(method, &asked).await {
                Ok(_) => return Ok(json!({})),
                Err(Refused { code: Some(NO_METHOD), .. }) => {
                    why = format!("the agent can't set its {option}")
                }
                Err(refused) => return Err(RpcError::failed(refused.why)),
            }
        }
        if self.quirk.is("swallows-errors") { Ok(json!({})) } else { Err(RpcError::failed(why)) }
    }

    /// A command of Kiro's: agents take it as an object, and die of a text; older ones take a text.
    pub(super) async fn command(&self, params: &Value) -> Result<Value, RpcError> {
        let (chat, agent) = (self.chat(params)?, self.agent()?);
        let line = text(params, "command")?;
        let (name, rest) =
            line.trim_start_matches('/').split_once(' ').unwrap_or((line.trim_start_matches('/'), ""));
        let as_text = json!({"sessionId": chat.session(), "command": line});
        let args = if rest.is_empty() { json!({}) } else { json!({"value": rest}) };
        let as_object = json!({"sessionId": chat.session(), "command": {"command": name, "args": args}});
        const EXECUTE: &str = "_kiro.dev/commands/execute";
        let is_to_the_letter = self.quirk.is("command-as-text") || self.quirk.is("to-the-letter");
        let answer = match is_to_the_letter {
            true => agent.ask(EXECUTE, &as_text).await,
            false => match agent.ask(EXECUTE, &as_object).await {
                Err(Refused { code: Some(OTHER_PARAMS), .. }) if !self.quirk.is("command-as-object") => {
                    agent.ask(EXECUTE, &as_text).await
                }
                answer => answer,
            },
        };
        let answer = answer.map_err(|refused| RpcError::failed(refused.why))?;
        let said = answer["message"].as_str().or(answer["output"].as_str()).unwrap_or_default();
        Ok(json!({"text": said}))
    }
}
