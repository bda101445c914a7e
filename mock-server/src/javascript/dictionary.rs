//! The order in which `localeCompare` puts names: that of a dictionary, signs before digits before letters, whatever their
//! marks and their case.

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};
use std::cmp::Ordering;
use std::sync::LazyLock;

/// The servers ask for no language. The rules are in the binary; without them names stand as their letters do.
static RULES: LazyLock<Option<CollatorBorrowed<'static>>> = LazyLock::new(|| {
    Collator::try_new(icu_collator::CollatorPreferences::default(), CollatorOptions::default()).ok()
});

pub(crate) fn in_dictionary(a: &str, b: &str) -> Ordering {
    RULES.as_ref().map_or_else(|| a.cmp(b), |rules| rules.compare(a, b))
}
