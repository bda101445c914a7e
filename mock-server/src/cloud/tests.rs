//! What a client sees of the cloud, over a real socket.

use super::*;
use reqwest::header::{ACCEPT, LOCATION};
use serde_json::{Value, json};
use std::time::Duration;

const TOKEN: &str = "standin-token";

async fn cloud(answers: &[&str]) -> Cloud {
    let answers = answers.iter().map(|word| word.parse().unwrap()).collect();
    Cloud::start(Options { answers, ..Options::default() }).await.unwrap()
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

async fn ask(cloud: &Cloud) -> reqwest::Result<reqwest::Response> {
    client().get(format!("{}{NOTIFICATIONS}", cloud.url())).bearer_auth(TOKEN).send().await
}

fn ends(cloud: &Cloud) -> Vec<bool> {
    cloud.calls().iter().filter_map(|call| Some(call.end?.left)).collect()
}

#[tokio::test]
async fn the_news_are_for_who_has_the_token() {
    let cloud = cloud(&[]).await;
    let url = format!("{}{NOTIFICATIONS}", cloud.url());
    let news: Value = ask(&cloud).await.unwrap().json().await.unwrap();
    assert_eq!(news, Shape::Plan.news());
    let wrong =
        client().get(&url).bearer_auth("other").header(ACCEPT, "application/json").send().await.unwrap();
    let none = client().get(&url).send().await.unwrap();
    let posted = client().post(&url).bearer_auth(TOKEN).send().await.unwrap();
    let lost =
        client().get(format!("{}/api/other", cloud.url())).basic_auth("a", Some("b")).send().await.unwrap();
    assert_eq!([wrong, none, posted, lost].map(|answer| answer.status().as_u16()), [401, 401, 405, 404]);
    let told: Value =
        client().get(format!("{}/standin/calls", cloud.url())).send().await.unwrap().json().await.unwrap();
    let calls = told.as_array().unwrap();
    let bearers: Vec<&Value> = calls.iter().map(|call| &call["bearer"]).collect();
    assert_eq!(json!(bearers), json!(["right", "wrong", "missing", "right", "other"]));
    let says_json: Vec<&Value> = calls.iter().map(|call| &call["says_json"]).collect();
    assert_eq!(json!(says_json), json!([false, true, false, false, false]));
}

#[tokio::test]
async fn nothing_that_is_kept_has_the_token_in_it() {
    let cloud = cloud(&["news", "redirect"]).await;
    ask(&cloud).await.unwrap();
    ask(&cloud).await.unwrap();
    let kept = format!("{:?} {:?}", cloud.calls(), cloud.journal().lines());
    assert!(kept.contains("its bearer is right"), "{kept}");
    assert!(!kept.contains(TOKEN), "{kept}");
}

#[tokio::test]
async fn answers_are_given_in_turn_and_the_last_one_stays() {
    let cloud = cloud(&["status=429", "html", "body=[1]", "truncated"]).await;
    let first = ask(&cloud).await.unwrap();
    assert_eq!(first.status(), 429);
    let page = ask(&cloud).await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(ask(&cloud).await.unwrap().text().await.unwrap(), "[1]");
    for _ in 0..2 {
        let text = ask(&cloud).await.unwrap().text().await.unwrap();
        assert!(Shape::Plan.news().to_string().starts_with(&text) && text.len() > 100);
        assert!(serde_json::from_str::<Value>(&text).is_err());
    }
    let told = client().post(format!("{}/standin/answers", cloud.url()));
    let response = told.try_clone().unwrap().json(&json!(["status=503", "news"])).send().await.unwrap();
    assert_eq!(response.status(), 204);
    assert_eq!(ask(&cloud).await.unwrap().status(), 503);
    assert_eq!(ask(&cloud).await.unwrap().status(), 200);
    for wrong in [json!(["nonsense"]), json!(["refuse"])] {
        let response = told.try_clone().unwrap().json(&wrong).send().await.unwrap();
        assert_eq!(response.status(), 400);
    }
}

#[tokio::test]
async fn a_cloud_that_refuses_holds_its_port_and_listens_to_nobody() {
    let cloud = cloud(&["refuse"]).await;
    assert!(ask(&cloud).await.unwrap_err().is_connect());
    let port = cloud.url().rsplit(':').next().unwrap().parse().unwrap();
    assert!(Cloud::start(Options { port, ..Options::default() }).await.is_err(), "nobody else gets it");
}

#[tokio::test]
async fn what_breaks_breaks_as_it_is_told() {
    let cloud = cloud(&["reset", "cut", "huge"]).await;
    assert!(ask(&cloud).await.is_err());
    assert!(ask(&cloud).await.unwrap().bytes().await.is_err());
    let huge: Value = ask(&cloud).await.unwrap().json().await.unwrap();
    assert_eq!(huge["notifications"][0]["message"].as_str().unwrap().len(), 20 * 1024 * 1024);
}

#[tokio::test]
async fn who_reads_a_drip_to_its_end_has_everything() {
    let cloud = cloud(&["drip=0"]).await;
    let news: Value = ask(&cloud).await.unwrap().json().await.unwrap();
    assert_eq!(news, Shape::Plan.news());
    cloud.wait_until(|calls| calls.iter().all(|call| call.end.is_some())).await;
    assert_eq!(ends(&cloud), [false]);
}

#[tokio::test]
async fn a_cloud_that_is_wound_waits_for_who_winds_it() {
    let answers = vec![Answer::Late { ms: 4000 }];
    let cloud = Cloud::start(Options { answers, is_wound: true, ..Options::default() }).await.unwrap();
    let winding = async {
        cloud.wait_until(|calls| calls.len() == 1).await;
        cloud.wind(3999);
        tokio::task::yield_now().await;
        assert!(cloud.calls()[0].end.is_none());
        cloud.wind(1);
    };
    let (answer, ()) = tokio::join!(ask(&cloud), winding);
    assert_eq!(answer.unwrap().json::<Value>().await.unwrap(), Shape::Plan.news());
}

/// The call to `elsewhere` and what it brought.
#[tokio::test]
async fn a_redirect_leads_to_another_origin_which_tells_what_was_brought_there() {
    let cloud = cloud(&["redirect"]).await;
    let sent = ask(&cloud).await.unwrap();
    assert_eq!(sent.status(), 302);
    let place = sent.headers()[LOCATION].to_str().unwrap().to_owned();
    assert_eq!(place, format!("{}{NOTIFICATIONS}", cloud.elsewhere()));
    client().get(&place).bearer_auth(TOKEN).send().await.unwrap();
    client().get(&place).send().await.unwrap();
    let told: Vec<_> = cloud.calls().iter().map(|call| (call.place, call.bearer)).collect();
    let there = Place::Elsewhere;
    assert_eq!(told, [(Place::Cloud, Bearer::Right), (there, Bearer::Right), (there, Bearer::Missing)]);
}

#[tokio::test]
async fn an_answer_without_a_body_is_whole() {
    let cloud = cloud(&["body=", "redirect", "status=204", "status=304"]).await;
    for _ in 0..4 {
        ask(&cloud).await.unwrap().bytes().await.unwrap();
    }
    client().head(format!("{}{NOTIFICATIONS}", cloud.url())).bearer_auth(TOKEN).send().await.unwrap();
    cloud.wait_until(|calls| calls.len() == 5 && calls.iter().all(|call| call.end.is_some())).await;
    assert_eq!(ends(&cloud), [false; 5]);
}

#[tokio::test]
async fn who_leaves_a_call_that_does_not_end_is_told() {
    let cloud = cloud(&["silent", "late=3600000", "drip=20"]).await;
    let short = Duration::from_millis(200);
    for _ in 0..2 {
        let asked = client().get(format!("{}{NOTIFICATIONS}", cloud.url())).bearer_auth(TOKEN).timeout(short);
        assert!(asked.send().await.unwrap_err().is_timeout());
    }
    let mut dripping = ask(&cloud).await.unwrap();
    assert_eq!(dripping.chunk().await.unwrap().unwrap(), "{");
    assert_eq!(dripping.chunk().await.unwrap().unwrap(), "\"");
    drop(dripping);
    cloud.wait_until(|calls| calls.len() == 3 && calls.iter().all(|call| call.end.is_some())).await;
    assert_eq!(ends(&cloud), [true; 3]);
    assert!(cloud.calls().iter().all(|call| call.end.unwrap().after_ms < 60_000));
}

/// As the real server was seen to do, started with `KILO_API_URL` at this cloud.
#[tokio::test]
async fn kilos_server_asks_the_cloud_with_the_persons_key_and_passes_on_what_it_knows() {
    let cloud = Cloud::start(Options { shape: Shape::Doc, ..Options::default() }).await.unwrap();
    let scenario = crate::catalog::scenario("text/plain").unwrap();
    let mut options = crate::Options::scenario(fixtures::ServerKind::Kilo, scenario);
    options.cloud = Some(cloud.url());
    let server = crate::StandIn::start(options).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let news = async || -> Value {
        client.get(format!("{}/kilo/notifications", server.url())).send().await.unwrap().json().await.unwrap()
    };
    assert_eq!((news().await, cloud.calls().len()), (json!([]), 0));
    let key = client.put(format!("{}/auth/kilo", server.url()));
    key.json(&json!({"type": "api", "key": "standin-token"})).send().await.unwrap();
    assert_eq!(news().await, Shape::Doc.news()["notifications"]);
    cloud.answer_with(vec!["status=500".parse().unwrap()]);
    assert_eq!(news().await, json!([]));
    cloud.answer_with(vec!["redirect".parse().unwrap()]);
    assert_eq!(news().await, Shape::Doc.news()["notifications"]);
    let bearers: Vec<Value> = cloud.calls().iter().map(|call| json!(call)["bearer"].clone()).collect();
    assert_eq!(bearers, ["right", "right", "right", "missing"]);
}
