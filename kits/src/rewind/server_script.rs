//! What the agents of a server say and do in a case, and what the server refuses.

use super::play::LATE_WORDS;
use super::server_play::{ELSEWHERE, NEW_WORDS, OnServer};

/// What the server does with the fourth prompt where it refuses the edit.
pub(super) const REFUSAL: &str =
    "[[fault]]\nwhen = { request = \"POST /session/{sessionID}/message\", nth = 4 }\ndo = { status = 400 }\n";

/// What it does with a copy where it refuses one.
pub(super) const NO_COPY: &str =
    "[[fault]]\nwhen = { request = \"POST /session/{sessionID}/fork\", nth = 1 }\ndo = { status = 400 }\n";

/// What its model does with the edited prompt where it does not answer it.
const REFUSED: &str = r#"{ fail = 400, message = "that can't be answered" }"#;

impl OnServer {
    pub(super) fn scenario(&self) -> String {
        let write = r#"{ tool = "write", input = { filePath = "${workspace}/late.txt", content = "late\n" } }, { say = "Written." }"#;
        let third = match (self.at_work, self.late_yes) {
            (_, true) if self.helper => {
                r#"{ tool = "task", input = { description = "Write it", prompt = "put it down", subagent_type = "general" } }, { say = "Done." }"#.to_owned()
            }
            (_, true) => write.to_owned(),
            (true, _) => format!(r#"{{ say = "Working." }}, {{ gate = "mid" }}, {{ say = "{LATE_WORDS}" }}"#),
            _ => r#"{ say = "Answer three." }"#.to_owned(),
        };
        let agent = |on: &str, steps: &str| {
            format!("[[agent]]\non = {{ prompt_contains = \"{on}\" }}\nsteps = [{steps}]\n")
        };
        [
            "about = \"A conversation that is edited.\"\n[workspace]\nfiles = { \"README.md\" = \"hello\\n\" }\n\
             config = { permission = { edit = \"ask\" } }\n"
                .to_owned(),
            agent("the first", r#"{ say = "Answer one." }"#),
            agent("the second", r#"{ say = "Answer two." }"#),
            agent("the third", &third),
            agent(NEW_WORDS, if self.model_refuses { REFUSED } else { r#"{ say = "A new answer." }"# }),
            if self.stranger { agent(ELSEWHERE, &write.replace("late", "elsewhere")) } else { String::new() },
            if self.helper { agent("put it down", write) } else { String::new() },
            if self.goes_on() { agent("and on", r#"{ say = "On." }"#) } else { String::new() },
            format!(
                "[user]\nsteps = [{{ prompt = \"the first\" }}, {{ prompt = \"the second\" }}, {{ prompt = \"the third\" }}{}, {{ prompt = \"something else\" }}{}{}]\n",
                if self.at_work { ", { open_gate = \"mid\" }" } else { "" },
                if self.goes_on() { ", { prompt = \"and on\" }" } else { "" },
                if self.stranger { ", { prompt = \"put it elsewhere\" }" } else { "" }
            ),
        ]
        .concat()
    }
}
