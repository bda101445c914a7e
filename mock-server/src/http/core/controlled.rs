//! What the control API does to the server, beside arming faults.

use super::{Core, Inner};
use crate::fault::Moment;
use crate::http::core::running::AllRunning;
use crate::performer::{Audience, Frame, Performer};
use crate::verify::{Broken, Calls, Strays, Unmet, UnmetCall};
use fixtures::fault_plan::{During, StreamName};
use fixtures::recording::{Line, Note};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

impl Core {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another performer goes on at the same address: connections break, and whoever waits for an answer gets none.
    pub(crate) fn begin_anew(&self, performer: Box<dyn Performer>) {
        self.replace(&mut self.inner(), performer);
    }

    /// The same, and no fault has ever been armed, nobody has ever connected, nothing stands in the journal, and this is the
    /// password. Clients come back as soon as their streams break, so all of it is so before the first one does.
    pub(crate) fn begin_all_anew(&self, performer: Box<dyn Performer>, password: Option<String>) {
        let mut inner = self.inner();
        self.forget_faults(password);
        self.journal.begin_anew(self.next_ticket());
        self.replace(&mut inner, performer);
    }

    /// No fault acts any more.
    pub(crate) fn disarm_all(&self) {
        self.faults.disarm_all();
        self.note("all faults are disarmed".to_owned());
    }

    /// No fault has ever been armed, nobody has ever connected, and this is the password.
    pub(crate) fn forget_faults(&self, password: Option<String>) {
        self.faults.clear();
        self.last_answers.clear();
        *self.access.password.write().unwrap_or_else(PoisonError::into_inner) = password;
    }

    fn replace(&self, inner: &mut Inner, mut performer: Box<dyn Performer>) {
        performer.take_steps(self.faults.strike_between_events());
        inner.running = AllRunning::default();
        inner.waiting.clear();
        inner.held_back.clear();
        inner.moments.clear();
        inner.sent.clear();
        inner.bus.let_all_go(true);
        inner.performer = performer;
        *self.strays() = Strays::default();
    }

    /// Another password opens it, too.
    pub(crate) fn let_in(&self, password: &str) {
        let guest = Some(password.to_owned()).filter(|password| !password.is_empty());
        *self.access.guest.write().unwrap_or_else(PoisonError::into_inner) = guest;
    }

    /// Something happens at the server at once.
    pub(crate) fn let_happen(self: &Arc<Self>, moment: Moment) {
        let mut inner = self.inner();
        inner.moments.push_back(moment);
        self.act_all(&mut inner, Vec::new());
    }

    /// Sends an event that the performer never sent, in the form of each of these streams.
    pub(crate) fn push(self: &Arc<Self>, forms: &[(Audience, Frame)]) {
        let mut inner = self.inner();
        for (to, frame) in forms {
            self.send(&mut inner, to, frame);
        }
        let is_counted = forms.iter().any(|(to, _)| to.stream == StreamName::GlobalEvent);
        if let Some((_, frame)) = forms.first().filter(|_| !is_counted) {
            self.count(&mut inner, &frame.kind);
        }
        self.act_all(&mut inner, Vec::new());
    }

    /// Tells the journal something.
    pub(crate) fn note(&self, text: String) {
        self.journal.push(|at_us| Line::Note(Note { at_us, text }));
    }

    /// Does this go on?
    pub(crate) fn holds(&self, during: During) -> bool {
        self.inner().performer.holds(during)
    }

    /// The journal begins anew, and nothing has been sent.
    pub(crate) fn empty_journal(&self) {
        let mut inner = self.inner();
        inner.sent.clear();
        self.journal.clear();
    }

    /// How many events of this type were sent.
    pub(crate) fn sent(&self, kind: &str) -> usize {
        self.inner().sent.get(kind).copied().unwrap_or_default()
    }

    /// How many subscribers the bus knows.
    #[cfg(test)]
    pub(crate) fn subscribers(&self) -> usize {
        self.inner().bus.len()
    }

    /// How many streams are open.
    pub(crate) fn open_streams(&self) -> usize {
        self.streams.load(Ordering::Acquire)
    }

    /// A stream has ended, and somebody will tell the journal.
    pub(crate) fn stream_ends(&self) {
        self.streams.fetch_sub(1, Ordering::AcqRel);
    }

    /// Which calls are not as they are meant.
    pub(crate) fn unmet_calls(&self, calls: &Calls) -> Vec<UnmetCall> {
        let mut unmet = calls.unmet(&self.journal.lines());
        if self.journal.has_forgotten() {
            let says = "the journal no longer has its beginning, in which they may stand; empty it before what is to be \
                        verified (reset), or keep it whole";
            let (call, says) = ("the first requests".to_owned(), says.to_owned());
            unmet.push(UnmetCall { what: Broken::Unjudged, call, says, near: Vec::new() });
        }
        unmet
    }

    /// How it was not used as it was meant to be.
    pub(crate) fn unmet(&self) -> Unmet {
        let (report, strays) = self.report();
        Unmet {
            unscripted: report.unscripted,
            unused: report.unused,
            unknown: strays.unknown.into_iter().collect(),
            unplayed: strays.unplayed.into_iter().collect(),
            unfired: self.faults.unfired(),
        }
    }
}
