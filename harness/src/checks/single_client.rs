//! Is the server asked by one program alone, and by no page that shows what it says?

use super::{Check, Examined};
use crate::course::Course;

pub(super) const CHECK: Check = Check {
    name: "single-client",
    about: "No request comes from a page: what shows the conversation never asks the server itself.",
    needs: &[],
    has_occasion: |course| !course.exchanges.is_empty(),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for exchange in &course.exchanges {
        examined.fact(exchange.origin.is_none(), || {
            let page = exchange.origin.clone().unwrap_or_default();
            format!("{} {} comes from the page {page}", exchange.method, exchange.path)
        });
    }
    examined
}
