//! The steps of a walk that let somebody work: prompts and what comes between, commands, lines, summaries.

use super::agent::{WORDS, Way, Word};
use super::person::{Person, Session, please};
use fixtures::ServerKind;
use serde_json::{Value, json};

impl Person {
    pub(super) fn prompts(&mut self) {
        let session = self.alive();
        let Some(word) = self.pick(WORDS) else { return };
        let settled = word.way == Way::Asks && self.allowed.contains(&word.word);
        let is_plain = matches!(word.way, Way::Through | Way::Refused) || settled;
        let of = &self.sessions[session];
        if !is_plain && (of.is_odd || of.is_elsewhere) {
            return;
        }
        match word.way {
            Way::Asks if !settled => self.is_asked(session, &word),
            Way::Questions => self.is_questioned(session, &word),
            Way::Stalls => self.loses_patience(session, &word),
            Way::Delegates => self.delegates(session, &word),
            _ => {
                // What more parts say, the model may take for the words.
                let more = if word.way == Way::Through { self.oddity(session) } else { json!({}) };
                self.says(session, &word, &more);
            }
        }
    }

    /// What a prompt may carry beside its words.
    fn oddity(&mut self, session: usize) -> Value {
        match self.below(20) {
            0 => {
                self.sessions[session].is_odd = true;
                json!({"agent": "plan"})
            }
            1 => json!({"system": "Be brief."}),
            2 => {
                self.sessions[session].is_odd = true;
                json!({"tools": {"write": false}})
            }
            3 => json!({"model": {"providerID": "fake", "modelID": "fake"}}),
            4 => json!({"model": {"providerID": "fake", "modelID": "fake"}, "variant": "high"}),
            5 => json!({"more": [{"type": "text", "text": "and be quick", "synthetic": true}]}),
            6 => json!({"more": [{"type": "file", "mime": "text/plain", "filename": "one.txt",
                                  "url": "file://${workspace}/src/one.txt"}]}),
            7 => json!({"more": [{"type": "agent", "name": "general"}]}),
            _ => json!({}),
        }
    }

    fn body(word: &Word, more: &Value) -> Value {
        let mut parts = vec![json!({"type": "text", "text": please(word)})];
        parts.extend(more["more"].as_array().into_iter().flatten().cloned());
        let mut body = json!({"parts": parts});
        for (key, value) in more.as_object().into_iter().flatten().filter(|(key, _)| *key != "more") {
            body[key] = value.clone();
        }
        body
    }

    /// A prompt whose turn goes through.
    pub(super) fn says(&mut self, session: usize, word: &Word, more: &Value) {
        self.needs(word.word);
        let name = self.name(session);
        let body = Self::body(word, more);
        if self.rarely(20) && !self.sessions[session].is_elsewhere {
            self.request(&format!("POST /session/{name}/prompt_async"), Some(&body), &[]);
        } else {
            self.request(&format!("POST /session/{name}/message"), Some(&body), &[]);
        }
        if word.way == Way::Refused && !self.sessions[session].is_elsewhere {
            // A turn that fails is told to be over twice.
            self.awaits("session.idle", &name, None);
        }
        self.ends(session);
        let known = !self.sessions[session].is_odd && word.way != Way::Refused && more.get("more").is_none();
        self.looks_back(session, known.then_some(word.answers));
    }

    /// The turn is over, and what it leaves behind is done.
    fn ends(&mut self, session: usize) {
        self.sessions[session].has_prompted = true;
        if self.sessions[session].is_elsewhere {
            return self.rests("1.6");
        }
        let name = self.name(session);
        self.awaits("session.idle", &name, None);
        self.rests("0.25");
    }

    /// Learns the names of the latest messages: of a prompt and its answers, if their number is known.
    fn looks_back(&mut self, session: usize, answers: Option<usize>) {
        let name = self.name(session);
        let latest = answers.unwrap_or(1) + 1;
        let (first, last, part) = (self.word("m"), self.word("m"), self.word("p"));
        let (last_at, part_at) = (format!("/{}/info/id", latest - 1), format!("/{}/parts/1/id", latest - 1));
        let mut save = vec![(first.as_str(), "/0/info/id"), (last.as_str(), last_at.as_str())];
        if answers.is_some() {
            save.push((part.as_str(), part_at.as_str()));
        }
        self.request(&format!("GET /session/{name}/message?limit={latest}"), None, &save);
        let known = &mut self.sessions[session];
        if answers.is_some() {
            known.parts.push((last.clone(), part));
        }
        known.messages.extend([first, last]);
    }

    /// The agent wants to know whether it may.
    fn is_asked(&mut self, session: usize, word: &Word) {
        self.needs(word.word);
        let (name, id) = (self.name(session), self.word("ask"));
        self.request_beside(&format!("POST /session/{name}/message"), &Self::body(word, &json!({})));
        self.awaits("permission.asked", &name, Some((&id, "/properties/id")));
        let is_followed = self.meddles(session);
        let replies: [(&str, Value); 6] = [
            ("once", json!({"reply": "once"})),
            ("once", json!({"reply": "once"})),
            ("always", json!({"reply": "always"})),
            ("reject", json!({"reply": "reject"})),
            ("reject", json!({"reply": "reject", "message": "Rather not."})),
            ("abort", Value::Null),
        ];
        let Some((kind, reply)) = self.pick(&replies) else { return };
        let by_session = reply.get("message").is_none() && self.rarely(50);
        match kind {
            "abort" => self.request(&format!("POST /session/{name}/abort"), None, &[]),
            _ if by_session => self.request(
                &format!("POST /session/{name}/permissions/${{{id}}}"),
                Some(&json!({"response": kind})),
                &[],
            ),
            _ => self.request(&format!("POST /permission/${{{id}}}/reply"), Some(&reply), &[]),
        }
        if kind == "always" {
            self.allowed.push(word.word);
        }
        self.is_answered(session, is_followed);
        if self.rarely(20) {
            self.request(&format!("POST /permission/${{{id}}}/reply"), Some(&json!({"reply": "once"})), &[]);
        }
    }

    /// The agent wants to know what the person wants.
    fn is_questioned(&mut self, session: usize, word: &Word) {
        self.needs(word.word);
        let (name, id) = (self.name(session), self.word("ask"));
        self.request_beside(&format!("POST /session/{name}/message"), &Self::body(word, &json!({})));
        self.awaits("question.asked", &name, Some((&id, "/properties/id")));
        if self.rarely(30) {
            self.request("GET /question", None, &[]);
        }
        let is_followed = self.meddles(session);
        match self.below(5) {
            0 => self.request(&format!("POST /question/${{{id}}}/reject"), None, &[]),
            1 => self.request(&format!("POST /session/{name}/abort"), None, &[]),
            2 => self.request(
                &format!("POST /question/${{{id}}}/reply"),
                Some(&json!({"answers": [["Red", "Something else"]]})),
                &[],
            ),
            _ => self.request(
                &format!("POST /question/${{{id}}}/reply"),
                Some(&json!({"answers": [["Blue"]]})),
                &[],
            ),
        }
        self.is_answered(session, is_followed);
    }

    /// The turn goes on, and ends; a prompt that was sent meanwhile may have a turn of its own.
    fn is_answered(&mut self, session: usize, is_followed: bool) {
        self.ends(session);
        if is_followed {
            self.rests("1.2");
        }
        self.looks_back(session, None);
    }

    /// The model does not come to an end.
    fn loses_patience(&mut self, session: usize, word: &Word) {
        self.needs(word.word);
        let name = self.name(session);
        self.request_beside(&format!("POST /session/{name}/message"), &Self::body(word, &json!({})));
        // Its last word.
        self.awaits("message.part.delta", "while, ", None);
        self.meddles_a_little(session);
        self.request(&format!("POST /session/{name}/abort"), None, &[]);
        self.ends(session);
        self.looks_back(session, None);
    }

    fn delegates(&mut self, session: usize, word: &Word) {
        self.says(session, word, &json!({}));
        self.needs("greet");
        let (name, child) = (self.name(session), self.word("s"));
        self.request(&format!("GET /session/{name}/children"), None, &[(&child, "/0/id")]);
        let parent = Some(self.sessions[session].name.clone());
        let child = Session { name: child, parent, has_prompted: true, is_odd: true, ..Session::default() };
        self.sessions.push(child);
    }

    /// Does something to a session that is busy; tells whether it is prompted.
    fn meddles(&mut self, session: usize) -> bool {
        if self.rarely(15) {
            let (name, word) = (self.name(session), WORDS[0]);
            self.needs(word.word);
            let body = Self::body(&word, &json!({}));
            self.request(&format!("POST /session/{name}/prompt_async"), Some(&body), &[]);
            self.awaits("message.part.updated", "please greet", None);
            return true;
        }
        self.meddles_a_little(session);
        false
    }

    fn meddles_a_little(&mut self, session: usize) {
        let name = self.name(session);
        let line = |agent: &str| json!({"agent": agent, "command": "echo busy"});
        match self.below(14) {
            0 => self.request("GET /session/status", None, &[]),
            1 => self.request("GET /permission", None, &[]),
            2 => self.request(&format!("GET /session/{name}/message"), None, &[]),
            3 => self.request(&format!("POST /session/{name}/shell"), Some(&line("general")), &[]),
            4 => self.reverts_in(session),
            5 => self.request(&format!("POST /session/{name}/unrevert"), None, &[]),
            6 => {
                let body = json!({"title": "Meanwhile"});
                self.request(&format!("PATCH /session/{name}"), Some(&body), &[]);
            }
            7 => {
                let fork = self.word("s");
                self.request(&format!("POST /session/{name}/fork"), Some(&json!({})), &[(&fork, "/id")]);
                self.sessions.push(Session { name: fork, has_prompted: true, ..Session::default() });
            }
            8 => self.deletes_a_message_of(session),
            _ => {}
        }
    }

    pub(super) fn commands(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        let Some((command, arguments)) =
            self.pick(&[("hail", "you there"), ("seek", "'a b' c"), ("sent", ""), ("nosuch", "x")])
        else {
            return;
        };
        match command {
            "hail" => self.needs("greet"),
            "seek" => self.needs("look"),
            "sent" => self.needs("greet"),
            _ => {}
        }
        let body = json!({"command": command, "arguments": arguments});
        self.request(&format!("POST /session/{name}/command"), Some(&body), &[]);
        if command == "nosuch" {
            return self.rests("0.25");
        }
        self.ends(session);
        self.looks_back(session, None);
    }

    pub(super) fn runs_a_line(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        let agent = match self.server {
            ServerKind::Kilo => "code",
            ServerKind::Opencode => "build",
        };
        let Some(command) = self.pick(&["echo hi", "cat nosuch; exit 3", "echo line > line.txt", "true"])
        else {
            return;
        };
        let body = json!({"agent": agent, "command": command});
        self.request(&format!("POST /session/{name}/shell"), Some(&body), &[]);
        self.rests("0.25");
        self.sessions[session].has_prompted = true;
    }

    pub(super) fn sums_up(&mut self) {
        let session = self.alive();
        if !self.sessions[session].has_prompted {
            return;
        }
        let name = self.name(session);
        let body = json!({"providerID": "fake", "modelID": "fake"});
        self.request(&format!("POST /session/{name}/summarize"), Some(&body), &[]);
        self.rests("0.6");
    }

    pub(super) fn notes_without_answer(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        let json = json!({"noReply": true, "parts": [{"type": "text", "text": "by the way"}]});
        let message = self.word("m");
        self.request(&format!("POST /session/{name}/message"), Some(&json), &[(&message, "/info/id")]);
        self.sessions[session].messages.push(message);
        self.sessions[session].has_prompted = true;
    }

    pub(super) fn aborts(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        self.request(&format!("POST /session/{name}/abort"), None, &[]);
        self.rests("0.25");
    }
}
