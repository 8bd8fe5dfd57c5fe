//! Who is on the way, by endpoint, and who waits in line for that: bounded for each and in all, so that none stands in
//! another's way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::EndpointId;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::claim::Job;

/// At once to one endpoint: enough to keep a fast one busy, little enough to spare a slow one.
pub(super) const PER_ENDPOINT: usize = 64;
pub(super) const IN_ALL: usize = 2_048;
/// To one of which nothing is known yet, and to one that failed last.
const UNKNOWN: usize = 8;
const FAILING: usize = 2;
/// In line for an endpoint that works: to begin with, and at least.
const LINE: usize = 2_048;
const LINE_MIN: usize = 128;
/// Lines grow while they are waited in for less than the first, and shrink when for more than the second, so that all who
/// are in one set out long before their lease ends. In microseconds.
const SHORT: i64 = 2_000_000;
const LONG: i64 = 4_000_000;
/// Beyond so many nobody gets a seat in line, only one to set out at once.
const LINES: usize = 16_384;
const SEATS: usize = LINES + IN_ALL;
/// More than this is not read from the database in one go.
const CLAIMED: usize = 1_024;

/// Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Seats(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    /// There is something to be claimed, and room for it.
    wanted: Notify,
    /// Passed by all who set out.
    gate: Arc<Semaphore>,
    /// Whether this process sends.
    sends: watch::Sender<bool>,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner {
            state: Mutex::default(),
            wanted: Notify::new(),
            gate: Arc::new(Semaphore::new(IN_ALL)),
            sends: watch::Sender::new(false),
        }
    }
}

#[derive(Default)]
struct State {
    places: HashMap<EndpointId, Place>,
    taken: usize,
    /// Whether something was left because there was no room at all.
    is_full: bool,
    /// How often somebody's line was recalled: who read an endpoint before the last time may know it wrong.
    recalls: u64,
    /// Where to hand over what is to be sent, while this process sends.
    inbox: Option<mpsc::UnboundedSender<Ride>>,
}

struct Place {
    /// By those on the way and those in line.
    taken: usize,
    /// On the way at once.
    allowed: usize,
    /// Passed by all who set out for here, in the order in which they came. It follows what is allowed.
    gate: Arc<Semaphore>,
    width: usize,
    /// How many may be here in all, while it works.
    line: usize,
    /// More is due than was taken: what is new waits behind it.
    is_behind: bool,
}

impl Default for Place {
    fn default() -> Place {
        let (allowed, width) = (UNKNOWN, UNKNOWN);
        let gate = Arc::new(Semaphore::new(width));
        Place { taken: 0, allowed, gate, width, line: LINE, is_behind: false }
    }
}

impl Place {
    /// Only who is known to work has a line: what hangs must not hold what nobody else may take meanwhile.
    fn seats(&self, taken_in_all: usize) -> usize {
        match self.allowed > UNKNOWN && taken_in_all < LINES {
            true => self.line,
            false => self.allowed,
        }
    }

    /// How many to fill up with. Few seats are not worth a claim: they wait until there are more.
    fn room(&self, taken_in_all: usize) -> usize {
        let seats = self.seats(taken_in_all);
        if self.taken <= seats / 2 { (seats - self.taken).min(CLAIMED) } else { 0 }
    }
}

/// One attempt that is to be made, on its seat.
pub(super) struct Ride {
    pub(super) job: Job,
    pub(super) seat: Seat,
    /// From then on others may take it.
    pub(super) until: i64,
}

/// Free again when it is dropped.
pub(super) struct Seat {
    seats: Seats,
    endpoint: EndpointId,
    gate: Arc<Semaphore>,
}

/// Leave to set out.
pub(super) struct Way {
    seats: Seats,
    endpoint: EndpointId,
    gate: Arc<Semaphore>,
    /// None once it is given back.
    here: Option<OwnedSemaphorePermit>,
    _in_all: OwnedSemaphorePermit,
}

/// One whose gate was replaced on the way belongs to the next gate.
impl Drop for Way {
    fn drop(&mut self) {
        if self.here.take().is_none() {
            return;
        }
        let mut state = self.seats.state();
        if let Some(place) = state.places.get_mut(&self.endpoint)
            && !Arc::ptr_eq(&self.gate, &place.gate)
        {
            place.gate.add_permits(1);
        }
    }
}

impl Seats {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this process sends. What is handed over is bounded by the seats.
    pub(super) fn open(&self) -> mpsc::UnboundedReceiver<Ride> {
        let (inbox, rides) = mpsc::unbounded_channel();
        self.state().inbox = Some(inbox);
        self.0.sends.send_replace(true);
        rides
    }

    /// Nobody sets out from now on; those on the way arrive.
    pub(super) fn close(&self) {
        self.state().inbox = None;
        self.0.sends.send_replace(false);
    }

    pub(super) fn is_open(&self) -> bool {
        self.state().inbox.is_some()
    }

    /// To be asked before endpoints are read that somebody is to be sent to.
    pub(super) fn recalls(&self) -> u64 {
        self.state().recalls
    }

    /// A seat for what is about to be written, if this process can send it soon. `seen` are the recalls before its
    /// endpoint was read.
    pub(super) fn seat_for_new(&self, endpoint: EndpointId, seen: u64) -> Option<Seat> {
        let mut state = self.state();
        state.inbox.as_ref()?;
        let (taken, is_stale) = (state.taken, state.recalls != seen);
        let place = state.places.entry(endpoint).or_default();
        if is_stale || place.is_behind || place.taken >= place.seats(taken) || taken >= SEATS {
            place.is_behind = true;
            return None;
        }
        Some(self.seat(state, endpoint))
    }

    /// Hands over what was written. If nobody sends any more, it is sent when its lease is over.
    pub(super) fn hand_over(&self, rides: Vec<Ride>) {
        let inbox = self.state().inbox.clone();
        for ride in rides {
            if let Some(inbox) = &inbox {
                let _ = inbox.send(ride);
            }
        }
    }

    /// How many of an endpoint may be claimed.
    pub(super) fn room(&self, endpoint: EndpointId) -> usize {
        let state = self.state();
        state.places.get(&endpoint).map_or(UNKNOWN, |it| it.room(state.taken))
    }

    pub(super) fn left(&self) -> usize {
        SEATS.saturating_sub(self.state().taken)
    }

    /// For something that was claimed, unless its endpoint may have changed since it was read.
    pub(super) fn take(&self, endpoint: EndpointId, seen: u64) -> Option<Seat> {
        let state = self.state();
        (state.recalls == seen).then(|| self.seat(state, endpoint))
    }

    fn seat(&self, mut state: MutexGuard<'_, State>, endpoint: EndpointId) -> Seat {
        state.taken += 1;
        let place = state.places.entry(endpoint).or_default();
        place.taken += 1;
        Seat { seats: self.clone(), endpoint, gate: place.gate.clone() }
    }

    /// Whether more of an endpoint is due than there was room for.
    pub(super) fn mark(&self, endpoint: EndpointId, is_behind: bool) {
        let mut state = self.state();
        let taken = state.taken;
        let is_full = taken >= SEATS;
        let place = state.places.entry(endpoint).or_default();
        place.is_behind = is_behind;
        let has_room = !is_full && place.room(taken) > 0;
        state.is_full |= is_behind && is_full;
        // Those who were in the way may have ended before they could know that somebody waits.
        if is_behind && has_room {
            self.want();
        }
    }

    /// Those in line for it are given back: what they know of the endpoint no longer holds.
    pub(super) fn recall(&self, endpoint: EndpointId) {
        let mut state = self.state();
        state.recalls += 1;
        let Some(place) = state.places.get_mut(&endpoint) else { return };
        // Those on the way hand their places over as they end.
        let free = place.gate.forget_permits(place.width);
        let next = Arc::new(Semaphore::new(free));
        std::mem::replace(&mut place.gate, next).close();
    }

    /// Somebody wrote what nobody sends yet.
    pub(super) fn want(&self) {
        self.0.wanted.notify_one();
    }

    pub(super) async fn wanted(&self) {
        self.0.wanted.notified().await;
    }
}

impl Seat {
    /// Waits in line. None when this process sends no more, or the line was recalled.
    pub(super) async fn way(&self) -> Option<Way> {
        let mut sends = self.seats.0.sends.subscribe();
        let through = async {
            let here = self.gate.clone().acquire_owned().await.ok()?;
            let in_all = self.seats.0.gate.clone().acquire_owned().await.ok()?;
            let (seats, endpoint, gate) = (self.seats.clone(), self.endpoint, self.gate.clone());
            let way = Way { seats, endpoint, gate, here: Some(here), _in_all: in_all };
            // Recalled while it waited for the last of them.
            (!self.gate.is_closed()).then_some(way)
        };
        tokio::select! {
            biased;
            _ = sends.wait_for(|it| !it) => None,
            way = through => way,
        }
    }

    /// Ends the ride. One that arrives makes room for more of its kind, one that fails for less.
    pub(super) fn finish(self, mut way: Way, waited: i64, is_good: bool) {
        let mut state = self.seats.state();
        let Some(place) = state.places.get_mut(&self.endpoint) else { return };
        if waited < SHORT {
            place.line = (place.line + 1).min(LINES);
        } else if waited > LONG {
            place.line = (place.line - 1).max(LINE_MIN);
        }
        place.allowed = match is_good {
            true => (place.allowed * 2).clamp(UNKNOWN, PER_ENDPOINT),
            false => FAILING,
        };
        if place.width < place.allowed {
            place.gate.add_permits(place.allowed - place.width);
            place.width = place.allowed;
        }
        // Narrower by those who stand in it: this one, and the others as they end.
        place.width -= place.gate.forget_permits(place.width - place.allowed);
        if place.width > place.allowed {
            place.width -= 1;
            if let Some(here) = way.here.take() {
                here.forget();
            }
        }
        // The way's own end looks at the state.
        drop(state);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.seats.state();
        let state = &mut *state;
        state.taken -= 1;
        let mut wanted = state.is_full && state.taken <= SEATS / 2;
        if wanted {
            state.is_full = false;
        }
        if let Some(place) = state.places.get_mut(&self.endpoint) {
            place.taken -= 1;
            wanted |= place.is_behind && place.room(state.taken) > 0;
            let is_new = place.allowed == UNKNOWN && place.width == UNKNOWN;
            if place.taken == 0 && !place.is_behind && is_new {
                state.places.remove(&self.endpoint);
            }
        }
        if wanted {
            self.seats.want();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn one() -> EndpointId {
        EndpointId::from_bytes([1; 16])
    }

    fn all_for(seats: &Seats, endpoint: EndpointId) -> Vec<Seat> {
        let mut taken = Vec::new();
        while let Some(seat) = seats.seat_for_new(endpoint, seats.recalls()) {
            taken.push(seat);
        }
        taken
    }

    #[test]
    fn who_does_not_send_has_no_seats_to_give() {
        let seats = Seats::default();
        assert!(seats.seat_for_new(one(), 0).is_none() && !seats.is_open());
        let _rides = seats.open();
        assert!(seats.seat_for_new(one(), 0).is_some() && seats.is_open());
        seats.close();
        assert!(seats.seat_for_new(one(), 0).is_none());
    }

    /// All who may set out now, of those who have a seat.
    fn ways(taken: &[Seat]) -> Vec<Way> {
        taken.iter().map_while(|it| it.way().now_or_never().flatten()).collect()
    }

    #[test]
    fn an_endpoint_earns_its_ways_and_loses_them_when_it_fails() {
        let seats = Seats::default();
        let _rides = seats.open();
        let first = all_for(&seats, one());
        assert_eq!((first.len(), ways(&first).len()), (UNKNOWN, UNKNOWN));
        drop(first);
        for expected in [UNKNOWN * 2, UNKNOWN * 4, PER_ENDPOINT, PER_ENDPOINT] {
            seats.mark(one(), false);
            let seat = seats.seat_for_new(one(), 0).unwrap();
            let way = ways(std::slice::from_ref(&seat)).pop().unwrap();
            seat.finish(way, 0, true);
            let taken = all_for(&seats, one());
            assert!(taken.len() > LINE, "one that works has a line");
            assert_eq!(ways(&taken).len(), expected);
        }
        seats.mark(one(), false);
        let mut taken = all_for(&seats, one());
        let mut under_way = ways(&taken);
        taken.pop().unwrap().finish(under_way.pop().unwrap(), 0, false);
        assert_eq!(ways(&taken).len(), 0, "the others are still on their way");
        // As they fail, nobody follows them.
        while let Some(way) = under_way.pop() {
            taken.pop().unwrap().finish(way, 0, false);
        }
        assert_eq!(ways(&taken).len(), FAILING);
        drop(taken);
        seats.mark(one(), false);
        assert_eq!(all_for(&seats, one()).len(), FAILING);
        // Nobody else is touched by that.
        assert_eq!(all_for(&seats, EndpointId::from_bytes([2; 16])).len(), UNKNOWN);
    }

    #[test]
    fn a_line_is_as_long_as_it_moves() {
        let seats = Seats::default();
        let _rides = seats.open();
        let ends = |times: usize, waited: i64| {
            for _ in 0..times {
                let seat = seats.take(one(), 0).unwrap();
                let way = ways(std::slice::from_ref(&seat)).pop().unwrap();
                seat.finish(way, waited, true);
            }
            seats.mark(one(), false);
            all_for(&seats, one()).len()
        };
        assert_eq!(ends(100, SHORT - 1), LINE + 100);
        assert_eq!(ends(1, SHORT), LINE + 100);
        assert_eq!(ends(300, LONG + 1), LINE - 200);
        assert_eq!(ends(LINE, LONG + 1), LINE_MIN);
        assert_eq!(ends(2 * LINES, 0), LINES);
    }

    #[tokio::test]
    async fn those_in_line_are_told_when_this_process_stops() {
        let seats = Seats::default();
        let _rides = seats.open();
        let taken = all_for(&seats, one());
        let _under_way = ways(&taken);
        let late = seats.take(one(), 0).unwrap();
        let waiting = tokio::spawn(async move { late.way().await.is_none() });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        seats.close();
        assert!(waiting.await.unwrap());
    }

    /// However often: those on the way count until they end, and nobody else sets out in their place.
    #[test]
    fn a_recall_opens_no_way_that_was_not_there() {
        let seats = Seats::default();
        let _rides = seats.open();
        let mut taken = all_for(&seats, one());
        let mut under_way = ways(&taken);
        let late = seats.take(one(), 0).unwrap();
        for _ in 0..3 {
            seats.recall(one());
        }
        assert!(late.way().now_or_never().unwrap().is_none(), "its gate is closed");
        assert!(seats.seat_for_new(one(), 0).is_none() && seats.take(one(), 0).is_none());
        let next: Vec<Seat> =
            (0..2 * PER_ENDPOINT).map(|_| seats.take(one(), 3).unwrap()).collect();
        assert_eq!(ways(&next).len(), 0, "all are on their way");
        // One that never set out, one that arrived, and the others, which failed.
        drop(under_way.pop());
        assert_eq!(ways(&next).len(), 1);
        taken.pop().unwrap().finish(under_way.pop().unwrap(), 0, true);
        assert_eq!(ways(&next).len(), 2 + UNKNOWN);
        while let Some(way) = under_way.pop() {
            taken.pop().unwrap().finish(way, 0, false);
        }
        assert_eq!(ways(&next).len(), FAILING);
    }

    #[test]
    fn what_is_new_waits_behind_what_found_no_seat() {
        let seats = Seats::default();
        let _rides = seats.open();
        drop(all_for(&seats, one()));
        assert!(seats.seat_for_new(one(), 0).is_none(), "something older waits");
        seats.mark(one(), false);
        assert!(seats.seat_for_new(one(), 0).is_some());
    }

    #[tokio::test]
    async fn somebody_is_wanted_as_soon_as_there_is_room_for_what_waits() {
        let seats = Seats::default();
        let _rides = seats.open();
        let mut taken = all_for(&seats, one());
        assert_eq!(seats.room(one()), 0);
        taken.truncate(UNKNOWN / 2);
        assert_eq!(seats.room(one()), UNKNOWN / 2);
        seats.wanted().await;
        // Also when all had ended before anyone knew that something waits.
        drop(taken);
        seats.mark(one(), true);
        seats.wanted().await;
    }

    #[test]
    fn all_together_have_so_many_and_no_more() {
        let seats = Seats::default();
        let _rides = seats.open();
        let endpoint = |number: usize| EndpointId::from_bytes((number as u128).to_be_bytes());
        let taken: Vec<Seat> = (0..10_000).flat_map(|it| all_for(&seats, endpoint(it))).collect();
        assert_eq!((taken.len(), seats.left()), (SEATS, 0));
        assert_eq!(ways(&taken).len(), IN_ALL);
        drop(taken);
        assert_eq!(seats.left(), SEATS);
    }
}
