//! How long the server has waited for a client to send or to take bytes, and how long it may.

/// Time that every client gets, whatever it transfers.
const ALLOWANCE_MS: u64 = 30_000;
/// A client that moves at least this much, about 4 KiB a second, may take as long as it needs.
const BYTES_PER_MS_MIN: u64 = 4;

/// Time spent waiting for the client, less what the bytes that moved since are worth. Time in which the server itself
/// works does not count, nor does time in which the connection is idle. Bytes that moved without waiting earn nothing:
/// the kernel takes megabytes for a client that reads none of them.
#[derive(Debug, Default)]
pub(super) struct Transfer {
    waiting_since: Option<u64>,
    waited_ms: u64,
}

impl Transfer {
    /// Starts to count the time that the server waits for the client, unless it is counted already.
    pub(super) fn wait(&mut self, now: u64) {
        self.waiting_since.get_or_insert(now);
    }

    /// Records that the client moved this many bytes, or that the server no longer waits for it.
    pub(super) fn progress(&mut self, now: u64, bytes: usize) {
        self.waited_ms = self.waited_ms(now).saturating_sub(bytes as u64 / BYTES_PER_MS_MIN);
        self.waiting_since = None;
    }

    pub(super) fn waiting_since(&self) -> Option<u64> {
        self.waiting_since
    }

    /// Whether the client is too slow. Only ever true while the server waits for it.
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        self.waiting_since.is_some() && self.waited_ms(now) > ALLOWANCE_MS
    }

    fn waited_ms(&self, now: u64) -> u64 {
        let current = self.waiting_since.map_or(0, |since| now.saturating_sub(since));
        self.waited_ms.saturating_add(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_sends_nothing_is_overdue_after_the_allowance() {
        let mut transfer = Transfer::default();
        assert!(!transfer.is_overdue(1_000_000), "nobody waits for it yet");
        transfer.wait(1_000);
        transfer.wait(20_000);
        assert!(!transfer.is_overdue(1_000 + ALLOWANCE_MS));
        assert!(transfer.is_overdue(1_001 + ALLOWANCE_MS));
    }

    #[test]
    fn one_byte_at_a_time_does_not_buy_time() {
        let (mut transfer, mut now) = (Transfer::default(), 0);
        while !transfer.is_overdue(now) {
            transfer.wait(now);
            now += 1_000;
            if transfer.is_overdue(now) {
                break;
            }
            transfer.progress(now, 1);
        }
        assert!((ALLOWANCE_MS..=ALLOWANCE_MS + 2_000).contains(&now), "{now}");
    }

    #[test]
    fn bytes_that_moved_at_once_earn_no_time_for_later() {
        let mut transfer = Transfer::default();
        transfer.progress(0, 64 << 20);
        transfer.wait(0);
        assert!(transfer.is_overdue(1 + ALLOWANCE_MS));
    }

    #[test]
    fn a_slow_line_may_take_hours_for_a_large_file() {
        let mut transfer = Transfer::default();
        let mut now = 0;
        // 64 MiB at 8 KiB a second.
        for _ in 0..8_192 {
            transfer.wait(now);
            now += 1_000;
            assert!(!transfer.is_overdue(now));
            transfer.progress(now, 8_192);
        }
    }
}
