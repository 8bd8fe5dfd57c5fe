//! The price collar: how far a price may move between the quote shown to the person and the fill, and the cash to
//! reserve for it.

use base::Fixed9;

use super::fill::slipped;
use super::{CENT, Side, Size, divide_up};

const PERCENT: i128 = 2;

/// Compares the shown price with the market's price at the fill, exactly: two percent is still allowed. Slippage comes on
/// top of it.
pub fn moved_too_far(shown: Fixed9, now: Fixed9) -> bool {
    let (shown, now) = (shown.billionths(), now.billionths());
    let off = now.saturating_sub(shown).saturating_abs();
    off.saturating_mul(100) > shown.saturating_mul(PERCENT)
}

/// The cash to reserve for a queued buy: enough for any fill within the collar, with slippage. None if it is not
/// positive or exceeds 64 bits.
pub fn reserve(size: Size, shown: Fixed9, slippage_basis_points: u32) -> Option<i64> {
    let minor = match size {
        Size::Cash(minor) => minor,
        Size::Shares(quantity) => {
            let highest = divide_up(shown.billionths().checked_mul(100 + PERCENT)?, 100);
            let highest = Fixed9::from_billionths(highest);
            let price = slipped(Side::Buy, highest, slippage_basis_points).ok()?;
            let worth = quantity.billionths().checked_mul(price.billionths())?;
            i64::try_from(divide_up(worth, CENT)).ok()?
        }
    };
    (minor > 0).then_some(minor)
}
