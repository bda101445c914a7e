//! The server's life without a process: what the core makes of lines, ends and answers, in time that nobody waits for.

use super::core::Core;
use super::io::{Input, Output, Timer};
use super::strategy::Strategies;
use crate::protocol::{
    Id, Notification, Request, RpcError, ServerReason, ServerSpawn, ServerState, TaskStart, Update,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A core, and all that it wanted lately.
struct Server {
    core: Core,
    now_ms: u64,
    start: u64,
    wanted: Vec<Output>,
}

impl Server {
    fn asked() -> Self {
        let mut server =
            Self { core: Core::new(Strategies::default()), now_ms: 0, start: 1, wanted: Vec::new() };
        server.is_wanted();
        server
    }

    /// The person wants it.
    fn is_wanted(&mut self) {
        self.ask(Request::ServerSpawn(ServerSpawn {
            program: "/bin/kilo".to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            password_variable: "KILO_SERVER_PASSWORD".to_owned(),
            username: "kilo".to_owned(),
            directory: "/w".to_owned(),
        }));
    }

    fn step(&mut self, input: Input) {
        let wanted = self.core.step(input, self.now_ms);
        self.wanted.extend(wanted);
    }

    fn ask(&mut self, request: Request) {
        self.step(Input::Command(Id::Number(1), request));
    }

    fn says(&mut self, line: &str) {
        self.step(Input::ServerSaid { start: self.start, line: line.to_owned() });
    }

    /// It is started, says that it listens, and is well.
    fn gets_ready(&mut self) {
        self.step(Input::ServerStarted { start: self.start, password: "p".to_owned() });
        self.says("Warning: something");
        self.says("kilo server listening on http://127.0.0.1:4097");
        self.is_asked_how_it_is(Ok((200, r#"{"healthy":true,"version":"1"}"#.to_owned())));
    }

    fn is_asked_how_it_is(&mut self, answer: Result<(u16, String), String>) {
        let request = self.wanted.iter().rev().find_map(|wanted| match wanted {
            Output::Http { request, path, .. } if path.starts_with("/global/health") => Some(*request),
            _ => None,
        });
        self.step(Input::HttpDone { request: request.unwrap(), answer });
    }

    fn crashes(&mut self) {
        let how = "signal: 9".to_owned();
        self.step(Input::ServerEnded { start: self.start, how, words: String::new(), port_taken: false });
    }

    fn is_started_again(&mut self) {
        self.step(Input::TimerFired { timer: Timer::Again(self.start) });
        self.start += 1;
        self.gets_ready();
    }

    /// What was shown of it since the last look, and why.
    fn shown(&mut self) -> Vec<(ServerState, Option<ServerReason>)> {
        let shown = self.wanted.iter().filter_map(|wanted| match wanted {
            Output::Emit(Notification::Update(Update::Server { state, reason, .. })) => {
                Some((*state, *reason))
            }
            _ => None,
        });
        let shown = shown.collect();
        self.wanted.clear();
        shown
    }

    /// The latest.
    fn answer(&self) -> Option<&Result<Value, RpcError>> {
        self.wanted.iter().rev().find_map(|wanted| match wanted {
            Output::Answer(_, outcome) => Some(outcome),
            _ => None,
        })
    }

    fn is_killed(&self) -> bool {
        self.wanted.contains(&Output::KillServer { start: self.start })
    }
}

const MINUTE: u64 = 60_000;

#[test]
fn four_crashes_within_ten_minutes_end_it_and_four_within_eleven_do_not() {
    for (minutes, ends) in [([0, 3, 6, 9], true), ([0, 4, 8, 11], false)] {
        let mut server = Server::asked();
        server.gets_ready();
        for (at, minute) in minutes.into_iter().enumerate() {
            server.now_ms = minute * MINUTE + 1;
            server.shown();
            server.crashes();
            let last = at == 3 && ends;
            let due = if last {
                (ServerState::Disabled, Some(ServerReason::CrashLoop))
            } else {
                (ServerState::Restarting, Some(ServerReason::Crashed))
            };
            assert_eq!(server.shown(), [due], "crash {at} of {minutes:?}");
            if !last {
                server.is_started_again();
            }
        }
        server.wanted.clear();
        server.ask(Request::TaskStart(TaskStart { task_id: "t".to_owned(), directory: None }));
        assert_eq!(server.answer().is_some_and(Result::is_err), ends, "a new task after {minutes:?}");
        server.step(Input::TimerFired { timer: Timer::Again(server.start) });
        let starts = server.wanted.iter().any(|wanted| matches!(wanted, Output::StartServer { .. }));
        assert!(!starts, "it is given up, or it runs");
    }
}

#[test]
fn each_failure_has_its_own_reason_and_leaves_no_process() {
    let strange = "kilo server listening on http://127.0.0.1:".to_owned();
    let well = "kilo server listening on http://127.0.0.1:4097";
    let http = |status: u16, body: &str| Ok((status, body.to_owned()));
    type Fails = Box<dyn Fn(&mut Server)>;
    let ways: Vec<(ServerReason, bool, Fails)> = vec![
        (
            ServerReason::NoProgram,
            false,
            Box::new(|server| server.step(Input::ServerNotStarted { start: 1, why: "none".to_owned() })),
        ),
        (ServerReason::EarlyExit, false, Box::new(Server::crashes)),
        (
            ServerReason::PortTaken,
            false,
            Box::new(|server| {
                server.step(Input::ServerEnded {
                    start: 1,
                    how: "1".to_owned(),
                    words: String::new(),
                    port_taken: true,
                })
            }),
        ),
        (ServerReason::Garbled, true, Box::new(move |server| server.says(&strange))),
        (
            ServerReason::Silent,
            true,
            Box::new(|server| server.step(Input::TimerFired { timer: Timer::Start(1) })),
        ),
        (
            ServerReason::Unauthorized,
            true,
            Box::new(move |server| {
                server.says(well);
                server.is_asked_how_it_is(http(401, ""));
            }),
        ),
        (
            ServerReason::WrongShape,
            true,
            Box::new(move |server| {
                server.says(well);
                server.is_asked_how_it_is(http(200, "<html>"));
            }),
        ),
        (
            ServerReason::Unhealthy,
            true,
            Box::new(move |server| {
                server.says(well);
                for _ in 0..2 {
                    server.is_asked_how_it_is(http(503, ""));
                    server.step(Input::TimerFired { timer: Timer::Health(1) });
                }
                server.is_asked_how_it_is(Err("refused".to_owned()));
            }),
        ),
    ];
    for (reason, lives, fails) in ways {
        let mut server = Server::asked();
        server.step(Input::ServerStarted { start: 1, password: "p".to_owned() });
        fails(&mut server);
        assert_eq!(server.is_killed(), lives, "{reason:?}");
        assert!(server.answer().is_some_and(Result::is_err), "{reason:?}");
        let due = [(ServerState::Starting, None), (ServerState::Failed, Some(reason))];
        assert_eq!(server.shown(), due);
        // What comes late of it changes nothing.
        server.crashes();
        server.step(Input::TimerFired { timer: Timer::Start(1) });
        assert_eq!(server.shown(), [], "{reason:?}");
    }
}

#[test]
fn one_bad_answer_about_its_health_is_no_failure_and_an_end_is_waited_for() {
    let mut server = Server::asked();
    server.step(Input::ServerStarted { start: 1, password: "p".to_owned() });
    server.says("kilo server listening on http://127.0.0.1:4097");
    server.is_asked_how_it_is(Ok((503, String::new())));
    server.step(Input::TimerFired { timer: Timer::Health(1) });
    server.is_asked_how_it_is(Ok((200, r#"{"healthy":true,"version":"1"}"#.to_owned())));
    assert_eq!(server.shown(), [(ServerState::Starting, None), (ServerState::Ready, None)]);
    server.ask(Request::WorkspaceClose);
    assert!(server.wanted.contains(&Output::StopServer { start: 1 }) && server.answer().is_none());
    server.crashes();
    assert!(server.answer().is_some_and(Result::is_ok));
    assert_eq!(server.shown(), [(ServerState::Stopped, None)], "it was no crash");
}

#[test]
fn a_start_that_has_failed_is_tried_again_by_the_person_one_at_a_time() {
    let mut server = Server::asked();
    server.crashes();
    assert_eq!(
        server.shown(),
        [(ServerState::Starting, None), (ServerState::Failed, Some(ServerReason::EarlyExit))]
    );
    server.is_wanted();
    server.start = 2;
    let starts = |server: &Server| {
        server.wanted.iter().filter(|wanted| matches!(wanted, Output::StartServer { .. })).count()
    };
    assert!(starts(&server) == 1 && server.answer().is_none());
    server.is_wanted();
    assert!(starts(&server) == 1 && server.answer().is_some_and(Result::is_err), "it is being started");
    server.wanted.clear();
    server.gets_ready();
    assert_eq!(server.shown(), [(ServerState::Ready, None)]);
    server.is_wanted();
    assert!(server.answer().is_some_and(Result::is_err), "it is there");
}

#[test]
fn nothing_is_started_or_said_to_be_over_while_a_killed_one_still_ends() {
    let killed = || {
        let mut server = Server::asked();
        server.step(Input::TimerFired { timer: Timer::Start(1) });
        assert!(server.is_killed() && server.answer().is_some_and(Result::is_err));
        server.wanted.clear();
        server
    };
    let starts = |server: &Server| {
        server.wanted.iter().any(|wanted| matches!(wanted, Output::StartServer { start: 2, .. }))
    };
    let mut again = killed();
    again.is_wanted();
    assert!(!starts(&again) && again.answer().is_none(), "the first one still ends");
    again.crashes();
    assert!(starts(&again), "nothing is left of the first one");

    let mut over = killed();
    over.ask(Request::WorkspaceClose);
    assert!(over.answer().is_none(), "the first one still ends");
    over.crashes();
    assert!(over.answer().is_some_and(Result::is_ok));

    let mut both = killed();
    both.is_wanted();
    both.ask(Request::WorkspaceClose);
    both.crashes();
    let answers = both.wanted.iter().filter_map(|wanted| match wanted {
        Output::Answer(_, outcome) => Some(outcome.is_ok()),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [false, true], "the start is not wanted any more; all is over");
    assert!(!starts(&both));
}
