//! What breaks on an agent's line, as a plan has it.

use super::line::{Breaks, Broken, Then};
use super::pieces::Unread;
use super::watch::Strain;
use fixtures::fault_plan::{AcpAction, AcpFault, AcpTrigger, LineEnd};
use serde_json::{Value, json};

/// The faults of a plan, and how often each could have acted.
#[derive(Default)]
pub struct AcpBreaks {
    faults: Vec<(AcpFault, usize)>,
    /// Lines that wait for the next one: they come before it, or behind it.
    held: Vec<u8>,
    behind: Vec<u8>,
    /// The session that was named last.
    session: String,
    /// The id behind that which was answered last: that of the client's next request, if it counts.
    next_id: u64,
    unread: Option<Unread>,
}

/// One that never ends is written for so long: more than any client should hold.
const ENDLESS: usize = 256 * 1024 * 1024;
const AT_ONCE: usize = 64 * 1024;

impl AcpBreaks {
    /// Those of a plan.
    #[must_use]
    pub fn new(faults: Vec<AcpFault>) -> Self {
        Self { faults: faults.into_iter().map(|fault| (fault, 0)).collect(), ..Self::default() }
    }

    /// Where it can be known what waits to be read.
    #[must_use]
    pub fn with_unread(self, unread: Option<Unread>) -> Self {
        Self { unread, ..self }
    }

    fn filled(&self, noise: &str) -> String {
        noise.replace("${session}", &self.session).replace("${next_id}", &self.next_id.to_string())
    }

    fn acting(&mut self, message: &Value, answers: Option<&str>) -> Vec<AcpAction> {
        let mut acting = Vec::new();
        for (fault, count) in &mut self.faults {
            if !fits(&fault.when, message, answers) {
                continue;
            }
            *count += 1;
            if fault.when.nth.is_none_or(|nth| nth == *count) {
                acting.push(fault.action.clone());
            }
        }
        acting
    }
}

fn fits(when: &AcpTrigger, message: &Value, answers: Option<&str>) -> bool {
    let update = message["params"]["update"]["sessionUpdate"].as_str();
    let update = update.or_else(|| message["params"]["update"]["type"].as_str());
    when.method.as_ref().is_none_or(|method| message["method"] == method.as_str())
        && when.update.as_deref().is_none_or(|wanted| update == Some(wanted))
        && when.answer_to.as_deref().is_none_or(|wanted| answers == Some(wanted))
}

impl Breaks for AcpBreaks {
    fn unread(&self) -> Option<Unread> {
        self.unread.clone()
    }

    fn line(&mut self, message: &Value, answers: Option<&str>, line: Vec<u8>) -> Broken {
        let mut broken = Broken { pieces: vec![line], ..Broken::default() };
        let named = [&message["params"]["sessionId"], &message["result"]["sessionId"]];
        if let Some(session) = named.into_iter().find_map(Value::as_str) {
            session.clone_into(&mut self.session);
        }
        if let (Some(_), Some(id)) = (answers, message["id"].as_u64()) {
            self.next_id = id.saturating_add(1);
        }
        let (mut holds, mut swaps) = (false, false);
        for action in self.acting(message, answers) {
            match action {
                AcpAction::HoldBack(holds_back) => holds = holds_back,
                AcpAction::Swap(is_swapped) => swaps = is_swapped,
                AcpAction::NoiseBefore(noise) => {
                    act(&AcpAction::NoiseBefore(self.filled(&noise)), message, &mut broken);
                }
                AcpAction::NoiseBehind(noise) => {
                    act(&AcpAction::NoiseBehind(self.filled(&noise)), message, &mut broken);
                }
                other => act(&other, message, &mut broken),
            }
        }
        if holds || swaps {
            let line = std::mem::take(&mut broken.pieces).concat();
            if holds {
                self.held.extend(line)
            } else {
                self.behind.extend(line)
            }
            return broken;
        }
        if !self.held.is_empty() {
            let first = broken.pieces.first_mut();
            let mut held = std::mem::take(&mut self.held);
            if let Some(first) = first {
                held.append(first);
                *first = held;
            }
        }
        if !self.behind.is_empty() {
            broken.pieces.push(std::mem::take(&mut self.behind));
        }
        broken
    }
}

fn act(action: &AcpAction, message: &Value, broken: &mut Broken) {
    let mut line = broken.pieces.concat();
    let without_end = |line: &mut Vec<u8>| {
        while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            line.pop();
        }
    };
    match action {
        AcpAction::NoiseBefore(noise) => line.splice(0..0, noise.bytes()).for_each(drop),
        AcpAction::NoiseBehind(noise) => line.extend(noise.bytes()),
        AcpAction::NoiseInside(noise) => {
            let middle = line.len() / 2;
            line.splice(middle..middle, noise.bytes()).for_each(drop);
        }
        AcpAction::Twice(true) => line = [line.clone(), line].concat(),
        AcpAction::LeaveOut(true) => line.clear(),
        AcpAction::PadTo(length) => {
            // Behind the first brace: blanks there mean nothing.
            let blanks = length.saturating_sub(line.len());
            let at = 1.min(line.len());
            line.splice(at..at, std::iter::repeat_n(b' ', blanks)).for_each(drop);
        }
        AcpAction::LineEnd(end) => {
            without_end(&mut line);
            if *end == LineEnd::Crlf {
                line.extend(b"\r\n");
            }
        }
        AcpAction::Bom(true) => line.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
        AcpAction::Set(set) => {
            let value = serde_json::from_str(&set.json).unwrap_or_else(|_| Value::String(set.json.clone()));
            let mut message = message.clone();
            if put(&mut message, &set.at, value).is_some() {
                line = format!("{message}\n").into_bytes();
            }
        }
        AcpAction::Refuse(refusal) => {
            let error = json!({"code": refusal.code, "message": refusal.message});
            line =
                format!("{}\n", json!({"jsonrpc": "2.0", "id": message["id"], "error": error})).into_bytes();
        }
        AcpAction::StopReading(true) => broken.process.push(Strain::StopReading),
        AcpAction::Linger(true) => broken.process.push(Strain::Linger),
        AcpAction::Child(true) => broken.process.push(Strain::Child),
        AcpAction::StderrBytes(count) => {
            let words = b"the agent has a lot to say\n".iter().copied().cycle();
            broken.stderr.extend(words.take(*count));
        }
        AcpAction::Hang(true) => (line, broken.then) = (Vec::new(), Then::Mute),
        AcpAction::Exit(code) => (line, broken.then) = (Vec::new(), Then::Exit(*code)),
        AcpAction::Signal(signal) => (line, broken.then) = (Vec::new(), Then::Die(*signal)),
        AcpAction::ExitBehind(code) => broken.then = Then::Exit(*code),
        AcpAction::CutInto(size) => {
            broken.pieces = line.chunks((*size).max(1)).map(<[u8]>::to_vec).collect();
            return;
        }
        AcpAction::Endless(true) => {
            without_end(&mut line);
            broken.pieces = vec![line];
            broken.pieces.extend(std::iter::repeat_n(vec![b' '; AT_ONCE], ENDLESS / AT_ONCE));
            broken.then = Then::Mute;
            return;
        }
        _ => {}
    }
    broken.pieces = if line.is_empty() { Vec::new() } else { vec![line] };
}

/// Puts a value at a place; what is above it must be there.
fn put(message: &mut Value, pointer: &str, value: Value) -> Option<()> {
    let (above, name) = pointer.rsplit_once('/')?;
    match message.pointer_mut(above)? {
        Value::Object(fields) => {
            fields.insert(name.to_owned(), value);
            Some(())
        }
        Value::Array(items) => {
            *items.get_mut(name.parse::<usize>().ok()?)? = value;
            Some(())
        }
        _ => None,
    }
}

/// An endless line is big, but only while it is written.
#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::fault_plan::FaultPlan;
    use std::path::Path;

    fn faults(text: &str) -> AcpBreaks {
        AcpBreaks::new(FaultPlan::parse(Path::new("plan.toml"), text).unwrap().acp)
    }

    fn chunk(text: &str) -> Value {
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
    }

    fn answer() -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}})
    }

    /// What a client gets of these two messages, piece by piece, and what happens then.
    fn said(plan: &str) -> (Vec<String>, Then) {
        let mut breaks = faults(plan);
        let mut all = Vec::new();
        let mut then = Then::GoOn;
        for (message, answers) in [(chunk("é"), None), (answer(), Some("session/prompt"))] {
            let broken = breaks.line(&message, answers, format!("{message}\n").into_bytes());
            all.extend(broken.pieces.iter().map(|piece| String::from_utf8_lossy(piece).into_owned()));
            if broken.then != Then::GoOn {
                then = broken.then;
                break;
            }
        }
        (all, then)
    }

    #[test]
    fn each_action_does_what_it_says() {
        let (chunk, answer) = (format!("{}\n", chunk("é")), format!("{}\n", answer()));
        let one = |action: &str| {
            said(&format!("[[acp]]\nwhen = {{ update = \"agent_message_chunk\" }}\ndo = {action}\n"))
        };
        assert_eq!(one("{ noise_before = \"hi\\n\" }").0, [format!("hi\n{chunk}"), answer.clone()]);
        assert_eq!(one("{ noise_behind = \"<${session}>\\n\" }").0[0], format!("{chunk}<s>\n"));
        assert_eq!(one("{ twice = true }").0, [format!("{chunk}{chunk}"), answer.clone()]);
        assert_eq!(one("{ leave_out = true }").0, std::slice::from_ref(&answer));
        assert_eq!(one("{ swap = true }").0, [answer.clone(), chunk.clone()]);
        assert_eq!(one("{ hold_back = true }").0, [format!("{chunk}{answer}")]);
        assert_eq!(one("{ bom = true }").0[0], format!("\u{feff}{chunk}"));
        assert_eq!(one("{ line_end = \"crlf\" }").0[0], chunk.replace('\n', "\r\n"));
        assert_eq!(one("{ line_end = \"none\" }").0[0], chunk.trim_end());
        let (pieces, _) = one("{ cut_into = 1 }");
        assert_eq!(pieces.len(), chunk.len() + 1);
        let padded = &one("{ pad_to = 65537 }").0[0];
        assert_eq!(padded.len(), 65537);
        assert_eq!(
            serde_json::from_str::<Value>(padded).unwrap(),
            serde_json::from_str::<Value>(&chunk).unwrap()
        );
        let foreign = &one("{ set = { at = \"/params/sessionId\", json = \"\\\"other\\\"\" } }").0[0];
        assert_eq!(serde_json::from_str::<Value>(foreign).unwrap()["params"]["sessionId"], "other");
        assert!(serde_json::from_str::<Value>(&one("{ noise_inside = \"\\u001b[0m\" }").0[0]).is_err());
        assert_eq!(one("{ hang = true }"), (Vec::new(), Then::Mute));
        assert_eq!(one("{ exit = 3 }"), (Vec::new(), Then::Exit(3)));
        assert_eq!(one("{ signal = 9 }"), (Vec::new(), Then::Die(9)));
        assert_eq!(one("{ exit_behind = 4 }"), (vec![chunk.clone()], Then::Exit(4)));
        assert_eq!(one("{ endless = true }").1, Then::Mute);
        let refused = said(
            "[[acp]]\nwhen = { answer_to = \"session/prompt\" }\ndo = { refuse = { code = -32601, message = \"no\" } }\n",
        );
        let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}});
        assert_eq!(refused.0, [chunk.clone(), format!("{error}\n")]);
        for (action, strain) in
            [("stop_reading", Strain::StopReading), ("linger", Strain::Linger), ("child", Strain::Child)]
        {
            let mut breaks = faults(&format!("[[acp]]\ndo = {{ {action} = true }}\n"));
            let broken = breaks.line(&self::answer(), None, answer.clone().into_bytes());
            assert_eq!((broken.process, broken.pieces.len()), (vec![strain], 1));
        }
    }

    #[test]
    fn which_message_is_meant_is_said_by_method_kind_answer_and_number() {
        let (chunk, answer) = (format!("{}\n", chunk("é")), format!("{}\n", answer()));
        let left =
            |when: &str| said(&format!("[[acp]]\nwhen = {{ {when} }}\ndo = {{ leave_out = true }}\n")).0;
        assert_eq!(left("answer_to = \"session/prompt\""), std::slice::from_ref(&chunk));
        assert_eq!(left("answer_to = \"session/new\""), [chunk.clone(), answer.clone()]);
        assert_eq!(left("method = \"session/update\", nth = 1"), std::slice::from_ref(&answer));
        assert_eq!(left("method = \"session/update\", nth = 2"), [chunk, answer]);
        assert_eq!(said("[[acp]]\ndo = { leave_out = true }\n").0, Vec::<String>::new());
    }
}
