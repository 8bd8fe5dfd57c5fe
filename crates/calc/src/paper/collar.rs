//! How far a price may move between what the person saw and the fill, and the cash that covers it.

use base::Fixed9;

use super::{CENT, Size, divide_up};

const PERCENT: i128 = 2;

/// Compares the price that was shown with that of the fill, exactly: two percent is not too far.
pub fn moved_too_far(shown: Fixed9, now: Fixed9) -> bool {
    let (shown, now) = (shown.billionths(), now.billionths());
    let off = now.saturating_sub(shown).saturating_abs();
    off.saturating_mul(100) > shown.saturating_mul(PERCENT)
}

/// What a queued buy puts aside: enough for any fill that has not moved too far. None of what is
/// not positive, or has no place in 64 bits.
pub fn reserve(size: Size, shown: Fixed9) -> Option<i64> {
    let minor = match size {
        Size::Cash(minor) => minor,
        Size::Shares(quantity) => {
            let worth = quantity.billionths().checked_mul(shown.billionths())?;
            // Whatever fits into 64 bits in the end has room for the hundredths on the way.
            let raised = worth.checked_mul(100 + PERCENT)?;
            i64::try_from(divide_up(raised, 100 * CENT)).ok()?
        }
    };
    (minor > 0).then_some(minor)
}
