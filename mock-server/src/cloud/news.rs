//! The notifications that the cloud tells, in two shapes. Nobody here has seen the cloud itself: one shape is what a
//! client's plan infers, the other what the `/doc` of Kilo's server passes on.

use serde_json::{Value, json};

/// In which shape news are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// As a plan infers it: `type`, `timestamp`, `read`, and an action with `label` and `url`.
    #[default]
    Plan,
    /// As `/doc` has it: an action with `actionText` and `actionURL`, `showIn`, `suggestModelId`.
    Doc,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Plan, Self::Doc];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Doc => "doc",
        }
    }

    /// The list, as it is sent.
    #[must_use]
    pub fn news(self) -> Value {
        let notifications = match self {
            Self::Plan => json!([
                {"id": "news-1", "title": "Welcome", "message": "Good to see you \u{1f44b}", "type": "info",
                 "timestamp": 1_700_000_000_000_u64, "read": false},
                {"id": "news-2", "title": "Credits", "message": "Your credits are low.", "type": "warning",
                 "timestamp": 1_700_000_060_000_u64, "read": false,
                 "action": {"label": "Top up", "url": "https://example.com/credits"}},
            ]),
            Self::Doc => json!([
                {"id": "news-1", "title": "Welcome", "message": "Good to see you."},
                {"id": "news-2", "title": "A new model", "message": "Try it.", "showIn": ["cli", "extension"],
                 "suggestModelId": "fake/fake",
                 "action": {"actionText": "Read more", "actionURL": "https://example.com/model"}},
            ]),
        };
        json!({"notifications": notifications})
    }

    /// News of a length that nobody reads to the end.
    #[must_use]
    pub fn huge(self) -> Value {
        const LENGTH: usize = 20 * 1024 * 1024;
        let mut news = self.news();
        news["notifications"][0]["message"] = json!("x".repeat(LENGTH));
        news
    }
}
