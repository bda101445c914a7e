//! Two views of one task, and one of them is not kept.

use crate::mutants::Mutant;
use crate::protocol::View;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "tells_no_images_of_its_own",
    about: "Shows what is attached, and knows nothing of it when it is asked for its own view of the task.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn own_view(&self, mut view: View) -> View {
        view.attachments.clear();
        view
    }
}
