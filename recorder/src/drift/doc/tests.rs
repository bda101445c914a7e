//! Each rule about `/doc`: a small difference gives it alone, at its place; the way back gives another one; and what is
//! said in other words is no difference.

use super::super::report::{Change, Findings};
use super::super::rule::Rule;
use super::compare;
use serde_json::{Value, json};

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut findings = Findings::default();
    compare(old, new, &mut findings);
    assert!(findings.unchecked.is_empty());
    findings.changes()
}

/// A document with one operation.
fn operation(told: Value) -> Value {
    json!({"paths": {"/x": {"post": told}}})
}

/// What a client reads.
fn read(schema: Value) -> Value {
    operation(json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}))
}

/// What a client sends.
fn sent(schema: Value) -> Value {
    operation(json!({"requestBody": {"content": {"application/json": {"schema": schema}}}}))
}

fn parameter(name: &str, required: bool) -> Value {
    json!({"name": name, "in": "query", "required": required, "schema": {"type": "string"}})
}

fn fields(fields: Value, required: Value) -> Value {
    json!({"type": "object", "properties": fields, "required": required})
}

fn events(types: &[&str]) -> Value {
    let event = |kind: &&str| json!({"type": "object", "properties": {"type": {"const": kind}, "n": {"type": "number"}}});
    let forms: Vec<Value> = types.iter().map(event).collect();
    json!({"paths": {"/event": {"get": {"responses": {"200": {"content": {"text/event-stream": {
        "schema": {"anyOf": forms},
    }}}}}}}})
}

/// The difference from one to the other, and the one of the way back.
fn both_ways(one: &Value, two: &Value, there: (Rule, &str), back: (Rule, &str)) {
    for (old, new, (rule, place)) in [(one, two, there), (two, one, back)] {
        let found: Vec<_> = changes(old, new).into_iter().map(|change| (change.rule, change.place)).collect();
        assert_eq!(found, [(rule, place.to_owned())], "from {old}\nto {new}");
    }
    assert_eq!(changes(one, one), []);
    assert_eq!(changes(two, two), []);
}

#[test]
fn operations_come_and_go() {
    let (one, two) = (operation(json!({})), json!({"paths": {"/x": {"post": {}, "get": {}}}}));
    both_ways(&one, &two, (Rule::OperationNew, "GET /x"), (Rule::OperationGone, "GET /x"));
    let old = operation(json!({}));
    assert_eq!(changes(&old, &operation(json!({"deprecated": true})))[0].rule, Rule::OperationDeprecated);
    assert_eq!(changes(&old, &operation(json!({"operationId": "x.y"})))[0].rule, Rule::OperationIdOther);
    let named = |name: &str| operation(json!({"summary": name}));
    let place = "POST /x (summary)";
    both_ways(&named("a"), &named("b"), (Rule::WordsOther, place), (Rule::WordsOther, place));
}

#[test]
fn parameters_are_sent() {
    let with = |parameters: Value| operation(json!({"parameters": parameters}));
    let (none, some) = (with(json!([])), with(json!([parameter("a", false)])));
    let needed = with(json!([parameter("a", true)]));
    let place = "POST /x query a";
    both_ways(&none, &some, (Rule::ParameterNew, place), (Rule::ParameterGone, place));
    both_ways(&some, &needed, (Rule::ParameterRequired, place), (Rule::ParameterOptional, place));
    assert_eq!(changes(&none, &needed)[0].rule, Rule::ParameterNewRequired);
    // On the wire all of them are text.
    let number = json!([{"name": "a", "in": "query", "schema": {"type": "number"}}]);
    assert_eq!(changes(&some, &with(number)), []);
}

#[test]
fn the_name_of_a_parameter_in_the_path_is_nobodys_business() {
    let with = |name: &str| {
        let parameter = json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        json!({"paths": {format!("/a/{{{name}}}/b"): {"get": {"parameters": [parameter]}}}})
    };
    let rules = (Rule::ParameterRenamed, "GET /a/{id}/b");
    both_ways(&with("id"), &with("sessionID"), rules, (Rule::ParameterRenamed, "GET /a/{sessionID}/b"));
}

#[test]
fn bodies_and_answers() {
    let body = |required: bool| {
        operation(
            json!({"requestBody": {"required": required, "content": {"application/json": {"schema": {}}}}}),
        )
    };
    let none = operation(json!({}));
    both_ways(&none, &body(false), (Rule::BodyNew, "POST /x body"), (Rule::BodyGone, "POST /x body"));
    both_ways(&none, &body(true), (Rule::BodyNewRequired, "POST /x body"), (Rule::BodyGone, "POST /x body"));
    both_ways(
        &body(true),
        &body(false),
        (Rule::BodyOptional, "POST /x body"),
        (Rule::BodyNewRequired, "POST /x body"),
    );
    let media = |kinds: &[&str], key: &str| {
        let content: serde_json::Map<_, _> =
            kinds.iter().map(|kind| ((*kind).to_owned(), json!({"schema": {}}))).collect();
        match key {
            "requestBody" => operation(json!({"requestBody": {"content": content}})),
            _ => operation(json!({"responses": {"200": {"content": content}}})),
        }
    };
    let (one, two) = (media(&["a/b"], "requestBody"), media(&["a/b", "c/d"], "requestBody"));
    both_ways(&one, &two, (Rule::SentMediaNew, "POST /x body"), (Rule::SentMediaGone, "POST /x body"));
    let (one, two) = (media(&["a/b"], ""), media(&["a/b; charset=utf-8", "c/d"], ""));
    both_ways(&one, &two, (Rule::MediaNew, "POST /x 200"), (Rule::MediaGone, "POST /x 200"));
    let answers = |told: Value| operation(json!({"responses": told}));
    let (one, two) = (answers(json!({"200": {}})), answers(json!({"200": {}, "404": {}})));
    both_ways(&one, &two, (Rule::StatusNew, "POST /x 404"), (Rule::FailureGone, "POST /x 404"));
    let more = answers(json!({"200": {}, "204": {}}));
    both_ways(&one, &more, (Rule::StatusNew, "POST /x 204"), (Rule::StatusGone, "POST /x 204"));
}

#[test]
fn what_is_read_may_not_go_and_not_become_uncertain() {
    let text = json!({"type": "string"});
    let none = read(fields(json!({}), json!([])));
    let some = read(fields(json!({"a": text}), json!([])));
    let always = read(fields(json!({"a": text}), json!(["a"])));
    let place = "POST /x 200 /a";
    both_ways(&none, &some, (Rule::FieldNew, place), (Rule::FieldGone, place));
    both_ways(&some, &always, (Rule::FieldRequired, place), (Rule::FieldOptional, place));
    let of = |schema: Value| read(schema);
    let (number, integer) = (of(json!({"type": "number"})), of(json!({"type": "integer"})));
    let maybe = of(json!({"type": ["string", "null"]}));
    let either = of(json!({"anyOf": [{"type": "string"}, {"type": "number"}]}));
    let text = of(text);
    let place = "POST /x 200";
    both_ways(&text, &number, (Rule::TypeOther, place), (Rule::TypeOther, place));
    both_ways(&text, &either, (Rule::TypeNew, place), (Rule::Narrowed, place));
    both_ways(&text, &maybe, (Rule::NullNow, place), (Rule::Narrowed, place));
    both_ways(&integer, &number, (Rule::TypeNew, place), (Rule::Narrowed, place));
    both_ways(&text, &of(json!({})), (Rule::TypeNew, place), (Rule::Narrowed, place));
    let (few, more) = (of(json!({"enum": ["a"]})), of(json!({"enum": ["a", "b"]})));
    both_ways(&few, &more, (Rule::ValueNew, place), (Rule::ValueGone, place));
    both_ways(&few, &text, (Rule::Widened, place), (Rule::Narrowed, place));
    let limited = of(json!({"type": "string", "pattern": "^ses"}));
    both_ways(&text, &limited, (Rule::LimitTold, place), (Rule::LimitTold, place));
    // The same pattern, spelled in another way.
    assert_eq!(changes(&limited, &of(json!({"type": "string", "pattern": "^ses.*"}))), []);
}

#[test]
fn what_is_sent_may_not_be_refused() {
    let text = json!({"type": "string"});
    let none = sent(fields(json!({}), json!([])));
    let some = sent(fields(json!({"a": text}), json!([])));
    let always = sent(fields(json!({"a": text}), json!(["a"])));
    let place = "POST /x body /a";
    both_ways(&none, &some, (Rule::SentFieldNew, place), (Rule::SentFieldGone, place));
    both_ways(&some, &always, (Rule::SentFieldRequired, place), (Rule::SentFieldOptional, place));
    both_ways(&none, &always, (Rule::SentFieldNewRequired, place), (Rule::SentFieldGone, place));
    let (text, number) = (sent(text), sent(json!({"type": "number"})));
    let either = sent(json!({"anyOf": [{"type": "string"}, {"type": "number"}]}));
    let place = "POST /x body";
    both_ways(&text, &number, (Rule::SentTypeGone, place), (Rule::SentTypeGone, place));
    both_ways(&text, &either, (Rule::SentTypeNew, place), (Rule::SentTypeGone, place));
    let maybe = sent(json!({"type": "string", "nullable": true}));
    both_ways(&text, &maybe, (Rule::SentTypeNew, place), (Rule::SentTypeGone, place));
    let (few, more) = (sent(json!({"enum": ["a"]})), sent(json!({"enum": ["a", "b"]})));
    both_ways(&few, &more, (Rule::SentValueNew, place), (Rule::SentValueGone, place));
    both_ways(&few, &text, (Rule::SentWidened, place), (Rule::SentNarrowed, place));
    both_ways(&text, &sent(json!({})), (Rule::SentWidened, place), (Rule::SentNarrowed, place));
    let most = |count: u64| sent(json!({"type": "string", "maxLength": count}));
    let least = |count: u64| sent(json!({"type": "string", "minLength": count}));
    both_ways(&most(1), &most(2), (Rule::SentWidened, place), (Rule::SentNarrowed, place));
    both_ways(&least(2), &least(1), (Rule::SentWidened, place), (Rule::SentNarrowed, place));
    both_ways(&text, &least(1), (Rule::SentNarrowed, place), (Rule::SentWidened, place));
}

#[test]
fn forms_are_told_apart_by_what_names_them() {
    let form = |kind: &str, field: &str| json!({"type": "object", "properties": {"type": {"const": kind}, (field): {"type": "string"}}});
    let one = json!({"anyOf": [form("a", "x"), form("b", "y")]});
    let two = json!({"oneOf": [form("c", "z"), form("b", "y"), form("a", "x")]});
    both_ways(
        &read(one.clone()),
        &read(two.clone()),
        (Rule::VariantNew, "POST /x 200"),
        (Rule::VariantGone, "POST /x 200"),
    );
    both_ways(
        &sent(one.clone()),
        &sent(two),
        (Rule::SentVariantNew, "POST /x body"),
        (Rule::SentVariantGone, "POST /x body"),
    );
    let other = json!({"anyOf": [form("b", "y"), form("a", "z")]});
    let found = changes(&read(one), &read(other));
    let places: Vec<&str> = found.iter().map(|change| change.place.as_str()).collect();
    assert_eq!(places, ["POST /x 200 [type=a]/x", "POST /x 200 [type=a]/z"]);
}

#[test]
fn a_new_type_of_event_is_named() {
    let (one, two) = (events(&["a.b", "c.d"]), events(&["a.b", "c.d", "e.f"]));
    both_ways(&one, &two, (Rule::EventNew, "event e.f"), (Rule::EventGone, "event e.f"));
    both_ways(&events(&["a.b"]), &one, (Rule::EventNew, "event c.d"), (Rule::EventGone, "event c.d"));
}

#[test]
fn schemas_are_followed_in_circles_and_tell_who_uses_them() {
    let doc = |leaf: &str| {
        json!({
            "paths": {"/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema":
                {"$ref": "#/components/schemas/Node"}}}}}}}, "/unused": {"get": {}}},
            "components": {"schemas": {
                "Node": {"type": "object", "properties": {
                    "next": {"$ref": "#/components/schemas/Node"}, "leaf": {"$ref": "#/components/schemas/Leaf"},
                }},
                "Leaf": {"type": "object", "properties": {(leaf): {"type": "string"}}},
                "Unused": {"type": leaf},
                "Circle": {"$ref": "#/components/schemas/Circle"},
            }},
        })
    };
    let found = changes(&doc("a"), &doc("b"));
    let told: Vec<_> = found.iter().map(|change| (change.rule, change.place.as_str())).collect();
    assert_eq!(told, [(Rule::FieldGone, "Leaf /a"), (Rule::FieldNew, "Leaf /b")]);
    assert!(found.iter().all(|change| change.reaches == ["GET /x"]), "{found:?}");
}

#[test]
fn what_is_said_in_other_words_is_no_difference() {
    let same = [
        (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (json!({"type": ["string", "null"]}), json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
        (json!({"enum": ["a", "b"]}), json!({"anyOf": [{"const": "b"}, {"const": "a"}]})),
        (json!({"type": "boolean"}), json!({"enum": [true, false]})),
        (json!({"type": "number"}), json!({"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity"]}]})),
        (json!({"type": "integer"}), json!({"type": "integer", "maximum": 9_007_199_254_740_991_u64})),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            json!({"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "string"}}}]}),
        ),
    ];
    for (one, two) in same {
        for made in [read, sent] {
            assert_eq!(changes(&made(one.clone()), &made(two.clone())), [], "{one} and {two}");
            assert_eq!(changes(&made(two.clone()), &made(one.clone())), [], "{two} and {one}");
        }
    }
    let renamed = |name: &str| {
        let mut doc = read(json!({"$ref": format!("#/components/schemas/{name}")}));
        doc["components"]["schemas"][name] = json!({"type": "string"});
        doc
    };
    let rules: Vec<Rule> = changes(&renamed("A"), &renamed("B")).iter().map(|change| change.rule).collect();
    assert_eq!(rules, [Rule::SchemaRenamed]);
}

#[test]
fn a_document_without_operations_is_not_checked() {
    let (full, empty) = (read(json!({})), json!({"openapi": "3.1.0", "paths": {}}));
    for (old, new) in [(&full, &empty), (&empty, &full), (&full, &Value::Null)] {
        let mut findings = Findings::default();
        compare(old, new, &mut findings);
        assert!(findings.changes().is_empty());
        assert!(
            findings.unchecked.iter().all(|unchecked| unchecked.decides) && !findings.unchecked.is_empty()
        );
    }
}
