//! A position in the change feed, as a cursor stores it.

use base::TransactionId;

use crate::Result;
use crate::platform::cursors;

/// The last id of a stamp: a position with it is behind all changes of the stamp.
pub(super) const LAST_ID: TransactionId = TransactionId::from_bytes([0xff; 16]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedPosition {
    /// In the list, which a client that begins with nothing gets first: after a day and an id.
    List {
        /// The newest stamp when the client began. The changes after it follow the list.
        until: i64,
        after: (i64, TransactionId),
    },
    /// In the changes, after a stamp and an id.
    Changes {
        /// The stamp up to which the client was last complete; 0 before it ever was. What was created since is added
        /// for it.
        base: i64,
        after: (i64, TransactionId),
    },
}

impl FeedPosition {
    /// The position of a client that has nothing: before the newest day.
    pub(super) fn start(newest: i64) -> FeedPosition {
        FeedPosition::List { until: newest, after: (i64::MAX, LAST_ID) }
    }

    /// The position of a client that has all changes up to a stamp.
    pub(super) fn complete(stamp: i64) -> FeedPosition {
        FeedPosition::Changes { base: stamp, after: (stamp, LAST_ID) }
    }

    pub(super) fn write(&self, epoch: i64) -> Vec<u8> {
        let (kind, number, after) = match *self {
            FeedPosition::List { until, after } => (LIST, until, after),
            FeedPosition::Changes { base, after } => (CHANGES, base, after),
        };
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.push(kind);
        for number in [epoch, number, after.0] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(after.1.as_bytes());
        bytes
    }

    /// Refuses a cursor from before a restore, which may have brought back older rows.
    pub(super) fn read(bytes: &[u8], epoch: i64) -> Result<FeedPosition> {
        let position = FeedPosition::parse(bytes).filter(|it| it.0 == epoch);
        position.map(|it| it.1).ok_or_else(cursors::refused)
    }

    fn parse(bytes: &[u8]) -> Option<(i64, FeedPosition)> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let number = |at: usize| bytes[at..at + 8].try_into().map(i64::from_be_bytes).ok();
        let id = TransactionId::from_bytes(bytes[25..].try_into().ok()?);
        let after = (number(17)?, id);
        let position = match bytes[0] {
            LIST => FeedPosition::List { until: number(9)?, after },
            CHANGES => FeedPosition::Changes { base: number(9)?, after },
            _ => return None,
        };
        Some((number(1)?, position))
    }
}

/// The first byte of a stored position.
const LIST: u8 = 1;
const CHANGES: u8 = 2;
/// That byte, three numbers and an id.
const LENGTH: usize = 1 + 3 * 8 + 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written_and_only_in_its_epoch() {
        let after = (-5, TransactionId::from_bytes([7; 16]));
        let list = FeedPosition::List { until: 9, after };
        let changes = FeedPosition::Changes { base: 3, after };
        for position in [list, changes, FeedPosition::start(5), FeedPosition::complete(4)] {
            let bytes = position.write(2);
            assert_eq!(FeedPosition::read(&bytes, 2).unwrap(), position);
            assert!(FeedPosition::read(&bytes, 1).is_err());
            assert!(FeedPosition::read(&bytes[1..], 2).is_err());
        }
        assert!(FeedPosition::read(&[9; LENGTH], 0x0909_0909_0909_0909).is_err());
    }
}
