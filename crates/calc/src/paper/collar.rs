//! The price collar: how far a price may move between the quote shown to the person and the fill, and the cash to
//! reserve for it.

use base::Fixed9;

use super::{CENT, Size, divide_up};

const PERCENT: i128 = 2;

/// Compares the shown price with that of the fill, exactly: two percent is still allowed.
pub fn moved_too_far(shown: Fixed9, now: Fixed9) -> bool {
    let (shown, now) = (shown.billionths(), now.billionths());
    let off = now.saturating_sub(shown).saturating_abs();
    off.saturating_mul(100) > shown.saturating_mul(PERCENT)
}

/// The cash to reserve for a queued buy: enough for any fill within the collar. None if it is not positive or exceeds
/// 64 bits.
pub fn reserve(size: Size, shown: Fixed9) -> Option<i64> {
    let minor = match size {
        Size::Cash(minor) => minor,
        Size::Shares(quantity) => {
            let worth = quantity.billionths().checked_mul(shown.billionths())?;
            // A result that fits into 64 bits cannot overflow 128 bits here.
            let raised = worth.checked_mul(100 + PERCENT)?;
            i64::try_from(divide_up(raised, 100 * CENT)).ok()?
        }
    };
    (minor > 0).then_some(minor)
}
