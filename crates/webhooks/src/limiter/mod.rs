//! The delivery limiter: how many deliveries this process keeps in memory, queued or in flight, for each endpoint and
//! in total, so that a slow endpoint never delays the others.
//!
//! A delivery first gets a [`QueueSlot`] and then, when the endpoint has capacity, a [`SendPermit`]. An endpoint
//! that changes invalidates its queue: its queued deliveries return to the database and are claimed again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::EndpointId;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::delivery::{Delivery, Lease};

/// Requests in flight to one endpoint: enough to keep a fast one busy, few enough to spare a slow one.
pub(crate) const IN_FLIGHT_PER_ENDPOINT_MAX: usize = 64;
/// Requests in flight to all endpoints together.
pub(crate) const IN_FLIGHT_MAX: usize = 2_048;
/// Requests in flight to an endpoint that has not succeeded yet in this process.
const IN_FLIGHT_UNPROVEN: usize = 8;
/// Requests in flight to an endpoint whose last attempt failed.
const IN_FLIGHT_FAILING: usize = 2;
/// Slots of a working endpoint at the beginning.
const QUEUE_START: usize = 2_048;
/// Slots of a working endpoint whose queue moves slowly.
const QUEUE_MIN: usize = 128;
/// A queue grows while deliveries wait in it for less than this, in microseconds.
const WAIT_SHORT: i64 = 2_000_000;
/// A queue shrinks when deliveries wait in it for more than this, in microseconds, so that every queued delivery is
/// sent long before its lease ends.
const WAIT_LONG: i64 = 4_000_000;
/// Once so many slots are in use, deliveries are no longer queued, only sent at once.
const QUEUED_MAX: usize = 16_384;
/// Slots of all endpoints together.
const SLOTS_MAX: usize = QUEUED_MAX + IN_FLIGHT_MAX;
/// Deliveries of one endpoint that one claim reads from the database.
const CLAIM_MAX: usize = 1_024;

/// Limits deliveries by endpoint and in total; clones share it.
#[derive(Clone, Default)]
pub(crate) struct DeliveryLimiter(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Wakes the claiming loop: something is due, and there are free slots for it.
    claim_requested: Notify,
    /// One permit for each request in flight, over all endpoints.
    permits: Arc<Semaphore>,
    /// Whether this process sends.
    is_sending: watch::Sender<bool>,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            state: Mutex::default(),
            claim_requested: Notify::new(),
            permits: Arc::new(Semaphore::new(IN_FLIGHT_MAX)),
            is_sending: watch::Sender::new(false),
        }
    }
}

#[derive(Default)]
struct State {
    endpoints: HashMap<EndpointId, EndpointState>,
    slots_used: usize,
    /// Whether a due delivery was left in the database because all slots were in use.
    is_full: bool,
    /// Rises with every invalidated queue. An endpoint read from the database under an older generation may be
    /// outdated.
    generation: u64,
    /// The channel to the sending loop, while this process sends.
    inbox: Option<mpsc::UnboundedSender<DispatchedDelivery>>,
}

struct EndpointState {
    /// Slots of deliveries in flight and queued.
    slots_used: usize,
    in_flight_max: usize,
    /// One permit for each request in flight, granted in the order of the queue.
    permits: Arc<Semaphore>,
    /// Permits in existence, granted or free. Follows `in_flight_max` as requests end.
    permit_count: usize,
    /// Slots that a working endpoint may use.
    queue_max: usize,
    /// The newest version of the endpoint that was found to be outdated.
    outdated_version: i64,
    /// Whether more is due in the database than was claimed. New deliveries must then wait behind it.
    has_backlog: bool,
}

impl Default for EndpointState {
    fn default() -> EndpointState {
        EndpointState {
            slots_used: 0,
            in_flight_max: IN_FLIGHT_UNPROVEN,
            permits: Arc::new(Semaphore::new(IN_FLIGHT_UNPROVEN)),
            permit_count: IN_FLIGHT_UNPROVEN,
            queue_max: QUEUE_START,
            outdated_version: 0,
            has_backlog: false,
        }
    }
}

impl EndpointState {
    /// How many slots the endpoint may use. Endpoints that have not yet succeeded get no queue: while one hangs, its
    /// queued deliveries would be leased to this process for nothing.
    fn slots_max(&self, slots_used_in_all: usize) -> usize {
        match self.in_flight_max > IN_FLIGHT_UNPROVEN && slots_used_in_all < QUEUED_MAX {
            true => self.queue_max,
            false => self.in_flight_max,
        }
    }

    /// How many deliveries to claim now. None while more than half of the slots are in use, because claiming a few at a
    /// time is not worth a transaction.
    fn claimable(&self, slots_used_in_all: usize) -> usize {
        let slots = self.slots_max(slots_used_in_all);
        if self.slots_used <= slots / 2 { (slots - self.slots_used).min(CLAIM_MAX) } else { 0 }
    }
}

/// A claimed delivery on its way to the sending loop, with its slot.
pub(crate) struct DispatchedDelivery {
    pub(crate) delivery: Delivery,
    pub(crate) slot: QueueSlot,
    pub(crate) lease: Lease,
}

/// A slot for one delivery in the in-memory queue of its endpoint, free again when dropped.
pub(crate) struct QueueSlot {
    limiter: DeliveryLimiter,
    endpoint: EndpointId,
    permits: Arc<Semaphore>,
}

/// Permission to send one request now.
pub(crate) struct SendPermit {
    limiter: DeliveryLimiter,
    endpoint: EndpointId,
    permits: Arc<Semaphore>,
    /// None once it was removed to lower the endpoint's limit.
    endpoint_permit: Option<OwnedSemaphorePermit>,
    _total_permit: OwnedSemaphorePermit,
}

/// A permit whose semaphore was replaced by an invalidation returns to the new semaphore.
impl Drop for SendPermit {
    fn drop(&mut self) {
        if self.endpoint_permit.take().is_none() {
            return;
        }
        let mut state = self.limiter.state();
        if let Some(endpoint) = state.endpoints.get_mut(&self.endpoint)
            && !Arc::ptr_eq(&self.permits, &endpoint.permits)
        {
            endpoint.permits.add_permits(1);
        }
    }
}

impl DeliveryLimiter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts sending in this process, and returns the deliveries that transactions dispatch. The channel needs no
    /// bound of its own: slots bound it.
    pub(crate) fn start_sending(&self) -> mpsc::UnboundedReceiver<DispatchedDelivery> {
        let (inbox, dispatched) = mpsc::unbounded_channel();
        self.state().inbox = Some(inbox);
        self.0.is_sending.send_replace(true);
        dispatched
    }

    /// Stops sending: no further permit is granted, and requests in flight end as usual.
    pub(crate) fn stop_sending(&self) {
        self.state().inbox = None;
        self.0.is_sending.send_replace(false);
    }

    pub(crate) fn is_sending(&self) -> bool {
        self.state().inbox.is_some()
    }

    /// The generation of all queues, to be read before the endpoints that deliveries are sent to.
    pub(crate) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// A slot for a delivery that is about to be written, if this process can send it soon. `generation` is the one
    /// from before its endpoint was read.
    pub(crate) fn reserve_new(&self, endpoint: EndpointId, generation: u64) -> Option<QueueSlot> {
        let mut state = self.state();
        state.inbox.as_ref()?;
        let (used_in_all, is_stale) = (state.slots_used, state.generation != generation);
        let it = state.endpoints.entry(endpoint).or_default();
        let is_full = it.slots_used >= it.slots_max(used_in_all) || used_in_all >= SLOTS_MAX;
        if is_stale || it.has_backlog || is_full {
            it.has_backlog = true;
            return None;
        }
        Some(self.slot(state, endpoint))
    }

    /// A slot for a claimed delivery, unless its endpoint may have changed since it was read.
    pub(crate) fn reserve_claimed(
        &self,
        endpoint: EndpointId,
        generation: u64,
    ) -> Option<QueueSlot> {
        let state = self.state();
        (state.generation == generation).then(|| self.slot(state, endpoint))
    }

    fn slot(&self, mut state: MutexGuard<'_, State>, endpoint: EndpointId) -> QueueSlot {
        state.slots_used += 1;
        let it = state.endpoints.entry(endpoint).or_default();
        it.slots_used += 1;
        QueueSlot { limiter: self.clone(), endpoint, permits: it.permits.clone() }
    }

    /// Hands committed deliveries to the sending loop. If this process no longer sends, they are sent after their
    /// lease.
    pub(crate) fn dispatch(&self, deliveries: Vec<DispatchedDelivery>) {
        let inbox = self.state().inbox.clone();
        for it in deliveries {
            if let Some(inbox) = &inbox {
                let _ = inbox.send(it);
            }
        }
    }

    /// How many deliveries of an endpoint may be claimed now.
    pub(crate) fn claimable(&self, endpoint: EndpointId) -> usize {
        let state = self.state();
        let it = state.endpoints.get(&endpoint);
        it.map_or(IN_FLIGHT_UNPROVEN, |it| it.claimable(state.slots_used))
    }

    /// Free slots over all endpoints.
    pub(crate) fn free_slots(&self) -> usize {
        SLOTS_MAX.saturating_sub(self.state().slots_used)
    }

    /// Notes whether more of an endpoint is due in the database than could be claimed.
    pub(crate) fn set_backlog(&self, endpoint: EndpointId, has_backlog: bool) {
        let mut state = self.state();
        let slots_used = state.slots_used;
        let is_full = slots_used >= SLOTS_MAX;
        let it = state.endpoints.entry(endpoint).or_default();
        it.has_backlog = has_backlog;
        let is_claimable = !is_full && it.claimable(slots_used) > 0;
        state.is_full |= has_backlog && is_full;
        // Slots may have become free before the backlog was noted, when that did not request a claim.
        if has_backlog && is_claimable {
            self.request_claim();
        }
    }

    /// Invalidates the queue of an endpoint that changed: queued deliveries are released, because the URL and the
    /// secrets they were read with may be outdated.
    pub(crate) fn invalidate(&self, endpoint: EndpointId) {
        let mut state = self.state();
        state.generation += 1;
        let Some(it) = state.endpoints.get_mut(&endpoint) else { return };
        // Requests in flight return their permits to the new semaphore as they end.
        let free = it.permits.forget_permits(it.permit_count);
        let next = Arc::new(Semaphore::new(free));
        std::mem::replace(&mut it.permits, next).close();
    }

    /// Invalidates the queue of an endpoint if a version of it was found to be outdated for the first time. Deliveries
    /// that were read later are left alone.
    pub(crate) fn invalidate_version(&self, endpoint: EndpointId, outdated: i64) {
        {
            let mut state = self.state();
            let it = state.endpoints.entry(endpoint).or_default();
            if it.outdated_version >= outdated {
                return;
            }
            it.outdated_version = outdated;
        }
        self.invalidate(endpoint);
    }

    /// Asks the claiming loop to look for due deliveries.
    pub(crate) fn request_claim(&self) {
        self.0.claim_requested.notify_one();
    }

    /// Waits until a claim is requested.
    pub(crate) async fn claim_requested(&self) {
        self.0.claim_requested.notified().await;
    }
}

impl QueueSlot {
    /// Waits in the queue for permission to send. None when this process stops sending, or the queue was invalidated.
    pub(crate) async fn wait_for_permit(&self) -> Option<SendPermit> {
        let mut is_sending = self.limiter.0.is_sending.subscribe();
        let acquire = async {
            let endpoint_permit = self.permits.clone().acquire_owned().await.ok()?;
            let total_permit = self.limiter.0.permits.clone().acquire_owned().await.ok()?;
            let permit = SendPermit {
                limiter: self.limiter.clone(),
                endpoint: self.endpoint,
                permits: self.permits.clone(),
                endpoint_permit: Some(endpoint_permit),
                _total_permit: total_permit,
            };
            // The queue may have been invalidated during the second wait.
            (!self.permits.is_closed()).then_some(permit)
        };
        tokio::select! {
            biased;
            _ = is_sending.wait_for(|it| !it) => None,
            permit = acquire => permit,
        }
    }

    /// Ends the delivery after an attempt that waited `waited` microseconds in the queue. A success lets more requests
    /// to the endpoint be in flight, a failure fewer.
    pub(crate) fn finish(self, mut permit: SendPermit, waited: i64, is_success: bool) {
        let mut state = self.limiter.state();
        let Some(it) = state.endpoints.get_mut(&self.endpoint) else { return };
        if waited < WAIT_SHORT {
            it.queue_max = (it.queue_max + 1).min(QUEUED_MAX);
        } else if waited > WAIT_LONG {
            it.queue_max = (it.queue_max - 1).max(QUEUE_MIN);
        }
        it.in_flight_max = match is_success {
            true => (it.in_flight_max * 2).clamp(IN_FLIGHT_UNPROVEN, IN_FLIGHT_PER_ENDPOINT_MAX),
            false => IN_FLIGHT_FAILING,
        };
        if it.permit_count < it.in_flight_max {
            it.permits.add_permits(it.in_flight_max - it.permit_count);
            it.permit_count = it.in_flight_max;
        }
        // Free permits are removed at once; granted ones as their requests end, beginning with this one.
        it.permit_count -= it.permits.forget_permits(it.permit_count - it.in_flight_max);
        if it.permit_count > it.in_flight_max {
            it.permit_count -= 1;
            if let Some(granted) = permit.endpoint_permit.take() {
                granted.forget();
            }
        }
        // Dropping the permit locks the state again.
        drop(state);
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        let state = &mut *state;
        state.slots_used -= 1;
        let mut is_claimable = state.is_full && state.slots_used <= SLOTS_MAX / 2;
        if is_claimable {
            state.is_full = false;
        }
        if let Some(it) = state.endpoints.get_mut(&self.endpoint) {
            it.slots_used -= 1;
            is_claimable |= it.has_backlog && it.claimable(state.slots_used) > 0;
            let is_unproven =
                it.in_flight_max == IN_FLIGHT_UNPROVEN && it.permit_count == IN_FLIGHT_UNPROVEN;
            if it.slots_used == 0 && !it.has_backlog && is_unproven {
                state.endpoints.remove(&self.endpoint);
            }
        }
        if is_claimable {
            self.limiter.request_claim();
        }
    }
}

#[cfg(test)]
mod tests;
