//! Who is on the way, by endpoint: bounded for each and in all, so that none stands in another's way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::EndpointId;
use tokio::sync::{Notify, mpsc};

use super::claim::Job;

/// At once to one endpoint: enough to keep a fast one busy, little enough to spare a slow one.
pub(super) const PER_ENDPOINT: usize = 64;
pub(super) const IN_ALL: usize = 2_048;
/// To one of which nothing is known yet, and to one that failed last.
const UNKNOWN: usize = 8;
const FAILING: usize = 2;

/// Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Seats(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// There is something to be claimed, and room for it.
    wanted: Notify,
}

#[derive(Default)]
struct State {
    places: HashMap<EndpointId, Place>,
    taken: usize,
    /// Whether something was left because there was no room at all.
    is_full: bool,
    /// Where to hand over what is to be sent, while this process sends.
    inbox: Option<mpsc::UnboundedSender<Ride>>,
}

struct Place {
    taken: usize,
    allowed: usize,
    /// More is due than was taken: what is new waits behind it.
    is_behind: bool,
}

impl Default for Place {
    fn default() -> Place {
        Place { taken: 0, allowed: UNKNOWN, is_behind: false }
    }
}

/// One attempt that is to be made, on its seat.
pub(super) struct Ride {
    pub(super) job: Job,
    pub(super) seat: Seat,
}

/// Free again when it is dropped.
pub(super) struct Seat {
    seats: Seats,
    endpoint: EndpointId,
}

impl Seats {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this process sends. What is handed over is bounded by the seats.
    pub(super) fn open(&self) -> mpsc::UnboundedReceiver<Ride> {
        let (inbox, rides) = mpsc::unbounded_channel();
        self.state().inbox = Some(inbox);
        rides
    }

    pub(super) fn close(&self) {
        self.state().inbox = None;
    }

    pub(super) fn is_open(&self) -> bool {
        self.state().inbox.is_some()
    }

    /// A seat for what is about to be written, if this process can send it at once.
    pub(super) fn seat_for_new(&self, endpoint: EndpointId) -> Option<Seat> {
        let mut state = self.state();
        state.inbox.as_ref()?;
        let has_room = state.taken < IN_ALL;
        let place = state.places.entry(endpoint).or_default();
        if place.is_behind || place.taken >= place.allowed || !has_room {
            place.is_behind = true;
            return None;
        }
        place.taken += 1;
        state.taken += 1;
        drop(state);
        Some(Seat { seats: self.clone(), endpoint })
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

    /// How many of an endpoint may be claimed. Few seats are not worth a claim: they wait until there are more.
    pub(super) fn room(&self, endpoint: EndpointId) -> usize {
        let state = self.state();
        let Some(place) = state.places.get(&endpoint) else { return UNKNOWN };
        match place.taken <= place.allowed / 2 {
            true => place.allowed - place.taken,
            false => 0,
        }
    }

    pub(super) fn left(&self) -> usize {
        IN_ALL.saturating_sub(self.state().taken)
    }

    /// For something that was claimed.
    pub(super) fn take(&self, endpoint: EndpointId) -> Seat {
        let mut state = self.state();
        state.places.entry(endpoint).or_default().taken += 1;
        state.taken += 1;
        drop(state);
        Seat { seats: self.clone(), endpoint }
    }

    /// Whether more of an endpoint is due than there was room for.
    pub(super) fn mark(&self, endpoint: EndpointId, is_behind: bool) {
        let mut state = self.state();
        let is_full = state.taken >= IN_ALL;
        let place = state.places.entry(endpoint).or_default();
        place.is_behind = is_behind;
        let has_room = !is_full && place.taken <= place.allowed / 2;
        state.is_full |= is_behind && is_full;
        // Those who were in the way may have ended before they could know that somebody waits.
        if is_behind && has_room {
            self.want();
        }
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
    /// Ends the ride. One that arrives makes room for more of its kind, one that fails for less.
    pub(super) fn finish(self, is_good: bool) {
        if let Some(place) = self.seats.state().places.get_mut(&self.endpoint) {
            place.allowed = match is_good {
                true => (place.allowed * 2).clamp(UNKNOWN, PER_ENDPOINT),
                false => FAILING,
            };
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.seats.state();
        let state = &mut *state;
        state.taken -= 1;
        let mut wanted = state.is_full && state.taken <= IN_ALL / 2;
        if wanted {
            state.is_full = false;
        }
        if let Some(place) = state.places.get_mut(&self.endpoint) {
            place.taken -= 1;
            wanted |= place.is_behind && place.taken <= place.allowed / 2;
            if place.taken == 0 && !place.is_behind && place.allowed == UNKNOWN {
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
    use super::*;

    fn one() -> EndpointId {
        EndpointId::from_bytes([1; 16])
    }

    fn all_for(seats: &Seats, endpoint: EndpointId) -> Vec<Seat> {
        let mut taken = Vec::new();
        while let Some(seat) = seats.seat_for_new(endpoint) {
            taken.push(seat);
        }
        taken
    }

    #[test]
    fn who_does_not_send_has_no_seats_to_give() {
        let seats = Seats::default();
        assert!(seats.seat_for_new(one()).is_none() && !seats.is_open());
        let _rides = seats.open();
        assert!(seats.seat_for_new(one()).is_some() && seats.is_open());
        seats.close();
        assert!(seats.seat_for_new(one()).is_none());
    }

    #[test]
    fn an_endpoint_earns_its_seats_and_loses_them_when_it_fails() {
        let seats = Seats::default();
        let _rides = seats.open();
        let mut expected = vec![UNKNOWN];
        expected.extend([UNKNOWN * 2, UNKNOWN * 4, PER_ENDPOINT, PER_ENDPOINT]);
        for expected in expected {
            let mut taken = all_for(&seats, one());
            assert_eq!(taken.len(), expected);
            seats.mark(one(), false);
            taken.pop().unwrap().finish(true);
        }
        seats.seat_for_new(one()).unwrap().finish(false);
        assert_eq!(all_for(&seats, one()).len(), FAILING);
        // Nobody else is touched by that.
        assert_eq!(all_for(&seats, EndpointId::from_bytes([2; 16])).len(), UNKNOWN);
    }

    #[test]
    fn what_is_new_waits_behind_what_found_no_seat() {
        let seats = Seats::default();
        let _rides = seats.open();
        drop(all_for(&seats, one()));
        assert!(seats.seat_for_new(one()).is_none(), "something older waits");
        seats.mark(one(), false);
        assert!(seats.seat_for_new(one()).is_some());
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
        let taken: Vec<Seat> = (0..1_000).flat_map(|it| all_for(&seats, endpoint(it))).collect();
        assert_eq!((taken.len(), seats.left()), (IN_ALL, 0));
        drop(taken);
        assert_eq!(seats.left(), IN_ALL);
    }
}
