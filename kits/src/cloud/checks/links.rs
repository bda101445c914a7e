//! Whatever a body says: the user gets a list, and no link that is anything but a web page.

use super::{fetches, link};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "links",
    about: "The user gets a list, and no link in it that is anything but a web page.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for fetch in fetches(story).iter().filter(|fetch| fetch.gave() == "any") {
        let answer = fetch.asked.answer.as_ref().map(|(_, answer)| answer);
        examined.fact(fetch.list().is_some(), || format!("the answer is no list: {answer:?}"));
        for one in fetch.list().into_iter().flatten() {
            let is_page = |link: &str| link.starts_with("https://") || link.starts_with("http://");
            let link = link(one);
            examined.fact(link.is_none_or(is_page), || format!("the user is offered {link:?}"));
        }
    }
    examined
}
