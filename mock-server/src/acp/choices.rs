//! What a client chooses in a session: its mode, its model, its effort.

use super::agent::{Inner, Refusal, Session};
use super::methods::invalid;
use fixtures::ServerKind;
use serde_json::{Value, json};

impl Inner {
    /// Whatever its name.
    pub(super) fn switch_mode(&self, id: &str, mode: &str) {
        if let Some(session) = self.session(id) {
            self.change(id, session, |session| session.mode = Some(mode.to_owned()));
        }
    }

    pub(super) async fn set_mode(&self, id: &str, mode: &str) -> Result<Session, Refusal> {
        let session = self.known_session(id)?;
        // Kiro has agents of its user's own making.
        let is_free = self.dialect.is_kiro();
        if !is_free && !self.directory(&session.folder).await?.has_mode(mode) {
            return Err(invalid(&format!("mode not found: {mode}"), json!({"mode": mode})));
        }
        Ok(self.change(id, session, |session| session.mode = Some(mode.to_owned())))
    }

    pub(super) async fn set_model(&self, id: &str, word: &str) -> Result<Session, Refusal> {
        let session = self.known_session(id)?;
        let directory = self.directory(&session.folder).await?;
        if self.dialect.is_kiro() {
            // Its models are its own; the scripted one plays each of them.
            return Ok(session);
        }
        let (model, effort) = directory.named(word);
        if directory.model(&model).is_none() {
            let data = json!({"providerId": model.provider, "modelId": word});
            return Err(invalid(&format!("model not found: {word}"), data));
        }
        // OpenCode's agent keeps an effort that was chosen for the same model.
        let kept = session.variant.clone().filter(|variant| {
            self.kind == ServerKind::Opencode
                && session.model == model
                && directory.has_effort(&model, variant)
        });
        let variant = effort.or(kept).or_else(|| directory.default_variant(&model));
        let session = self.change(id, session, |session| (session.model, session.variant) = (model, variant));
        if self.kind == ServerKind::Opencode {
            let options = self.chosen(&directory, &session);
            self.tell(id, json!({"sessionUpdate": "config_option_update", "configOptions": options}));
        }
        Ok(session)
    }

    pub(super) async fn set_option(&self, params: &Value) -> Result<Value, Refusal> {
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        let (id, config, value) = (text("sessionId"), text("configId"), text("value"));
        let session = self.known_session(id)?;
        let directory = self.directory(&session.folder).await?;
        let unknown = || invalid(&format!("unknown config option: {config}"), json!({"configId": config}));
        if !params["value"].is_string() {
            return Err(unknown());
        }
        let session = match config {
            "mode" => self.set_mode(id, value).await?,
            "model" => self.set_model(id, value).await?,
            "effort" => {
                let is_known = match self.kind {
                    ServerKind::Opencode => directory.has_effort(&session.model, value),
                    ServerKind::Kilo => directory.variants(&session.model).contains(&value.to_owned()),
                };
                if !is_known {
                    return Err(invalid(&format!("effort not found: {value}"), json!({"effort": value})));
                }
                self.change(id, session, |session| session.variant = Some(value.to_owned()))
            }
            _ => return Err(unknown()),
        };
        Ok(json!({"configOptions": self.chosen(&directory, &session)}))
    }

    fn change(&self, id: &str, mut session: Session, change: impl FnOnce(&mut Session)) -> Session {
        change(&mut session);
        self.state().sessions.insert(id.to_owned(), session.clone());
        session
    }
}
