//! Hands frames to subscribers, each through the faults of its connection. A frame is bytes already; subscribers share
//! them.

use crate::fault::{Beat, Facts, Fired, Moment, StreamFaults};
use crate::performer::{Audience, Frame};
use crate::stream::queue::{Beats, Teller, queue};
use bytes::Bytes;
use fixtures::fault_plan::action::CutEnd;
use std::sync::Arc;

/// All subscribers.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    audience: Audience,
    exchange: u64,
    faults: StreamFaults,
    teller: Teller,
    /// A fault has ended it: it is told nothing any more.
    is_over: bool,
}

/// What faults did while frames were handed out.
#[derive(Debug, Default)]
pub(crate) struct Struck {
    /// Each with its lane.
    pub(crate) fired: Vec<(Arc<str>, Fired)>,
    pub(crate) moments: Vec<Moment>,
    /// What a subscriber is told so many milliseconds later.
    pub(crate) later: Vec<(u64, u64, Bytes)>,
    /// Those that were let go because they read no more.
    pub(crate) full: Vec<u64>,
}

impl Subscriber {
    /// Tells it of a frame; is it still there?
    fn hear(&mut self, frame: &Frame, facts: &Facts<'_>, struck: &mut Struck) -> bool {
        if self.is_over {
            return !self.teller.is_left();
        }
        let Some(outcome) = self.faults.frame(frame, facts) else {
            return self.takes(Beat::Frame(frame.bytes.clone()), struck);
        };
        let lane = self.faults.lane();
        struck.fired.extend(outcome.fired.into_iter().map(|fired| (lane.clone(), fired)));
        struck.moments.extend(outcome.moments);
        struck.later.extend(outcome.later.into_iter().map(|(ms, bytes)| (self.exchange, ms, bytes)));
        for beat in outcome.beats {
            self.is_over |= matches!(beat, Beat::End(_));
            if !self.takes(beat, struck) {
                return false;
            }
        }
        true
    }

    /// The same, and whoever is full hears that it has not had all.
    fn takes(&self, beat: Beat, struck: &mut Struck) -> bool {
        let is_taken = self.teller.tell(beat);
        if !is_taken && !self.teller.is_left() {
            self.teller.tell(Beat::End(CutEnd::Broken));
            struck.full.push(self.exchange);
        }
        is_taken
    }
}

impl Bus {
    /// A new subscriber, whose first frame is `hello`.
    pub(crate) fn subscribe(
        &mut self,
        audience: Audience,
        exchange: u64,
        faults: StreamFaults,
        hello: &Frame,
        facts: &Facts<'_>,
    ) -> (Beats, Struck) {
        let (teller, beats) = queue();
        let mut subscriber = Subscriber { audience, exchange, faults, teller, is_over: false };
        let mut struck = Struck::default();
        // The queue is empty, so there is room.
        subscriber.hear(hello, facts, &mut struck);
        if self.subscribers.len() == self.subscribers.capacity() {
            // While nothing is sent nobody is missed: before the list grows, those who have left make room.
            self.subscribers.retain(|subscriber| !subscriber.teller.is_left());
        }
        self.subscribers.push(subscriber);
        (beats, struck)
    }

    /// Lets go those who hear exactly this; what they have not read yet still reaches them.
    pub(crate) fn close(&mut self, to: &Audience) {
        self.subscribers.retain(|subscriber| subscriber.audience != *to);
    }

    /// Lets all go; perhaps their connections break.
    pub(crate) fn let_all_go(&mut self, breaks: bool) {
        for subscriber in self.subscribers.drain(..).filter(|_| breaks) {
            subscriber.teller.tell(Beat::End(CutEnd::Broken));
        }
    }

    /// Hands a frame to all who hear it, and forgets those who have left or have stopped reading.
    pub(crate) fn send(&mut self, to: &Audience, frame: &Frame, facts: &Facts<'_>) -> Struck {
        let mut struck = Struck::default();
        self.subscribers.retain_mut(|subscriber| {
            if subscriber.audience.hears(to) {
                subscriber.hear(frame, facts, &mut struck)
            } else {
                !subscriber.teller.is_left()
            }
        });
        struck
    }

    /// Hands a frame to one subscriber.
    pub(crate) fn send_one(&mut self, exchange: u64, frame: &Frame, facts: &Facts<'_>) -> Struck {
        let mut struck = Struck::default();
        if let Some(at) = self.subscribers.iter().position(|subscriber| subscriber.exchange == exchange)
            && !self.subscribers[at].hear(frame, facts, &mut struck)
        {
            self.subscribers.swap_remove(at);
        }
        struck
    }

    /// Gives bytes to one subscriber, past all faults.
    pub(crate) fn give(&mut self, exchange: u64, bytes: Bytes) {
        let subscriber = self.subscribers.iter().find(|subscriber| subscriber.exchange == exchange);
        if let Some(subscriber) = subscriber.filter(|subscriber| !subscriber.is_over) {
            subscriber.teller.tell(Beat::Frame(bytes));
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.subscribers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::ArmedPlan;
    use crate::stream::queue::{BYTES_MAX, FRAMES_MAX};
    use bytes::Bytes;
    use fixtures::fault_plan::StreamName;

    fn frame(bytes: usize) -> Frame {
        Frame { kind: Arc::from("x"), bytes: Bytes::from(vec![0; bytes]) }
    }

    const NOTHING: Facts<'static> = Facts { now_ms: 0, holds: &|_| false };

    fn subscribed(bus: &mut Bus, to: &Audience) -> Beats {
        let faults = ArmedPlan::default().connect("a", to.stream);
        bus.subscribe(to.clone(), 1, faults, &frame(0), &NOTHING).0
    }

    #[tokio::test]
    async fn who_reads_no_more_is_let_go_by_frames_and_by_bytes() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        for (bytes, sent) in [(1, FRAMES_MAX), (BYTES_MAX / 4, 4), (BYTES_MAX * 2, 1)] {
            let mut bus = Bus::default();
            let mut frames = subscribed(&mut bus, &to);
            let frame = frame(bytes);
            let taken = (0..FRAMES_MAX * 2).take_while(|_| {
                bus.send(&to, &frame, &NOTHING);
                bus.len() > 0
            });
            // The greeting has a place, too.
            assert_eq!(taken.count() + usize::from(bytes == 1), sent, "frames of {bytes} bytes");
            let mut read = 0;
            let mut end = None;
            while let Some(beat) = frames.next().await {
                match beat {
                    Beat::End(how) => end = Some(how),
                    _ => read += 1,
                }
            }
            assert_eq!(read + usize::from(bytes == 1), sent + 1, "what was taken is given");
            assert_eq!(end, Some(CutEnd::Broken), "and that it was not all");
        }
    }

    #[tokio::test]
    async fn who_is_full_hears_how_it_ends() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        for (bytes, fill) in [(1, FRAMES_MAX - 1), (BYTES_MAX / 4, 4)] {
            let mut bus = Bus::default();
            let mut beats = subscribed(&mut bus, &to);
            for _ in 0..fill {
                bus.send(&to, &frame(bytes), &NOTHING);
            }
            assert_eq!(bus.len(), 1, "it is full, and it is there");
            bus.let_all_go(true);
            let mut last = None;
            while let Some(beat) = beats.next().await {
                last = Some(beat);
            }
            assert_eq!(last, Some(Beat::End(CutEnd::Broken)), "frames of {bytes} bytes");
        }
    }

    #[test]
    fn who_leaves_while_nothing_is_sent_makes_room() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        let mut bus = Bus::default();
        let _stays = subscribed(&mut bus, &to);
        for _ in 0..1000 {
            subscribed(&mut bus, &to);
        }
        assert!(bus.len() < 10);
    }

    #[tokio::test]
    async fn who_reads_stays() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        let mut bus = Bus::default();
        let mut frames = subscribed(&mut bus, &to);
        let large = frame(BYTES_MAX / 2);
        for _ in 0..8 {
            bus.send(&to, &large, &NOTHING);
            frames.next().await.unwrap();
        }
        assert_eq!(bus.len(), 1);
    }
}
