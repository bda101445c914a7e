//! Round trips of every message, the text of every mistake, and the fold.

use super::features::{AutoApprove, Backend, FollowUp, Locale, PermissionAll, PermissionRef};
use super::rpc::{error_line, notification_line, parse_line, request_line, result_line};
use super::{
    Asked, Attachment, ChangedFile, Connect, ConnectionState, CredentialsCheck, Diff, Id, Incoming,
    Initialize, Item, ItemKind, LogLevel, LogLine, Notification, Outcome, PathCheck, Permission,
    PermissionReply, Process, Question, QuestionRef, QuestionReply, Reply, Request, RpcError, ServerReason,
    ServerSpawn, ServerState, Settings, Signal, TaskEdit, TaskFork, TaskRef, TaskRevert, TaskSend, TaskStart,
    TaskState, TodoItem, ToolServerAdd, ToolServerRef, ToolState, Update, View,
};
use fixtures::paths::Policy;
use proptest::prelude::*;
use serde_json::json;

fn some(text: &str) -> String {
    text.to_owned()
}

fn image() -> Attachment {
    Attachment { mime: some("image/png"), name: Some(some("a.png")), url: some("data:image/png;base64,AA==") }
}

fn changed() -> ChangedFile {
    ChangedFile {
        file: some("a.txt"),
        additions: 1,
        deletions: 0,
        status: Some(some("added")),
        patch: Some(some("@@ -0,0 +1 @@\n+a\n")),
    }
}

fn requests() -> Vec<Request> {
    let task = || TaskRef { task_id: some("t") };
    vec![
        Request::Initialize(Initialize { protocol: 1, time_scale: 0.5 }),
        Request::Connect(Connect {
            url: some("http://127.0.0.1:1"),
            username: some("kilo"),
            password: some("p"),
            directory: some("/w"),
        }),
        Request::Settings(Settings { tools: false, ..Settings::default() }),
        Request::Settings(Settings {
            backend: Backend::Local,
            follow_up: Some(FollowUp { delay_ms: 3000 }),
            tools: true,
            auto_approve: Some(AutoApprove { kinds: vec![some("edit")], delay_ms: 3000 }),
        }),
        Request::PermissionHold(PermissionRef { task_id: some("t"), permission_id: some("per_1") }),
        Request::Affordances(TaskRef { task_id: some("t") }),
        Request::LocaleMap(Locale { locale: some("pt-BR") }),
        Request::TaskStart(TaskStart { task_id: some("t"), directory: None }),
        Request::TaskStart(TaskStart { task_id: some("t"), directory: Some(some("/w/sub")) }),
        Request::TaskAbort(task()),
        Request::TaskRetry(task()),
        Request::QuestionReply(QuestionReply {
            task_id: some("t"),
            question_id: some("que_1"),
            answers: vec![vec![some("Yes")], vec![]],
        }),
        Request::QuestionReject(QuestionRef { task_id: some("t"), question_id: some("que_1") }),
        Request::TaskSend(TaskSend { task_id: some("t"), text: some("two\nlines"), attachments: Vec::new() }),
        Request::TaskSend(TaskSend { task_id: some("t"), text: some(""), attachments: vec![image()] }),
        Request::PermissionReply(PermissionReply {
            task_id: some("t"),
            permission_id: some("per_1"),
            reply: Reply::Always,
            message: None,
        }),
        Request::TaskSnapshot(task()),
        Request::ServerSpawn(ServerSpawn {
            program: some("/bin/standin"),
            args: vec![some("as"), some("kilo")],
            env: [(some("A"), some("b"))].into(),
            password_variable: some("KILO_SERVER_PASSWORD"),
            username: some("kilo"),
            directory: some("/w"),
        }),
        Request::WorkspaceClose,
        Request::PermissionAll(PermissionAll { task_id: some("t"), reply: Reply::Once }),
        Request::QuestionHold(QuestionRef { task_id: some("t"), question_id: some("que_1") }),
        Request::TaskClose(TaskRef { task_id: some("t") }),
        Request::TaskEdit(TaskEdit { task_id: some("t"), message_id: some("msg_1"), text: some("No") }),
        Request::TaskRevert(TaskRevert { task_id: some("t"), message_id: some("msg_1") }),
        Request::TaskUnrevert(TaskRef { task_id: some("t") }),
        Request::TaskFork(TaskFork { task_id: some("t"), message_id: some("msg_1"), new_task_id: some("u") }),
        Request::TaskAside(TaskSend { task_id: some("t"), text: some("aside"), attachments: Vec::new() }),
        Request::PlatformFeatures,
        Request::McpList,
        Request::McpAdd(ToolServerAdd {
            name: some("s"),
            config: json!({ "type": "local", "command": ["sh"] }),
        }),
        Request::McpConnect(ToolServerRef { name: some("s") }),
        Request::CredentialsCheck(CredentialsCheck { path: some("/data/auth.json") }),
        Request::PathCheck(PathCheck {
            roots: vec![some("/w")],
            path: some("../x"),
            policy: Policy::Realpath,
        }),
        Request::Fence,
        Request::Shutdown,
    ]
}

fn updates() -> Vec<Update> {
    let item = Item {
        part_id: some("prt_1"),
        message_id: some("msg_1"),
        kind: ItemKind::Tool,
        text: None,
        tool: Some(some("write")),
        state: Some(ToolState::Done),
        output: Some(some("ok")),
        exit: None,
        process: None,
    };
    let asked =
        Permission { permission_id: some("per_1"), permission: some("edit"), patterns: vec![some("*")] };
    let question = Question {
        question_id: some("que_1"),
        questions: vec![Asked { question: some("Which?"), options: vec![some("A"), some("B")] }],
    };
    let todo = TodoItem { content: some("ship it"), status: some("pending") };
    let (task, message, part) = (|| some("t"), || some("msg_1"), || some("prt_1"));
    vec![
        Update::AssistantDelta { task_id: task(), message_id: message(), part_id: part(), delta: some("Hi") },
        Update::ReasoningDelta { task_id: task(), message_id: message(), part_id: part(), delta: some("Hm") },
        Update::ToolState {
            task_id: task(),
            message_id: message(),
            tool_id: part(),
            tool: some("write"),
            state: ToolState::Running,
            output: None,
            exit: None,
            process: None,
        },
        Update::ToolState {
            task_id: task(),
            message_id: message(),
            tool_id: part(),
            tool: some("bash"),
            state: ToolState::Done,
            output: Some(some("ok")),
            exit: Some(0),
            process: Some(Process::Unknown),
        },
        Update::UnknownPart { task_id: task(), message_id: message(), part_id: part() },
        Update::Attachments { task_id: task(), message_id: message(), attachments: vec![image()] },
        Update::Diff { task_id: task(), diff: Diff::Known(vec![changed()]) },
        Update::Diff { task_id: task(), diff: Diff::Known(Vec::new()) },
        Update::Diff { task_id: task(), diff: Diff::Unavailable },
        Update::permission_request("t", &asked),
        Update::PermissionResolved { task_id: task(), permission_id: some("per_1") },
        Update::question("t", &question),
        Update::QuestionResolved { task_id: task(), question_id: some("que_1") },
        Update::Todo { task_id: task(), todos: vec![todo.clone()] },
        Update::Status { task_id: task(), state: TaskState::Retry },
        Update::Connection { state: ConnectionState::Reconnecting },
        Update::Server {
            state: ServerState::Failed,
            reason: Some(ServerReason::PortTaken),
            message: Some(some("no")),
        },
        Update::Terminal { task_id: task(), outcome: Outcome::Completed },
        Update::Warning { message: some("beware") },
        Update::Error { task_id: None, message: some("no"), retry: true },
        Update::Timeline {
            task_id: task(),
            view: View {
                items: vec![item],
                permissions: vec![asked],
                questions: vec![question],
                todos: vec![todo],
                attachments: [(some("msg_1"), vec![image()])].into(),
                diff: Some(Diff::Unavailable),
                status: TaskState::Busy,
            },
        },
    ]
}

#[test]
fn every_message_comes_back_as_it_went() {
    let mut lines = String::new();
    for request in requests() {
        let line = request_line(&Id::Number(7), &request);
        let Ok(Incoming::Request { id: Id::Number(7), method, params }) = parse_line(&line) else {
            panic!("{line}")
        };
        assert_eq!(Request::from_call(&method, &params), Ok(request));
        lines.push_str(&line);
    }
    let mut notifications: Vec<Notification> = updates().into_iter().map(Notification::Update).collect();
    notifications.push(Notification::Telemetry(Signal {
        name: some("kilo.cli.sse.reconnect_count"),
        value: 1,
        task_id: None,
    }));
    notifications.push(Notification::Log(LogLine {
        level: LogLevel::Warn,
        text: some("odd"),
        task_id: Some(some("t")),
        session_id: Some(some("ses_1")),
        directory: Some(some("/w")),
        port: Some(4096),
    }));
    for notification in notifications {
        let line = notification_line(&notification);
        let Ok(Incoming::Notification { method, params }) = parse_line(&line) else { panic!("{line}") };
        assert_eq!(Notification::from_call(&method, &params), Ok(notification));
        lines.push_str(&line);
    }
    let id = Id::Text(some("x"));
    let result = result_line(&id, &json!({ "sessionId": "ses_1" }));
    let outcome = Ok(json!({ "sessionId": "ses_1" }));
    assert_eq!(parse_line(&result), Ok(Incoming::Response { id: Some(id), outcome }));
    let failure = error_line(None, &RpcError::failed("no"));
    assert_eq!(
        parse_line(&failure),
        Ok(Incoming::Response { id: None, outcome: Err(RpcError::failed("no")) })
    );
    insta::assert_snapshot!("lines", lines + &result + &failure);
}

#[test]
fn mistakes_say_what_is_wrong_and_where() {
    let wrong = [
        "{",
        "[]",
        r#"{"id":1,"method":"fence"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"fence"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"fence"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"fence","parms":{}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"task/fly"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"task/send","params":{"taskId":"t"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"task/send","params":{"taskId":7,"text":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"task/send","params":{"taskId":"t","text":"x","txet":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"permission/reply","params":{"taskId":"t","permissionId":"p","reply":"yes"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"fence","params":{"x":1}}"#,
        r#"{"jsonrpc":"2.0","method":"update","params":{"update":{"kind":"status","taskId":"t"}}}"#,
        r#"{"jsonrpc":"2.0","method":"update","params":{"update":{"kind":"statsu","taskId":"t"}}}"#,
        r#"{"jsonrpc":"2.0","method":"update","params":{"update":{"kind":"status","taskId":"t","state":"busy","x":1}}}"#,
        r#"{"jsonrpc":"2.0","method":"telemetry","params":{"name":"n","value":-1}}"#,
        r#"{"jsonrpc":"2.0","method":"shout","params":{}}"#,
    ];
    let shown: String = wrong.iter().map(|line| format!("{line}\n    {}\n", mistake(line))).collect();
    insta::assert_snapshot!("mistakes", shown);
}

fn mistake(line: &str) -> RpcError {
    match parse_line(line) {
        Err(bad) => bad.error,
        Ok(Incoming::Request { method, params, .. }) => Request::from_call(&method, &params).unwrap_err(),
        Ok(Incoming::Notification { method, params }) => {
            Notification::from_call(&method, &params).unwrap_err()
        }
        Ok(Incoming::Response { .. }) => panic!("nothing is wrong with {line}"),
    }
}

#[test]
fn the_password_is_not_in_debug_output() {
    let shown = format!("{:?}", requests()[1]);
    assert!(!shown.contains("password") && shown.contains("kilo"), "{shown}");
}

#[test]
fn the_fold_shows_what_it_is_told_and_mends_nothing() {
    let mut view = View::default();
    let tool = |state| Update::ToolState {
        task_id: some("t"),
        message_id: some("m"),
        tool_id: some("p"),
        tool: some("write"),
        state,
        output: None,
        exit: None,
        process: None,
    };
    view.apply(&tool(ToolState::Done));
    view.apply(&tool(ToolState::Running));
    assert_eq!((view.items.len(), view.items[0].state), (1, Some(ToolState::Running)));
    let timeline = updates().pop().unwrap();
    view.apply(&timeline);
    let Update::Timeline { view: told, .. } = timeline else { panic!("the last one is a timeline") };
    assert_eq!(view, told);
    view.apply(&Update::PermissionResolved { task_id: some("t"), permission_id: some("per_1") });
    assert_eq!(view.permissions, []);
}

proptest! {
    #[test]
    fn the_cutting_of_deltas_does_not_matter(text in "\\PC{0,24}", sizes in proptest::collection::vec(0usize..5, 0..12)) {
        let mut view = View::default();
        let mut rest: Vec<char> = text.chars().collect();
        for size in sizes.into_iter().chain([usize::MAX]) {
            let delta: String = rest.drain(..size.min(rest.len())).collect();
            let (task_id, message_id, part_id) = (some("t"), some("m"), some("p"));
            view.apply(&Update::AssistantDelta { task_id, message_id, part_id, delta });
        }
        prop_assert_eq!(view.items.len(), 1);
        prop_assert_eq!(view.items[0].text.as_deref(), Some(text.as_str()));
    }
}
