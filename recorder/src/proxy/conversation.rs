//! What is said on one connection: requests and their answers, put on the tape as exchanges.

use super::body::{Collected, Decoder, Kept};
use super::credentials;
use super::http::{Head, Messages, NoHttp, Part};
use crate::ledger::Ledger;
use fixtures::recording::{HowEnded, Line, Request, Response};
use fixtures::redact::keep_header;
use std::collections::VecDeque;
use std::time::Instant;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// A connection, and how far its words are understood.
#[derive(Debug)]
pub(super) struct Conversation {
    /// Its number, for remarks.
    number: u64,
    client: Listener,
    server: Listener,
    /// Requests whose answer has not begun, oldest first; the last one may not be whole yet.
    asked: VecDeque<Asked>,
    answering: Option<Answering>,
    has_client_left: bool,
}

/// What is heard of one side.
#[derive(Debug)]
enum Listener {
    Http(Messages),
    /// Another protocol from here on, which nobody here reads: so many bytes.
    Opaque(u64),
    /// It was no HTTP.
    Lost,
}

#[derive(Debug)]
struct Asked {
    exchange: u64,
    method: String,
    /// What is known of it until it is on the tape.
    untold: Option<(Head, Collected)>,
}

#[derive(Debug)]
struct Answering {
    exchange: u64,
    what: Answer,
}

#[derive(Debug)]
enum Answer {
    /// Told when it is whole.
    Whole(Head, Collected),
    /// Told as it comes.
    Stream(Decoder),
    /// The connection became something else.
    Opaque,
}

impl Conversation {
    pub(super) fn new(number: u64) -> Self {
        Self {
            number,
            client: Listener::Http(Messages::new()),
            server: Listener::Http(Messages::new()),
            asked: VecDeque::new(),
            answering: None,
            has_client_left: false,
        }
    }

    /// One side said this.
    pub(super) fn hear(&mut self, side: Side, when: Instant, mut bytes: &[u8], ledger: &mut Ledger) {
        loop {
            let messages = match self.listener(side) {
                Listener::Http(messages) => messages,
                Listener::Opaque(count) => {
                    *count += bytes.len() as u64;
                    return;
                }
                Listener::Lost => return,
            };
            let heard = match messages.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(part)) => match side {
                    Side::Client => self.request(part, when, ledger),
                    Side::Server => self.response(part, when, ledger),
                },
                Err(error) => Err(error),
            };
            if let Err(NoHttp(why)) = heard {
                *self.listener(side) = Listener::Lost;
                let (number, who) = (self.number, if side == Side::Client { "client" } else { "server" });
                let what = format!(
                    "connection {number}: the {who} sent {why}; its words from here on are not recorded"
                );
                ledger.leave_out(when, what);
            }
        }
    }

    /// One side will say no more. What the server had not finished then it never will.
    pub(super) fn left(&mut self, side: Side, when: Instant, ledger: &mut Ledger) {
        if side == Side::Client {
            self.has_client_left = true;
            return;
        }
        if matches!(&self.server, Listener::Http(messages) if messages.ends_with_the_connection()) {
            self.answered(when, ledger);
        }
        self.end(when, HowEnded::Cut, ledger);
    }

    /// What is open on the connection ended so; unless the client had left before.
    pub(super) fn end(&mut self, when: Instant, how: HowEnded, ledger: &mut Ledger) {
        let how = if self.has_client_left { HowEnded::ClosedByClient } else { how };
        if let Some(Answering { exchange, what }) = self.answering.take() {
            let how = match what {
                Answer::Whole(head, body) => {
                    tell_response(exchange, head, Some(body), when, ledger);
                    how
                }
                Answer::Stream(_) => how,
                Answer::Opaque => {
                    ledger.leave_out(when, self.opaque(exchange));
                    // It has no other end than that of the connection.
                    if how == HowEnded::Cut { HowEnded::ClosedByServer } else { how }
                }
            };
            ledger.end(when, exchange, how);
        }
        while let Some(mut asked) = self.asked.pop_front() {
            asked.tell(when, ledger);
            ledger.end(when, asked.exchange, how);
        }
    }

    fn opaque(&self, exchange: u64) -> String {
        let count = |listener: &Listener| if let Listener::Opaque(count) = listener { *count } else { 0 };
        let (up, down) = (count(&self.client), count(&self.server));
        format!(
            "exchange {exchange}: another protocol, of which nothing is recorded: {up} bytes of the client, {down} of \
             the server"
        )
    }

    fn listener(&mut self, side: Side) -> &mut Listener {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn request(&mut self, part: Part<'_>, when: Instant, ledger: &mut Ledger) -> Result<(), NoHttp> {
        match part {
            Part::Head(head) => {
                if let Listener::Http(messages) = &mut self.client {
                    messages.body_is(head.request_framing());
                }
                for secret in credentials::in_head(&head) {
                    ledger.account.secrets.add(&secret);
                }
                let body = Collected::new(&head, ledger.room().body);
                let (exchange, method) = (ledger.exchange(), head.method().to_owned());
                self.asked.push_back(Asked { exchange, method, untold: Some((head, body)) });
            }
            // Its answer may have begun before it was whole; then it is gone from here, and told.
            Part::Data(data) => {
                if let Some((_, body)) = self.asked.back_mut().and_then(|asked| asked.untold.as_mut()) {
                    body.take(data);
                }
            }
            Part::End => {
                if let Some(asked) = self.asked.back_mut() {
                    asked.tell(when, ledger);
                }
            }
        }
        Ok(())
    }

    fn response(&mut self, part: Part<'_>, when: Instant, ledger: &mut Ledger) -> Result<(), NoHttp> {
        match part {
            Part::Head(head) => self.response_head(head, when, ledger)?,
            Part::Data(data) => match &mut self.answering {
                Some(Answering { what: Answer::Whole(_, body), .. }) => body.take(data),
                Some(Answering { exchange, what: Answer::Stream(Decoder::Plain) }) => {
                    ledger.chunk(when, *exchange, data);
                }
                Some(Answering { exchange, what: Answer::Stream(decoder) }) => {
                    let mut decoded = Vec::new();
                    decoder.decode(data, &mut decoded, ledger.room().stream);
                    ledger.chunk(when, *exchange, &decoded);
                }
                _ => {}
            },
            Part::End => self.answered(when, ledger),
        }
        Ok(())
    }

    fn response_head(&mut self, head: Head, when: Instant, ledger: &mut Ledger) -> Result<(), NoHttp> {
        let status = head.status()?;
        let method = self.asked.front().map(|asked| asked.method.clone()).unwrap_or_default();
        if let Listener::Http(messages) = &mut self.server {
            messages.body_is(head.response_framing(status, &method));
        }
        // What is said on the way to the answer is none.
        if (100..200).contains(&status) && status != 101 {
            return Ok(());
        }
        let mut asked = self.asked.pop_front().ok_or(NoHttp("an answer that nobody asked for"))?;
        asked.tell(when, ledger);
        let exchange = asked.exchange;
        let is_stream = status == 200
            && head.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let what = if status == 101 || (asked.method == "CONNECT" && (200..300).contains(&status)) {
            tell_response(exchange, head, None, when, ledger);
            (self.client, self.server) = (Listener::Opaque(0), Listener::Opaque(0));
            Answer::Opaque
        } else if is_stream {
            let decoder = Decoder::of(&head);
            if let Decoder::Unread(why) = &decoder {
                ledger.leave_out(when, format!("exchange {exchange}: the stream is not recorded: {why}"));
            }
            tell_response(exchange, head, None, when, ledger);
            ledger.open_stream(exchange);
            Answer::Stream(decoder)
        } else {
            let body = Collected::new(&head, ledger.room().body);
            Answer::Whole(head, body)
        };
        self.answering = Some(Answering { exchange, what });
        Ok(())
    }

    /// The answer is whole.
    fn answered(&mut self, when: Instant, ledger: &mut Ledger) {
        // Nothing ends what is no HTTP any more but the connection.
        if matches!(self.answering, Some(Answering { what: Answer::Opaque, .. })) {
            return;
        }
        let Some(Answering { exchange, what }) = self.answering.take() else { return };
        match what {
            Answer::Whole(head, body) => tell_response(exchange, head, Some(body), when, ledger),
            Answer::Stream(_) => ledger.end(when, exchange, HowEnded::ClosedByServer),
            Answer::Opaque => {}
        }
    }
}

impl Asked {
    /// Puts it on the tape, once.
    fn tell(&mut self, when: Instant, ledger: &mut Ledger) {
        let Some((head, body)) = self.untold.take() else { return };
        let exchange = self.exchange;
        let Kept { body, bytes, left_out } = body.finish();
        let (path, query) = head.target();
        let (method, path, query) = (head.method().to_owned(), path.to_owned(), query.to_owned());
        let headers = kept(head);
        ledger.account.requests += 1;
        let bytes = path.len() + query.len() + size(&headers) + bytes;
        ledger.keep(when, bytes, |at_us| {
            Line::Request(Request { at_us, exchange, lane: None, method, path, query, headers, body })
        });
        if let Some(why) = left_out {
            ledger.leave_out(when, format!("exchange {exchange}: of the request {why}"));
        }
    }
}

fn tell_response(exchange: u64, head: Head, body: Option<Collected>, when: Instant, ledger: &mut Ledger) {
    let status = head.status().unwrap_or_default();
    let headers = kept(head);
    let Kept { body, bytes, left_out } = body.map(Collected::finish).unwrap_or_default();
    ledger.keep(when, size(&headers) + bytes, |at_us| {
        Line::Response(Response { at_us, exchange, status, headers, body })
    });
    if let Some(why) = left_out {
        ledger.leave_out(when, format!("exchange {exchange}: of the answer {why}"));
    }
}

/// The headers that may be kept.
fn kept(head: Head) -> Vec<(String, String)> {
    head.into_headers().into_iter().filter(|(name, _)| keep_header(name)).collect()
}

fn size(headers: &[(String, String)]) -> usize {
    headers.iter().map(|(name, value)| name.len() + value.len()).sum()
}

#[cfg(test)]
mod tests;
