//! The seams: decisions of the adapter that public clients get wrong. A mutant replaces one method of one of them.
//!
//! Every method has the reference's own answer for its body, so a mutant says only where it differs.
//!
//! * [`stream`] — when a stream is opened again, when it is dead, which events were seen already.
//! * [`gap`] — decision 7.
//! * [`turn`] — when a turn is over, whether a prompt was taken, what an abort is.
//! * [`asking`] — permissions and questions.
//! * [`credentials`] — the file of keys.
//! * [`cutover`] — whose tasks are.
//! * [`history`] — what was said before, and what is asked aside.
//! * [`life`] — a server that the adapter starts.
//! * [`guard`] — paths that a tool wants to be let at.
//! * [`files`] — what goes with a prompt, and what the agent has changed.
//! * [`features`] — rules that answer, what the screen offers, locales.
//! * [`showing`] — whose an event is, and what is shown, counted and logged of it.

pub mod asking;
pub mod credentials;
pub mod cutover;
pub mod features;
pub mod files;
pub mod gap;
pub mod guard;
pub mod history;
pub mod life;
pub mod showing;
pub mod stream;
pub mod turn;

pub use asking::Asking;
pub use credentials::{CredentialsFile, Keeping};
pub use cutover::Cutover;
pub use features::Features;
pub use files::{Attaching, Changes, Went};
pub use gap::{Gap, GapPolicy, OnGap};
pub use guard::Guarding;
pub use history::History;
pub use life::Living;
pub use showing::{Deltas, Files, OnHeadless, OnUnknown, OnUnknownPart, Routing, Telling, UnknownEvents};
pub use stream::{Backoff, Liveness, Seen};
pub use turn::{OnFailedSend, OnIdle, Turns};

use super::commands::folder_in_query;

/// The adapter that keeps every promise: what each seam does by itself.
#[derive(Debug, Clone, Copy)]
pub struct Careful;

impl Backoff for Careful {}
impl Liveness for Careful {}
impl Seen for Careful {}
impl Features for Careful {}
impl Cutover for Careful {}
impl History for Careful {}
impl Attaching for Careful {}
impl Changes for Careful {}
impl GapPolicy for Careful {}
impl Turns for Careful {}
impl Asking for Careful {}
impl Guarding for Careful {}
impl Living for Careful {}
impl Keeping for Careful {}
impl Routing for Careful {}
impl Deltas for Careful {}
impl UnknownEvents for Careful {}
impl Telling for Careful {}

/// All the seams.
pub struct Strategies {
    /// What is read of a chunk of a stream.
    pub bytes: fn(&[u8]) -> Vec<u8>,
    /// How the name of a folder is written in a query.
    pub written: fn(&str) -> String,
    /// Between streams.
    pub backoff: Box<dyn Backoff>,
    /// While a stream is open.
    pub liveness: Box<dyn Liveness>,
    /// For events that come twice.
    pub seen: Box<dyn Seen>,
    /// After a gap.
    pub gap: Box<dyn GapPolicy>,
    /// For prompts, their ends and aborts.
    pub turns: Box<dyn Turns>,
    /// For permissions and questions.
    pub asking: Box<dyn Asking>,
    /// For a server that the adapter starts.
    pub life: Box<dyn Living>,
    /// For the file of keys.
    pub credentials: Box<dyn Keeping>,
    /// For paths.
    pub guard: Box<dyn Guarding>,
    /// For rules, affordances and locales.
    pub features: Box<dyn Features>,
    /// For the flag, and for tasks that begin and end.
    pub cutover: Box<dyn Cutover>,
    /// For what was said before, and beside a task.
    pub history: Box<dyn History>,
    /// For what goes with a prompt.
    pub attaching: Box<dyn Attaching>,
    /// For what the agent has changed.
    pub changes: Box<dyn Changes>,
    /// For each event.
    pub routing: Box<dyn Routing>,
    /// For pieces of text.
    pub deltas: Box<dyn Deltas>,
    /// For events that nobody knows.
    pub unknown: Box<dyn UnknownEvents>,
    /// For updates, signals and log lines.
    pub telling: Box<dyn Telling>,
}

impl Default for Strategies {
    /// Those of the reference adapter.
    fn default() -> Self {
        Self {
            bytes: <[u8]>::to_vec,
            written: folder_in_query,
            backoff: Box::new(Careful),
            liveness: Box::new(Careful),
            seen: Box::new(Careful),
            gap: Box::new(Careful),
            turns: Box::new(Careful),
            asking: Box::new(Careful),
            life: Box::new(Careful),
            credentials: Box::new(Careful),
            guard: Box::new(Careful),
            features: Box::new(Careful),
            cutover: Box::new(Careful),
            history: Box::new(Careful),
            attaching: Box::new(Careful),
            changes: Box::new(Careful),
            routing: Box::new(Careful),
            deltas: Box::new(Careful),
            unknown: Box::new(Careful),
            telling: Box::new(Careful),
        }
    }
}
