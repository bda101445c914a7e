//! A runner writes where it may: an issue with an odd name leads nowhere else.

use super::super::repository::is_reserved;
use super::{list, looks, prompted, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "contained",
    about: "Nothing appears beside the repository, nor, of an issue with slashes in its name, where that name leads in .kilo; no folder has a name that is none on some system.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let led = led(word(&subject, "issue"));
    let root = word(&subject, "root");
    for asked in prompted(story) {
        let place = word(asked, "directory");
        let below = place.strip_prefix(root).unwrap_or(place);
        let is_wrong = below.split('/').any(is_reserved);
        examined.fact(!is_wrong, || {
            format!("{} was sent to work in {place}, which can be made on no Windows", word(asked, "agent"))
        });
    }
    for look in looks(story, &["held", "killed", "gone", "swept", "swept-back"]) {
        let names = |key: &str, is_strange: &dyn Fn(&str) -> bool| {
            let names = list(&look.value[key]).iter().filter_map(|it| it.as_str());
            names.filter(|name| is_strange(name)).collect::<Vec<_>>().join(", ")
        };
        let reserved = names("reserved", &|_| true);
        examined.fact(reserved.is_empty(), || format!("{reserved} can be made on no Windows"));
        let around = names("around", &|name| !["work", "library"].contains(&name));
        examined.fact(around.is_empty(), || format!("{around} appeared beside the repository"));
        // What else a runner keeps in its own folder, plans or locks, is its own.
        if let Some(led) = led {
            let own = names("own", &|name| name.starts_with(led));
            examined
                .fact(own.is_empty(), || format!("{own} appeared in .kilo, where the issue's name leads"));
        }
    }
    examined
}

/// How a name begins to which an issue leads that is a path, and no name.
fn led(issue: &str) -> Option<&str> {
    issue.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_that_is_a_name_leads_nowhere() {
        assert_eq!(led("7"), None);
        assert_eq!(led("ABC-12_b"), None);
        assert_eq!(led("../../evil"), Some("evil"));
        assert_eq!(led("../"), None);
    }
}
