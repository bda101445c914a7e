//! Of which form a field of an agent has to be. A server that finds another one does not read the field otherwise: it
//! leaves the agent out, or all of them. Measured on Kilo 7.7.7 and OpenCode 1.18.33.

use super::fields::{Field, FieldValue};

/// What a field may be.
#[derive(Debug, Clone, Copy)]
enum Form {
    Truth,
    Count,
    Number,
    Colour,
    Table,
    Model,
}

/// The fields that have one.
const FORMS: [(&str, Form); 9] = [
    ("color", Form::Colour),
    ("disable", Form::Truth),
    ("hidden", Form::Truth),
    ("maxSteps", Form::Count),
    ("model", Form::Model),
    ("options", Form::Table),
    ("steps", Form::Count),
    ("temperature", Form::Number),
    ("top_p", Form::Number),
];
/// The colours that have names, those of the screens' themes.
const COLOURS: [&str; 7] = ["accent", "error", "info", "primary", "secondary", "success", "warning"];

/// A field of another form: its line, and what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrongForm {
    pub(super) line: usize,
    pub(super) why: String,
    /// Is it the agent alone that comes to nothing by it, when it is asked?
    pub(super) is_of_model: bool,
}

/// What is wrong with the fields of an agent's entry.
pub(super) fn wrong(entry: &Field) -> Vec<WrongForm> {
    let mut found = Vec::new();
    for (key, field) in entry.entries() {
        if let Some((_, form)) = FORMS.iter().find(|(known, _)| known == key) {
            found.extend(check(key, *form, field));
        }
        if key == "tools" {
            found.extend(field.entries().iter().filter_map(|(tool, field)| check(tool, Form::Truth, field)));
        }
    }
    found
}

fn check(key: &str, form: Form, field: &Field) -> Option<WrongForm> {
    // Nothing is as if it were not there.
    if field.word() == Some("") && !matches!(field.value, FieldValue::Quoted(_)) {
        return None;
    }
    let plain = match &field.value {
        FieldValue::Word(word) => Some(word.as_str()),
        _ => None,
    };
    let number = plain.and_then(|word| word.parse::<f64>().ok()).filter(|number| number.is_finite());
    let (is_right, wanted) = match form {
        Form::Truth => (plain.is_some_and(is_truth), "true or false, without quotes"),
        Form::Count => (
            number.is_some_and(|number| number >= 1.0 && number.fract() == 0.0),
            "a whole number from 1, without quotes",
        ),
        Form::Number => (number.is_some(), "a number, without quotes"),
        Form::Colour => (
            field.word().is_some_and(is_colour),
            "a colour in quotes, as \"#ff8800\", or a name of the themes, as accent",
        ),
        Form::Table => (matches!(field.value, FieldValue::Table(_)), "a table"),
        Form::Model => (
            field.word().is_none_or(|word| {
                word.split_once('/').is_some_and(|(of, model)| !of.is_empty() && !model.is_empty())
            }),
            "provider/model",
        ),
    };
    let written = match &field.value {
        FieldValue::Word(word) => word.clone(),
        FieldValue::Quoted(word) => format!("{word:?}"),
        FieldValue::List(_) => "a list".to_owned(),
        FieldValue::Table(_) => "a table".to_owned(),
    };
    (!is_right).then(|| WrongForm {
        line: field.line,
        why: format!("{key} is {written}, and should be {wanted}"),
        is_of_model: matches!(form, Form::Model),
    })
}

fn is_truth(word: &str) -> bool {
    ["true", "True", "TRUE", "false", "False", "FALSE"].contains(&word)
}

fn is_colour(word: &str) -> bool {
    let digits = word.strip_prefix('#').unwrap_or_default();
    COLOURS.contains(&word) || (digits.len() == 6 && digits.chars().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::super::fields::front;
    use super::*;

    fn lines(head: &str) -> Vec<usize> {
        wrong(&front(&format!("---\n{head}\n---\n")).unwrap()).iter().map(|found| found.line).collect()
    }

    #[test]
    fn quotes_make_a_text_of_a_truth_and_of_a_number() {
        assert_eq!(lines("tools:\n  bash: \"false\"\n  read: yes\n  edit: 'true'\n  x: false"), [3, 4, 5]);
        assert_eq!(lines("disable: \"true\"\nhidden: true"), [2]);
        assert_eq!(lines("steps: \"5\"\nmaxSteps: 0\ntemperature: \"1\"\ntop_p: 0.5"), [2, 3, 4]);
        assert_eq!(lines("steps: 2.5\ntemperature: hot"), [2, 3]);
    }

    #[test]
    fn a_colour_is_six_digits_or_a_name_of_the_themes() {
        assert_eq!(lines("color: red"), [2]);
        for right in ["\"#aAbB09\"", "accent", ""] {
            assert_eq!(lines(&format!("color: {right}")), [] as [usize; 0], "{right}");
        }
    }

    #[test]
    fn a_model_has_a_provider() {
        assert_eq!(lines("model: nonsense"), [2]);
        assert_eq!(lines("model: a/b/c\noptions: 5"), [3]);
    }

    #[test]
    fn what_is_wrong_says_what_would_be_right() {
        let found = wrong(&front("---\nsteps: \"5\"\n---\n").unwrap());
        assert_eq!(found[0].why, "steps is \"5\", and should be a whole number from 1, without quotes");
    }
}
