//! A conversation that is too long, or that the person wants shorter, is summed up by the model; what was before the
//! summary is not told to it any more.

use super::history::{Errand, compaction_of, is_finished, is_summary, newest};
use super::in_words::{attached, in_words};
use super::prompt::Queued;
use super::routes::body_of;
use super::session::{Message, Session};
use super::tokens::Tokens;
use super::{ApiRequest, Purpose, World};
use crate::javascript::units;
use crate::model::FinishReason;
use serde_json::{Value, json};

/// A summary in the making.
#[derive(Debug)]
pub(crate) struct Compaction {
    /// The message that asks for it.
    asked: String,
    /// Nobody asked for it: the work goes on behind it.
    auto: bool,
    /// The provider took no more.
    overflow: bool,
    /// The first message of what stays as it is.
    tail: Option<String>,
    /// The prompt that is sent again behind it.
    replayed: Option<String>,
    /// What the model is asked.
    prompt: String,
}

/// How the work goes on.
const GO_ON: &str =
    "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";
/// What is said before that when the provider took no more.
const WAS_TOO_MUCH: &str = "The previous request exceeded the provider's size limit due to large media attachments. The \
                            conversation was compacted and media files were removed from context. If the user was \
                            asking about attached images or files, explain that the attachments were too large to \
                            process and suggest they try again with smaller or fewer files.\n\n";
/// The form of a summary, and how it takes up an earlier one.
const FORM: &str = include_str!("../profile/texts/summary-form.txt");
const JOINED: &str = include_str!("../profile/texts/summary-joined.txt");

impl World {
    /// `POST /session/{id}/summarize`.
    pub(super) fn summarize(&mut self, request: &ApiRequest, id: &str) {
        if self.stumbles_over_folder(id, Some(request.ticket)) {
            return;
        }
        let body = body_of(request);
        self.forget_reverted(id);
        let Some(owner) = self.sessions.get(id) else { return };
        let prompts = owner.messages.iter().rev().filter(|message| message.role() == "user");
        let agent = prompts.map(|prompt| prompt.info["agent"].clone()).next();
        let agent = agent.unwrap_or_else(|| json!(self.default_agent(id)));
        let model = json!({"providerID": body["providerID"], "modelID": body["modelID"]});
        let message = self.ask_for_summary(id, &agent, &model, json!({"auto": body["auto"] == true}));
        if self.runs_person_line(id) {
            return self.wait_for_person_line_and_say_yes(id, Queued::of_server(message), request.ticket);
        }
        if self.run_mut(id).is_none() {
            self.begin_turn(id, Queued::of_server(message.clone()));
        }
        match self.run_mut(id) {
            Some(run) => {
                run.base = run.base.take().filter(|base| *base != message);
                run.yes.push(request.ticket);
            }
            None => self.unknown_error(request.ticket),
        }
    }

    fn ask_for_summary(&mut self, session: &str, agent: &Value, model: &Value, how: Value) -> String {
        let message = self.ids.ascending("msg", self.now_ms);
        let info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": self.now_ms},
            "agent": agent, "model": model,
        });
        self.push_message(session, &message, info);
        let mut part = json!({"type": "compaction"});
        super::session::merge(&mut part, how);
        self.add_part(session, &message, part);
        if let Some(run) = self.run_mut(session) {
            run.prompts.push(message.clone());
        }
        message
    }

    /// Has the conversation left no more room for the model that is asked next?
    pub(crate) fn is_full(&self, owner: &Session) -> bool {
        let history = self.history(owner);
        let Some(last) = newest(&history, is_finished) else { return false };
        let asked = newest(&history, |message| message.role() == "user");
        let model = asked.map(|asked| asked.info["model"].clone()).unwrap_or_default();
        last.info["summary"] != true && self.is_too_much(&owner.directory, Tokens::of_message(last), &model)
    }

    /// The next thing is a summary: before the prompt that just came is answered.
    pub(crate) fn compact_first(&mut self, session: &str) {
        let mut how = json!({"auto": true});
        if self.profile.replays_prompts {
            how["overflow"] = json!(false);
        }
        self.compact_for_run(session, how);
    }

    /// A step is over: a summary is to follow when there is no more room.
    pub(crate) fn compact_after_step(&mut self, session: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return false };
        let Some(run) = owner.run.as_ref() else { return false };
        let Some(message) = owner.message(&run.message) else { return false };
        let has_calls = message.parts.iter().any(|part| part["type"] == "tool");
        let goes_on = has_calls || run.finish.is_some_and(|finish| finish.reason == FinishReason::ToolCalls);
        let is_needed = message.info["summary"] != true
            && self.is_too_much(&owner.directory, Tokens::of_message(message), &message.info);
        if !is_needed || run.rejected || run.stopped.is_some() || (self.profile.replays_prompts && !goes_on) {
            return false;
        }
        let mut how = json!({"auto": true});
        if !self.profile.replays_prompts {
            how["overflow"] = json!(false);
        }
        self.compact_for_run(session, how);
        true
    }

    pub(super) fn compact_for_run(&mut self, session: &str, how: Value) {
        if let Some(run) = self.run_mut(session) {
            run.compactions += 1;
        }
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(asked) = owner.run.as_ref().and_then(|run| owner.message(&run.prompt)) else { return };
        let (agent, model) = (asked.info["agent"].clone(), asked.info["model"].clone());
        self.ask_for_summary(session, &agent, &model, how);
    }

    /// The model is to sum up what was said so far.
    pub(crate) fn begin_compaction(&mut self, session: &str, errand: &Errand) {
        let message = self.ids.ascending("msg", self.now_ms);
        let Some(owner) = self.sessions.get(session) else { return };
        let directory = owner.directory.clone();
        let asked = owner.message(&errand.message).map(|asked| asked.info.clone()).unwrap_or_default();
        // Who took that agent away wants no summaries, and gets no answers either.
        let Some(agent) = self.agent_for(session, "compaction") else { return self.break_off(session, None) };
        let model = agent.model.clone().unwrap_or_else(|| asked["model"].clone());
        let Some(compaction) = self.compaction(owner, errand, &model) else { return };
        if self.missing_model(session, &model).is_some() {
            return self.break_off(session, None);
        }
        let root = self.worktree_of(&directory);
        let mut info = json!({
            "id": message, "sessionID": session, "role": "assistant", "time": {"created": self.now_ms},
            "parentID": errand.message, "modelID": model["modelID"], "providerID": model["providerID"],
            "mode": "compaction", "agent": "compaction", "path": {"cwd": directory, "root": root},
            "summary": true, "cost": 0,
            "tokens": Tokens::default().wire(),
        });
        if let Some(variant) = asked["model"].get("variant") {
            info["variant"] = variant.clone();
        }
        if let Some(run) = self.run_mut(session) {
            run.prompt.clone_from(&errand.message);
            run.message.clone_from(&message);
            run.begin_answer();
            run.start_tree.clear();
            run.attempt = 0;
            run.compaction = Some(compaction);
        }
        self.push_message(session, &message, info);
        self.effect(Purpose::StepStart(session.to_owned()), self.snapshot_of(&directory));
    }

    /// What the model is asked instead of the conversation, while it sums up.
    pub(crate) fn summary_prompt(&self, session: &str) -> Option<String> {
        let run = self.sessions.get(session)?.run.as_ref()?;
        run.compaction.as_ref().map(|compaction| compaction.prompt.clone())
    }

    fn compaction(&self, owner: &Session, errand: &Errand, model: &Value) -> Option<Compaction> {
        let history = self.history(owner);
        let asked = history.iter().position(|message| message.id() == errand.message)?;
        let overflow = errand.part.get("overflow");
        let is_replayed = overflow.is_some_and(|overflow| self.profile.replays_prompts || *overflow == true);
        let replayed = if is_replayed { self.replayed(&history, asked) } else { None };
        let asks = compaction_of(history[asked]).is_some() && asked + 1 == history.len();
        let told = &history[..replayed.unwrap_or(if asks { asked } else { history.len() })];
        let summaries: Vec<(&str, &str)> = told
            .iter()
            .filter(|message| is_summary(message))
            .filter_map(|summary| {
                let prompt = summary.info["parentID"].as_str()?;
                let is_asked =
                    |message: &&&Message| message.id() == prompt && compaction_of(message).is_some();
                told.iter().find(is_asked).map(|_| (prompt, summary.id()))
            })
            .collect();
        let is_old = |message: &Message| {
            summaries.iter().any(|(prompt, summary)| [*prompt, *summary].contains(&message.id()))
        };
        let earlier =
            summaries.last().and_then(|(_, summary)| owner.message(summary)).and_then(said_in_summary);
        let rest: Vec<&Message> = told.iter().filter(|message| !is_old(message)).copied().collect();
        let tail = if replayed.is_some() { None } else { self.tail(owner, &rest, model) };
        let head = &rest[..tail.unwrap_or(rest.len())];
        let words: Vec<String> =
            head.iter().map(|message| in_words(message)).filter(|w| !w.is_empty()).collect();
        Some(Compaction {
            asked: errand.message.clone(),
            auto: errand.part["auto"] == true,
            overflow: errand.part["overflow"] == true,
            tail: tail.map(|at| rest[at].id().to_owned()),
            replayed: replayed.map(|at| history[at].id().to_owned()),
            prompt: prompt(&words.join("\n\n"), earlier.as_deref()),
        })
    }

    /// The prompt that nobody has begun to answer is sent again, if there is anything before it.
    fn replayed(&self, history: &[&Message], asked: usize) -> Option<usize> {
        let is_prompt = |message: &Message| message.role() == "user" && compaction_of(message).is_none();
        let at = history[..asked].iter().rposition(|message| is_prompt(message))?;
        let has_begun = |message: &&Message| {
            let speaks = |part: &Value| {
                part["type"] == "tool"
                    || (matches!(part["type"].as_str(), Some("text" | "reasoning"))
                        && part["text"].as_str().is_some_and(|text| !text.is_empty()))
            };
            message.role() != "user" && (is_finished(message) || message.parts.iter().any(speaks))
        };
        let is_begun = self.profile.replays_prompts && history[at + 1..asked].iter().any(has_begun);
        let has_more = history[..at].iter().any(|message| is_prompt(message));
        (!is_begun && has_more).then_some(at)
    }

    /// Where what stays as it is begins: as many of the latest prompts as fit.
    fn tail(&self, owner: &Session, messages: &[&Message], model: &Value) -> Option<usize> {
        let turns = self.compaction_settings(&owner.directory)["tail_turns"]
            .as_i64()
            .map(|turns| usize::try_from(turns).unwrap_or(0));
        let turns = turns.or(self.profile.tail_turns);
        let budget = self.tail_budget(&owner.directory, model);
        let starts: Vec<usize> = (0..messages.len())
            .filter(|&at| messages[at].role() == "user" && compaction_of(messages[at]).is_none())
            .collect();
        let counted = starts.len().min(turns.unwrap_or(usize::MAX));
        let mut total = 0;
        let mut tail = None;
        for place in (starts.len() - counted..starts.len()).rev() {
            let (start, end) = (starts[place], starts.get(place + 1).copied().unwrap_or(messages.len()));
            let size = self.estimate(owner, &messages[start..end]);
            if total + size <= budget {
                total += size;
                tail = Some(start);
                continue;
            }
            let fits = |at: &usize| self.estimate(owner, &messages[*at..end]) <= budget - total;
            let inside = if budget > total { (start + 1..end).find(fits) } else { None };
            tail = inside.or(tail);
            break;
        }
        tail.filter(|&at| at > 0)
    }

    /// About how much the model would be told: four letters a token.
    fn estimate(&self, owner: &Session, messages: &[&Message]) -> u64 {
        let senses = self.senses(owner);
        let told = |message: &&Message| self.told(message, Vec::new(), &owner.directory, &senses);
        let told: Value = messages.iter().flat_map(told).collect();
        u64::try_from(units(&told.to_string())).unwrap_or(u64::MAX).div_ceil(4)
    }

    /// Who sums up may not do anything else.
    pub(crate) fn refuse_call_of_summary(&mut self, session: &str, tool: &str) {
        let message = format!("Tool call not allowed while generating summary: {tool}");
        self.fail_turn(session, json!({"name": "UnknownError", "data": {"message": message}}));
    }

    /// The step that has ended was a summary: what is kept, and how the work goes on. Says whether it does.
    pub(crate) fn finish_compaction(&mut self, session: &str) -> bool {
        let Some(done) = self.run_mut(session).and_then(|run| run.compaction.take()) else { return false };
        if let Some(tail) = &done.tail {
            let parts =
                self.sessions.get(session).and_then(|owner| owner.message(&done.asked)).map(|m| &m.parts);
            let place = parts.and_then(|parts| parts.iter().position(|part| part["type"] == "compaction"));
            if let Some(place) = place {
                self.change_part(session, &done.asked, place, json!({"tail_start_id": tail}));
            }
        }
        if done.auto {
            self.continue_after(session, &done);
        }
        self.emit_session(session, "session.compacted", json!({"sessionID": session}));
        done.auto
    }

    fn continue_after(&mut self, session: &str, done: &Compaction) {
        let now = self.now_ms;
        let message = self.ids.ascending("msg", now);
        let Some(owner) = self.sessions.get(session) else { return };
        let again = done.replayed.as_ref().and_then(|id| owner.message(id)).cloned();
        let Some(from) = again.as_ref().or_else(|| owner.message(&done.asked)) else { return };
        let mut info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": now},
            "agent": from.info["agent"], "model": from.info["model"],
        });
        if again.is_some() {
            for key in ["format", "tools", "system", "editorContext"] {
                if let Some(kept) = from.info.get(key) {
                    info[key] = kept.clone();
                }
            }
        }
        self.push_message(session, &message, info);
        match again {
            Some(again) => {
                for mut part in again.parts {
                    for own in ["id", "sessionID", "messageID"] {
                        part.as_object_mut().and_then(|part| part.remove(own));
                    }
                    if done.overflow && is_picture(&part) {
                        part = json!({"type": "text", "text": attached(&part)});
                    }
                    if self.profile.replays_prompts && part["type"] == "text" {
                        part["synthetic"] = json!(true);
                    }
                    self.add_part(session, &message, part);
                }
            }
            None => {
                let text = format!("{}{GO_ON}", if done.overflow { WAS_TOO_MUCH } else { "" });
                let part = json!({
                    "type": "text", "metadata": {"compaction_continue": true}, "synthetic": true, "text": text,
                    "time": {"start": now, "end": now},
                });
                self.add_part(session, &message, part);
            }
        }
        if let Some(run) = self.run_mut(session) {
            run.prompts.push(message.clone());
            run.prompt = message;
        }
    }
}

/// Is this part of a prompt something that is no text, and that some models see?
fn is_picture(part: &Value) -> bool {
    let kind = part["mime"].as_str().unwrap_or_default();
    part["type"] == "file" && (kind.starts_with("image/") || kind == "application/pdf")
}

fn said_in_summary(summary: &Message) -> Option<String> {
    let texts = summary.parts.iter().filter(|part| part["type"] == "text");
    let texts: Vec<&str> = texts
        .filter_map(|part| part["text"].as_str())
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The wording is the servers': scripted models know the request by it.
fn prompt(conversation: &str, earlier: Option<&str>) -> String {
    let told = format!("Here is the conversation so far:\n\n<conversation>\n{conversation}\n</conversation>");
    match earlier {
        None => format!(
            "{told}\n\nCreate a new anchored summary from the conversation history in the <conversation> tags above so \
             another coding agent can continue the work.\n\n{FORM}"
        ),
        Some(earlier) => format!(
            "{told}\n\nHere is the summary of the conversation before the <conversation> above:\n\n<prior-summary>\n\
             {earlier}\n</prior-summary>\n\n{JOINED}\n\n{FORM}"
        ),
    }
}
