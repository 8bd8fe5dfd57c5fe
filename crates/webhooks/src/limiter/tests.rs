//! Tests of slots, permits, queue sizes and invalidation.

use futures_util::FutureExt as _;

use super::*;

fn endpoint() -> EndpointId {
    EndpointId::from_bytes([1; 16])
}

/// A limiter in a process that sends.
fn sending() -> (DeliveryLimiter, mpsc::UnboundedReceiver<DispatchedDelivery>) {
    let limiter = DeliveryLimiter::default();
    let dispatched = limiter.start_sending();
    (limiter, dispatched)
}

fn reserve_all(limiter: &DeliveryLimiter, endpoint: EndpointId) -> Vec<QueueSlot> {
    let mut slots = Vec::new();
    while let Some(slot) = limiter.reserve_new(endpoint, limiter.generation()) {
        slots.push(slot);
    }
    slots
}

/// The permits that are granted now, to the first of these slots.
fn permits(slots: &[QueueSlot]) -> Vec<SendPermit> {
    slots.iter().map_while(|it| it.wait_for_permit().now_or_never().flatten()).collect()
}

#[test]
fn a_process_that_does_not_send_reserves_no_slots() {
    let limiter = DeliveryLimiter::default();
    assert!(limiter.reserve_new(endpoint(), 0).is_none() && !limiter.is_sending());
    let _dispatched = limiter.start_sending();
    assert!(limiter.reserve_new(endpoint(), 0).is_some() && limiter.is_sending());
    limiter.stop_sending();
    assert!(limiter.reserve_new(endpoint(), 0).is_none());
}

#[test]
fn an_endpoint_earns_permits_by_success_and_loses_them_by_failure() {
    let (limiter, _dispatched) = sending();
    let first = reserve_all(&limiter, endpoint());
    assert_eq!(first.len(), IN_FLIGHT_UNPROVEN);
    assert_eq!(permits(&first).len(), IN_FLIGHT_UNPROVEN);
    drop(first);
    let full = IN_FLIGHT_PER_ENDPOINT_MAX;
    for expected in [IN_FLIGHT_UNPROVEN * 2, IN_FLIGHT_UNPROVEN * 4, full, full] {
        limiter.set_backlog(endpoint(), false);
        let slot = limiter.reserve_new(endpoint(), 0).unwrap();
        let permit = permits(std::slice::from_ref(&slot)).pop().unwrap();
        slot.finish(permit, 0, true);
        let slots = reserve_all(&limiter, endpoint());
        assert!(slots.len() > QUEUE_START, "a working endpoint has a queue");
        assert_eq!(permits(&slots).len(), expected);
    }
    limiter.set_backlog(endpoint(), false);
    let mut slots = reserve_all(&limiter, endpoint());
    let mut in_flight = permits(&slots);
    slots.pop().unwrap().finish(in_flight.pop().unwrap(), 0, false);
    assert_eq!(permits(&slots).len(), 0, "the others are still in flight");
    // As they fail, their permits are not granted again.
    while let Some(permit) = in_flight.pop() {
        slots.pop().unwrap().finish(permit, 0, false);
    }
    assert_eq!(permits(&slots).len(), IN_FLIGHT_FAILING);
    drop(slots);
    limiter.set_backlog(endpoint(), false);
    assert_eq!(reserve_all(&limiter, endpoint()).len(), IN_FLIGHT_FAILING);
    // Other endpoints are not affected.
    let other = EndpointId::from_bytes([2; 16]);
    assert_eq!(reserve_all(&limiter, other).len(), IN_FLIGHT_UNPROVEN);
}

#[test]
fn a_queue_grows_while_it_moves_fast_and_shrinks_while_it_moves_slowly() {
    let (limiter, _dispatched) = sending();
    let size_after = |times: usize, waited: i64| {
        for _ in 0..times {
            let slot = limiter.reserve_claimed(endpoint(), 0).unwrap();
            let permit = permits(std::slice::from_ref(&slot)).pop().unwrap();
            slot.finish(permit, waited, true);
        }
        limiter.set_backlog(endpoint(), false);
        reserve_all(&limiter, endpoint()).len()
    };
    assert_eq!(size_after(100, WAIT_SHORT - 1), QUEUE_START + 100);
    assert_eq!(size_after(1, WAIT_SHORT), QUEUE_START + 100);
    assert_eq!(size_after(300, WAIT_LONG + 1), QUEUE_START - 200);
    assert_eq!(size_after(QUEUE_START, WAIT_LONG + 1), QUEUE_MIN);
    assert_eq!(size_after(2 * QUEUED_MAX, 0), QUEUED_MAX);
}

#[tokio::test]
async fn queued_deliveries_are_released_when_this_process_stops_sending() {
    let (limiter, _dispatched) = sending();
    let slots = reserve_all(&limiter, endpoint());
    let _in_flight = permits(&slots);
    let queued = limiter.reserve_claimed(endpoint(), 0).unwrap();
    let waiting = tokio::spawn(async move { queued.wait_for_permit().await.is_none() });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    limiter.stop_sending();
    assert!(waiting.await.unwrap());
}

/// Requests in flight count until they end, however often a queue is invalidated, so that none is sent in addition.
#[test]
fn invalidating_a_queue_grants_no_additional_permits() {
    let (limiter, _dispatched) = sending();
    let mut slots = reserve_all(&limiter, endpoint());
    let mut in_flight = permits(&slots);
    let queued = limiter.reserve_claimed(endpoint(), 0).unwrap();
    for _ in 0..3 {
        limiter.invalidate(endpoint());
    }
    let released = queued.wait_for_permit().now_or_never().unwrap();
    assert!(released.is_none(), "its semaphore is closed");
    assert!(limiter.reserve_new(endpoint(), 0).is_none());
    assert!(limiter.reserve_claimed(endpoint(), 0).is_none());
    let next: Vec<QueueSlot> = (0..2 * IN_FLIGHT_PER_ENDPOINT_MAX)
        .map(|_| limiter.reserve_claimed(endpoint(), 3).unwrap())
        .collect();
    assert_eq!(permits(&next).len(), 0, "all permits are in flight");
    // One permit that was never used, one success, and failures for the rest.
    drop(in_flight.pop());
    assert_eq!(permits(&next).len(), 1);
    slots.pop().unwrap().finish(in_flight.pop().unwrap(), 0, true);
    assert_eq!(permits(&next).len(), 2 + IN_FLIGHT_UNPROVEN);
    while let Some(permit) = in_flight.pop() {
        slots.pop().unwrap().finish(permit, 0, false);
    }
    assert_eq!(permits(&next).len(), IN_FLIGHT_FAILING);
}

#[test]
fn a_new_delivery_waits_behind_the_backlog_of_its_endpoint() {
    let (limiter, _dispatched) = sending();
    drop(reserve_all(&limiter, endpoint()));
    assert!(limiter.reserve_new(endpoint(), 0).is_none(), "an older delivery waits");
    limiter.set_backlog(endpoint(), false);
    assert!(limiter.reserve_new(endpoint(), 0).is_some());
}

#[tokio::test]
async fn a_claim_is_requested_as_soon_as_a_backlog_has_free_slots() {
    let (limiter, _dispatched) = sending();
    let mut slots = reserve_all(&limiter, endpoint());
    assert_eq!(limiter.claimable(endpoint()), 0);
    slots.truncate(IN_FLIGHT_UNPROVEN / 2);
    assert_eq!(limiter.claimable(endpoint()), IN_FLIGHT_UNPROVEN / 2);
    limiter.claim_requested().await;
    // Also when all slots became free before the backlog was noted.
    drop(slots);
    limiter.set_backlog(endpoint(), true);
    limiter.claim_requested().await;
}

#[test]
fn slots_and_permits_are_bounded_over_all_endpoints() {
    let (limiter, _dispatched) = sending();
    let id = |number: usize| EndpointId::from_bytes((number as u128).to_be_bytes());
    let slots: Vec<QueueSlot> = (0..10_000).flat_map(|it| reserve_all(&limiter, id(it))).collect();
    assert_eq!((slots.len(), limiter.free_slots()), (SLOTS_MAX, 0));
    assert_eq!(permits(&slots).len(), IN_FLIGHT_MAX);
    drop(slots);
    assert_eq!(limiter.free_slots(), SLOTS_MAX);
}
