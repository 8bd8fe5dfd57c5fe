//! How a process divides its connections to PostgreSQL.

use crate::read_limits::ReadLimits;

/// With fewer connections than this there is none to spare for slow reads or for listening: a command, not a server.
pub const SERVER_MIN: usize = 4;

/// The connections of each purpose. Together with the one that listens they never exceed the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Connections that reads share.
    pub(super) shared: usize,
    /// Slow reads at once, each on a connection of its own; with none, slow reads stay on the shared connections.
    pub(super) slow: usize,
    /// Transactions at once, each on a connection of its own.
    pub(super) transactions: usize,
}

impl Budget {
    pub(super) fn new(connections: usize, limits: ReadLimits) -> Budget {
        if connections < SERVER_MIN {
            return Budget {
                shared: 1,
                slow: 0,
                transactions: connections.saturating_sub(1).max(1),
            };
        }
        let rest = connections - 1;
        let slow = rest.div_ceil(5).min(limits.slow_at_once.max(1));
        let shared = (rest / 4).max(1) + usize::from(rest > 8);
        Budget { shared, slow, transactions: rest - slow - shared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_purpose_has_a_connection_and_the_sum_is_the_setting() {
        for connections in 1..=500 {
            let budget = Budget::new(connections, ReadLimits::POSTGRES);
            let Budget { shared, slow, transactions } = budget;
            assert!(shared >= 1 && transactions >= 1, "{connections}: {budget:?}");
            if connections >= SERVER_MIN {
                assert!(slow >= 1, "{connections}: {budget:?}");
                assert_eq!(shared + slow + transactions + 1, connections);
            } else {
                assert!(shared + transactions <= connections.max(2), "{connections}: {budget:?}");
            }
        }
        let usual = Budget::new(crate::DEFAULT_CONNECTIONS, ReadLimits::POSTGRES);
        assert_eq!(usual, Budget { shared: 4, slow: 3, transactions: 7 });
    }
}
