//! Every way in which a release can differ from another one, how grave it is, and the words for it. One table: the
//! documentation shows it, and nothing else decides what breaks.

use std::fmt;

/// How grave a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A client that was right before can be wrong now.
    Breaking,
    /// There is more than before, or the same is said more narrowly; who ignores what is new goes on.
    Additive,
    /// Nothing that a client's behaviour hangs on.
    Cosmetic,
}

impl Severity {
    /// All, gravest first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Additive, Self::Cosmetic];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Additive => "additive",
            Self::Cosmetic => "cosmetic",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

macro_rules! rules {
    ($($rule:ident $severity:ident $words:literal),+ $(,)?) => {
        /// A way in which NEW differs from OLD.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $words] $rule,)+
        }

        impl Rule {
            /// All of them, in the order in which reports tell them.
            pub const ALL: &[Self] = &[$(Self::$rule),+];

            /// How grave it is.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$rule => Severity::$severity,)+ }
            }

            /// The rule in a few words.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$rule => $words,)+ }
            }
        }
    };
}

rules! {
    // What a client can ask.
    OperationGone Breaking "the operation is gone",
    ParameterNewRequired Breaking "a new parameter has to be sent",
    ParameterRequired Breaking "the parameter has to be sent now",
    ParameterGone Breaking "the parameter is gone",
    BodyNewRequired Breaking "a body has to be sent now",
    BodyGone Breaking "no body is taken any more",
    SentMediaGone Breaking "a body of this type is not taken any more",
    SentFieldNewRequired Breaking "a new field has to be sent",
    SentFieldRequired Breaking "the field has to be sent now",
    SentFieldGone Breaking "the field is not taken any more",
    SentTypeGone Breaking "a value of this type is not taken any more",
    SentValueGone Breaking "this value is not taken any more",
    SentVariantGone Breaking "this form is not taken any more",
    SentNarrowed Breaking "fewer values are taken",
    // What a client reads.
    EventGone Breaking "this type of event is gone",
    StatusGone Breaking "this success is not answered any more",
    StatusOther Breaking "the answer has another status",
    MediaGone Breaking "the answer does not come in this type any more",
    FieldGone Breaking "the field is gone",
    FieldOptional Breaking "the field can be absent now",
    NullNow Breaking "the value can be null now",
    TypeOther Breaking "the value has another type",
    TypeNew Breaking "the value can have another type now",
    ValueGone Breaking "this value is gone",
    VariantGone Breaking "this form is gone",
    OrderTurned Breaking "it comes at another place in the turn",
    HeartbeatSlower Breaking "heartbeats come less often",
    // More than before.
    OperationNew Additive "a new operation",
    OperationDeprecated Additive "the operation is deprecated now",
    ParameterNew Additive "a new parameter that need not be sent",
    ParameterOptional Additive "the parameter need not be sent any more",
    BodyNew Additive "a body can be sent now",
    BodyOptional Additive "the body need not be sent any more",
    SentMediaNew Additive "a body of another type is taken too",
    SentFieldNew Additive "a new field that need not be sent",
    SentFieldOptional Additive "the field need not be sent any more",
    SentTypeNew Additive "a value of another type is taken too",
    SentValueNew Additive "another value is taken too",
    SentVariantNew Additive "another form is taken too",
    SentWidened Additive "more values are taken",
    EventNew Additive "a new type of event",
    StatusNew Additive "another status can be answered",
    FailureGone Additive "this failure is not answered any more",
    MediaNew Additive "the answer can come in another type too",
    FieldNew Additive "a new field",
    FieldRequired Additive "the field is always there now",
    ValueNew Additive "a new value",
    VariantNew Additive "a new form",
    Widened Additive "any value of the type can stand there now",
    Narrowed Additive "the value is told more narrowly",
    SequenceOther Additive "the turn has more, fewer or repeated events",
    HeartbeatFaster Additive "heartbeats come more often",
    DeltasOther Additive "a text comes in more or fewer pieces",
    PaceOther Additive "the pieces of a text come at another pace",
    // Words.
    OperationIdOther Cosmetic "the operation's id for generators",
    ParameterRenamed Cosmetic "the parameter of the path has another name",
    SchemaRenamed Cosmetic "the schema has another name",
    WordsOther Cosmetic "title, summary or description",
    LimitTold Cosmetic "a limit or pattern of what is read",
    HeaderOther Cosmetic "another header of an answer",
}

#[cfg(test)]
mod tests {
    use super::{Rule, Severity};
    use std::collections::BTreeSet;

    #[test]
    fn no_two_rules_say_the_same_and_the_gravest_come_first() {
        let words: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.words()).collect();
        assert_eq!(words.len(), Rule::ALL.len());
        assert!(Rule::ALL.windows(2).all(|pair| pair[0].severity() <= pair[1].severity()));
        assert!(Severity::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
