//! Goal: several faults on one frame, faults that last, and names that were told before a fault was armed. Method: as beside.

use super::*;

#[test]
fn what_is_copied_comes_before_the_one_that_is_cut() {
    let both = "[[fault]]\nwhen = { stream = \"event\", event = \"b\" }\ndo = { duplicate = 2 }\n\
        [[fault]]\nwhen = { stream = \"event\", event = \"b\" }\ndo = { cut = \"mid-frame\", bytes = 1 }\n";
    let mut faults = plan(both).connect("a", StreamName::Event);
    let b = frame("b", "<b>");
    assert_eq!(told(faults.frame(&b, &NOTHING), &b), "<b><b><!");
}

#[test]
fn what_one_fault_puts_around_an_event_the_next_one_leaves() {
    let event = frame("x", "data: {\"type\":\"x\",\"properties\":{}}\n\n");
    for (first, second, expected) in [
        (
            "add_line = \"id: 7\"",
            "change = { a = 1 }",
            "id: 7\ndata: {\"type\":\"x\",\"properties\":{},\"a\":1}\n\n",
        ),
        ("add_line = \"id: 7\"", "rewrite = \"bad-json\"", "id: 7\ndata: {\"type\":\"x\",\"p\n\n"),
        (
            "line_ends = \"crlf\"",
            "change = { type = \"y\" }",
            "data: {\"type\":\"y\",\"properties\":{}}\r\n\r\n",
        ),
        ("line_ends = \"cr\"", "remove = [\"properties\"]", "data: {\"type\":\"x\"}\r\r"),
        ("rewrite = \"bom\"", "remove = [\"properties\"]", "\u{feff}data: {\"type\":\"x\"}\n\n"),
        (
            "rewrite = \"multi-line\"",
            "remove = [\"properties\"]",
            "data: {\ndata:   \"type\": \"x\"\ndata: }\n\n",
        ),
        (
            "rewrite = \"bom\"",
            "rewrite = \"multi-line\"",
            "\u{feff}data: {\ndata:   \"type\": \"x\",\ndata:   \"properties\": {}\ndata: }\n\n",
        ),
    ] {
        let fault = |action| {
            format!("[[fault]]\nwhen = {{ stream = \"event\", event = \"x\" }}\ndo = {{ {action} }}\n")
        };
        let plan = plan(&[fault(first), fault(second)].concat());
        let outcome = plan.connect("a", StreamName::Event).frame(&event, &NOTHING);
        assert_eq!(told(outcome, &event), expected, "{first}, then {second}");
        assert_eq!(plan.unfired(), []);
    }
}

#[test]
fn what_lasts_is_begun_once_on_each_connection() {
    for (action, of_two) in [
        (
            "ids = \"backwards\"",
            "data: {\"id\":\"evt_99999999\",\"type\":\"x\"}\n\ndata: {\"id\":\"evt_99999998\",\"type\":\"x\"}\n\n",
        ),
        (
            "heartbeat = \"comment\"",
            "data: {\"id\":\"evt_00000001\",\"type\":\"x\"}\n\ndata: {\"id\":\"evt_00000002\",\"type\":\"x\"}\n\n",
        ),
    ] {
        let plan = plan(&format!(
            "[[fault]]\nwhen = {{ stream = \"event\", times = \"always\" }}\ndo = {{ {action} }}\n"
        ));
        for connection in 1..=2 {
            let mut faults = plan.connect("a", StreamName::Event);
            let heard = (1..=2).map(|nth| {
                let event = frame("x", &format!("data: {{\"id\":\"evt_0000000{nth}\",\"type\":\"x\"}}\n\n"));
                told(faults.frame(&event, &NOTHING), &event)
            });
            assert_eq!(heard.collect::<String>(), of_two, "{action}");
            assert_eq!(plan.standings(0)[0].fired, connection, "{action}");
        }
    }
}

#[test]
fn a_session_that_began_before_the_fault_was_armed_has_its_name() {
    let plan = ArmedPlan::default();
    let mut open = plan.connect("a", StreamName::Event);
    let created = |id: &str| {
        let event = json!({"type": "session.created", "properties": {"info": {"id": id}}});
        frame("session.created", std::str::from_utf8(&fixtures::sse::encode(&event.to_string())).unwrap())
    };
    assert_eq!(open.frame(&created("ses_1"), &NOTHING), None);
    assert_eq!(open.frame(&created("ses_2"), &NOTHING), None);
    let swap = "[[fault]]\nwhen = { stream = \"event\", event = \"x\" }\ndo = { change = { s = \"${another_session}\" } }\n";
    plan.arm(FaultPlan::parse(Path::new("p"), swap).unwrap().faults, 0).unwrap();
    let event = frame("x", "data: {\"type\":\"x\",\"properties\":{\"sessionID\":\"ses_2\"}}\n\n");
    let told = told(open.frame(&event, &NOTHING), &event);
    assert!(told.contains("\"s\":\"ses_1\""), "{told}");
}
