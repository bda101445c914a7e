//! Which client has started a server, as that says in the server's environment (`KILO_CLIENT`, `OPENCODE_CLIENT`), and
//! which tools the server offers its agents for that. Of a client that says nothing the servers think that it is the
//! terminal's.

use fixtures::ServerKind;
use serde_json::{Value, json};

/// What a client says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// Its name, if it says one.
    pub name: Option<String>,
    /// It wants the tool that asks the person, whoever it is.
    pub asks: bool,
}

/// A tool, and whom it is offered for.
struct Offer {
    tool: &'static str,
    clients: &'static [&'static str],
}

const fn offer(tool: &'static str, clients: &'static [&'static str]) -> Offer {
    Offer { tool, clients }
}

/// The tool that any client may want.
const ASKING: &str = "question";

const OF_KILO: &[Offer] = &[
    offer(ASKING, &["app", "cli", "desktop", "vscode"]),
    offer("suggest", &["cli", "vscode"]),
    offer("background_process", &["cli", "vscode"]),
    offer("schedule_wakeup", &["cli", "vscode"]),
    offer("cancel_wakeup", &["cli", "vscode"]),
];
const OF_OPENCODE: &[Offer] = &[offer(ASKING, &["app", "cli", "desktop"])];

/// More tools of Kilo's, for its extension of an editor: each with the tool behind which it is listed.
const MORE: &[(&str, &str)] = &[
    ("chart", "kilo_local_recall"),
    ("agent_manager_models", "cancel_wakeup"),
    ("agent_manager", "agent_manager_models"),
    ("browser_open", "agent_manager"),
    ("open_plan", "notify_user"),
];
/// Of these the model is told.
pub(crate) const MORE_FOR_MODELS: &[&str] = &["agent_manager", "agent_manager_models", "chart", "open_plan"];

impl Client {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("cli")
    }

    /// Its person is asked what comes after a plan.
    pub(crate) fn is_asked_of_plans(&self) -> bool {
        matches!(self.name(), "cli" | "vscode" | "jetbrains")
    }

    /// Its person may answer that in words of their own.
    pub(crate) fn has_words_for_plans(&self) -> bool {
        self.name() != "vscode"
    }

    /// Is a tool offered that there is for some clients alone?
    pub(crate) fn is_offered(&self, server: ServerKind, tool: &str) -> bool {
        let offers = match server {
            ServerKind::Kilo => OF_KILO,
            ServerKind::Opencode => OF_OPENCODE,
        };
        let known = offers.iter().find(|offer| offer.tool == tool);
        known.is_none_or(|offer| offer.clients.contains(&self.name()) || tool == ASKING && self.asks)
    }

    /// Does it get the tools of an editor?
    pub(crate) fn has_more(&self, server: ServerKind) -> bool {
        server == ServerKind::Kilo && self.name() == "vscode"
    }

    /// Are the files before and behind a step kept?
    pub(crate) fn keeps_files(&self, server: ServerKind) -> bool {
        server != ServerKind::Kilo || self.name() != "acp"
    }

    /// A list of tools, by their names or as a whole, as this client gets it. What the further tools take is not known.
    pub(crate) fn fit(&self, server: ServerKind, tools: &mut Vec<Value>) {
        let name =
            |tool: &Value| tool.get("id").unwrap_or(tool).as_str().map(str::to_owned).unwrap_or_default();
        tools.retain(|tool| self.is_offered(server, &name(tool)));
        if self.has_more(server) && tools.iter().all(Value::is_string) {
            for (tool, before) in MORE {
                let at = tools.iter().position(|known| known == before).map_or(tools.len(), |at| at + 1);
                tools.insert(at, json!(tool));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(server: ServerKind, name: &str, asks: bool, tools: &[&str]) -> Vec<String> {
        let mut tools = tools.iter().map(|tool| json!(tool)).collect();
        Client { name: Some(name.to_owned()), asks }.fit(server, &mut tools);
        tools.iter().map(|tool| tool.as_str().unwrap().to_owned()).collect()
    }

    /// As Kilo CLI 7.7.7 and OpenCode 1.18.33 answer `GET /experimental/tool/ids`.
    #[test]
    fn clients_get_the_tools_that_the_real_servers_offer_them() {
        let opencode = ["invalid", "question", "bash"];
        for (name, asks) in
            [("cli", true), ("app", true), ("desktop", true), ("vscode", false), ("acp", false)]
        {
            let told = fitted(ServerKind::Opencode, name, false, &opencode);
            assert_eq!(told.contains(&"question".to_owned()), asks, "{name}");
            assert_eq!(fitted(ServerKind::Opencode, name, true, &opencode), opencode);
        }
        let kilo = [
            "question",
            "bash",
            "suggest",
            "kilo_local_recall",
            "background_process",
            "schedule_wakeup",
            "cancel_wakeup",
            "notify_user",
            "send_file",
        ];
        assert_eq!(fitted(ServerKind::Kilo, "cli", false, &kilo), kilo);
        assert_eq!(
            fitted(ServerKind::Kilo, "app", false, &kilo),
            ["question", "bash", "kilo_local_recall", "notify_user", "send_file"]
        );
        assert_eq!(
            fitted(ServerKind::Kilo, "jetbrains", false, &kilo),
            ["bash", "kilo_local_recall", "notify_user", "send_file"]
        );
        assert_eq!(
            fitted(ServerKind::Kilo, "vscode", false, &kilo),
            [
                "question",
                "bash",
                "suggest",
                "kilo_local_recall",
                "chart",
                "background_process",
                "schedule_wakeup",
                "cancel_wakeup",
                "agent_manager_models",
                "agent_manager",
                "browser_open",
                "notify_user",
                "open_plan",
                "send_file",
            ]
        );
    }
}
