//! Does every locale of an editor become a language that the servers know?

use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::{Capability, Locale, Request};

pub(super) const CHECK: Check = Check {
    name: "locales",
    about: "A locale becomes the server's language for it: as it is where the server knows it, by its own name where \
            that differs, else English.",
    needs: &[Capability::Locales],
    has_occasion: |course| course.asked().any(|(_, _, request)| matches!(request, Request::LocaleMap(_))),
    examine,
};

/// The locales that are asked about, and what becomes of each.
pub(crate) const TABLE: [(&str, &str); 27] = [
    ("ar", "ar"),
    ("br", "br"),
    ("da", "da"),
    ("de", "de"),
    ("en", "en"),
    ("es", "es"),
    ("fr", "fr"),
    ("ja", "ja"),
    ("ko", "ko"),
    ("no", "no"),
    ("pl", "pl"),
    ("ru", "ru"),
    ("zh", "zh"),
    ("zht", "zht"),
    ("pt-BR", "br"),
    ("zh-CN", "zh"),
    ("zh-TW", "zht"),
    ("nl", "en"),
    ("it", "en"),
    ("tr", "en"),
    ("vi", "en"),
    ("hi", "en"),
    ("ca", "en"),
    ("cs", "en"),
    ("id", "en"),
    ("th", "en"),
    ("uk", "en"),
];

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for (_, id, request) in course.asked() {
        let Request::LocaleMap(asked) = request else { continue };
        let Some((_, wanted)) = TABLE.iter().find(|(locale, _)| *locale == asked.locale) else { continue };
        let answer = course.answer_to(id).and_then(|(_, outcome)| outcome.as_ref().ok());
        let said = answer.and_then(|answer| serde_json::from_value::<Locale>(answer.clone()).ok());
        let said = said.map(|said| said.locale).unwrap_or_default();
        examined.fact(said == *wanted, || {
            format!("{} became {said:?}, and the server's language for it is {wanted}", asked.locale)
        });
    }
    examined
}
