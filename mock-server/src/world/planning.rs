//! Kilo's planner says with `plan_exit` that its plan is saved. The turn makes no more steps then, and the person is
//! asked what comes next.

use super::World;
use super::reminders::{PLANNER, PLANS};
use super::run::TurnEnd;
use super::session::Message;
use super::summary::{Job, Then};
use super::surroundings::{PlaceAsk, PlaceWish};
use super::tools::place::{inside, relative, resolved};
use super::tools::{Completed, OpenQuestion};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The tool that ends planning.
pub(crate) const PLAN_EXIT: &str = "plan_exit";

/// What the person chooses from: the words, what they mean, what clients call them, and the agent that goes on.
const CHOICES: [(&str, &str, &str, &str); 3] = [
    ("Start new session", "Implement in a fresh session with a clean context", "newSession", "code"),
    (HERE, "Implement the plan in this session", "continue", "code"),
    (REFINE, "Keep planning without implementing yet", "keepRefining", "plan"),
];
const HERE: &str = "Continue here";
const REFINE: &str = "Keep refining";
/// Agents that plan, by the names that they have or had.
const PLANNERS: [&str; 2] = [PLANNER, "architect"];

/// A saved plan that is looked for.
#[derive(Debug)]
pub(super) struct PlanSought {
    session: String,
    call: usize,
    /// The path that the agent gave, absolute, if it may be one.
    named: Option<String>,
    /// Where the session's plan is, when nobody says otherwise.
    own: String,
    /// The notes that the planner has written, the last first.
    written: Vec<String>,
    /// It gave one.
    gave: bool,
}

impl World {
    /// The plan is looked for: where the agent says, or where it was to be, or among what the planner has written.
    pub(super) fn start_plan_exit(&mut self, session: &str, call: usize) {
        let given = self.text_argument(session, call, "path").filter(|path| !path.is_empty());
        let Some(owner) = self.sessions.get(session) else { return };
        let root = self.worktree_of(&owner.directory);
        let own = format!("{root}/{PLANS}/{}-{}.md", owner.created_ms, owner.slug);
        let whole = |path: &str| resolved(&root, path);
        let is_inside = |path: &String| inside(&root, path).is_some();
        let agent = owner
            .run
            .as_ref()
            .and_then(|run| owner.message(&run.message))
            .map(|answer| answer.info["agent"].clone());
        let plans = owner.messages.iter().filter(|message| {
            let name = &message.info["agent"];
            PLANNERS.iter().any(|planner| name == planner) || agent.as_ref() == Some(name)
        });
        let mut written: Vec<String> =
            plans.flat_map(|message| &message.parts).filter_map(note_of).map(whole).collect();
        written.reverse();
        let named = given.as_deref().map(whole).filter(is_inside);
        let sought =
            PlanSought { session: session.to_owned(), call, named, own, written, gave: given.is_some() };
        let candidates = sought.named.iter().chain([&sought.own]).chain(&sought.written);
        // A folder is there with a point behind it, too.
        let paths = candidates.flat_map(|path| [path.clone(), format!("{path}/.")]).collect();
        self.ask_place(PlaceAsk::Plan(sought), PlaceWish::Existing(paths));
    }

    /// It is known what of that is there.
    pub(super) fn plan_found(&mut self, sought: PlanSought, existing: &[String]) {
        let existing: BTreeSet<&str> = existing.iter().map(String::as_str).collect();
        let is_folder = |path: &str| existing.contains(format!("{path}/.").as_str());
        let is_file = |path: &str| existing.contains(path) && !is_folder(path);
        let PlanSought { session, call, named, own, written, gave } = sought;
        let named = named.filter(|path| !is_folder(path));
        let is_usable = named.is_some();
        let target = named.unwrap_or(own);
        let found = std::iter::once(&target).chain(&written).find(|path| is_file(path)).cloned();
        let root =
            self.sessions.get(&session).map(|owner| self.worktree_of(&owner.directory)).unwrap_or_default();
        let shown = |path: &str| relative(&root, path);
        let Some(found) = found else {
            let path = self.text_argument(&session, call, "path").unwrap_or_default();
            let why = if gave && !is_usable {
                format!(
                    "The path \"{path}\" you passed can't be used directly \u{2014} it's outside the project, or it's a \
                     directory rather than a file. "
                )
            } else {
                String::new()
            };
            let target = shown(&target);
            let told = format!(
                "Plan file not found at {target}. {why}Write the plan file first, or call plan_exit with the exact path \
                 of the file you wrote."
            );
            return self.fail_call(&session, call, &told);
        };
        let plan = shown(&found);
        let result = Completed {
            output: format!("Plan is ready at {plan}. Ending planning turn."),
            title: "Planning complete".to_owned(),
            metadata: json!({"plan": plan, "truncated": false}),
            ..Completed::default()
        };
        self.complete_told_call(&session, call, result);
    }

    /// Has the planner said since the last prompt that its plan is saved, to somebody who can be asked?
    pub(super) fn has_planned(&self, session: &str) -> bool {
        if self.config.standing.is_agents() || !self.config.client.is_asked_of_plans() {
            return false;
        }
        let messages = self.sessions.get(session).map(|owner| owner.messages.as_slice()).unwrap_or_default();
        let answers = messages.iter().rev().take_while(|message| message.role() != "user");
        let mut parts = answers.flat_map(|message| &message.parts);
        parts.any(|part| part["tool"] == PLAN_EXIT && part["state"]["status"] == "completed")
    }

    /// The person is asked what comes next. The real server tells that outside of any folder.
    pub(super) fn ask_what_follows_the_plan(&mut self, session: &str) {
        let id = self.ids.ascending("que", self.now_ms);
        let choice = |(label, description, key, agent): (&str, &str, &str, &str)| {
            let key = format!("plan.followup.answer.{key}");
            json!({
                "label": label, "description": description, "labelKey": key,
                "descriptionKey": format!("{key}.description"), "mode": agent,
            })
        };
        let question = json!({
            "question": "Ready to implement?", "header": "Implement", "options": CHOICES.map(choice),
            "questionKey": "plan.followup.question", "headerKey": "plan.followup.header", "custom": self.config.client.has_words_for_plans(),
        });
        let wire = json!({"id": id, "sessionID": session, "questions": [question]});
        self.emit_global("question.asked", wire.clone());
        // What the step has changed is told meanwhile.
        if let Some(prompt) = self.run_mut(session).and_then(|run| run.summed_up.take()) {
            self.run_job(Job { session: session.to_owned(), prompt, then: Then::Nothing });
        }
        let directory = self.directory_of_session(session);
        self.questions.push(OpenQuestion::about_plan(id, session, directory, wire));
    }

    /// Does a turn wait for what the person says of its plan?
    pub(super) fn asks_about_plan(&self, session: &str) -> bool {
        self.questions.iter().any(|open| open.session == session && open.is_about_plan)
    }

    /// Nobody asks any more; that, too, is told outside of any folder.
    pub(super) fn plan_question_aborted(&mut self, session: &str) {
        let asked = self.questions.iter().position(|open| open.session == session && open.is_about_plan);
        let Some(at) = asked else { return };
        let id = self.questions.remove(at).id;
        self.emit_global("question.rejected", json!({"sessionID": session, "requestID": id}));
    }

    /// The person has said what comes next, or dismissed that.
    pub(super) fn plan_answered(&mut self, session: &str, answers: Option<&[Vec<String>]>) {
        let said = answers.and_then(|all| all.first()?.first()).map(|word| word.trim().to_owned());
        let (agent, text) = match said.as_deref() {
            None | Some("") => return self.end_turn(session, TurnEnd::Completed),
            Some(HERE) => ("code", "Implement the plan above.".to_owned()),
            Some(REFINE) => (PLANNER, "Continue refining the plan. Do not implement yet.".to_owned()),
            Some(words) if words == CHOICES[0].0 => return self.end_turn(session, TurnEnd::Completed),
            Some(words) => (PLANNER, words.to_owned()),
        };
        let asked = self.sessions.get(session).and_then(|owner| owner.message(&owner.run.as_ref()?.prompt));
        let model = asked.map(|prompt| prompt.info["model"].clone()).unwrap_or_default();
        let message = self.ids.ascending("msg", self.now_ms);
        let info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": self.now_ms}, "agent": agent,
            "model": model,
        });
        self.push_message(session, &message, info);
        self.add_part(session, &message, json!({"type": "text", "text": text, "synthetic": true}));
        if agent != PLANNER {
            self.note_agent_and_model(session, agent, &model);
        }
        if let Some(run) = self.run_mut(session) {
            // The turn is about this from now on.
            (run.prompt, run.base) = (message.clone(), Some(message));
        }
        self.emit_status(session, "busy");
        self.next_step(session);
    }
}

/// The plan that was saved last.
pub(super) fn saved_plan<'m>(messages: &[&'m Message]) -> Option<&'m str> {
    let mut parts = messages.iter().rev().flat_map(|message| message.parts.iter().rev());
    let ended = parts.find(|part| part["tool"] == PLAN_EXIT && part["state"]["status"] == "completed")?;
    ended["state"]["metadata"]["plan"].as_str()
}

/// The note that a call has written.
fn note_of(part: &Value) -> Option<&str> {
    let writes = part["tool"] == "write" || part["tool"] == "edit";
    let path = part["state"]["input"]["filePath"]
        .as_str()
        .filter(|_| writes && part["state"]["status"] == "completed")?;
    path.to_lowercase().ends_with(".md").then_some(path)
}
