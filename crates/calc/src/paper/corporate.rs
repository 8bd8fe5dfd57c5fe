//! The effect of corporate actions on a position: splits and dividends.

use base::{Fixed9, divide_half_even};

use super::{BOUND, CENT, Position};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    pub position: Position,
    /// Cash paid for fractions smaller than a billionth of a new share.
    pub in_lieu_minor: i64,
    /// The number of old shares that were paid in cash, rounded down: in new shares it is always less than a quantity
    /// can express.
    pub in_lieu_quantity: Fixed9,
    pub realised_minor: i64,
}

/// Applies a split: `from` shares become `to`. Cash in lieu releases its part of the basis, but no more than was
/// paid, so that a split never realizes a loss, unless no shares are left to carry the basis. A position that would
/// overflow, or a split without a ratio, is left unchanged.
pub fn split(position: Position, to: u32, from: u32, price_after: Fixed9) -> Split {
    let unchanged =
        Split { position, in_lieu_minor: 0, in_lieu_quantity: Fixed9::ZERO, realised_minor: 0 };
    let (to, from) = (i128::from(to), i128::from(from));
    let parts = position.quantity.billionths().checked_mul(to).unwrap_or(0);
    if parts <= 0 || from == 0 || parts / from >= BOUND {
        return unchanged;
    }
    let (quantity, rest) = (parts / from, parts % from);
    let paid = rest.checked_mul(price_after.billionths().max(0)).unwrap_or(i128::MAX);
    let in_lieu_minor = i64::try_from(paid / (from * CENT)).unwrap_or(i64::MAX);
    let basis = position.basis_minor;
    let released = match quantity {
        0 => basis,
        _ => {
            let pro_rata = divide_half_even(i128::from(basis) * rest, parts);
            i64::try_from(pro_rata).unwrap_or(basis).min(in_lieu_minor)
        }
    };
    Split {
        position: Position {
            quantity: Fixed9::from_billionths(quantity),
            basis_minor: basis.saturating_sub(released),
        },
        in_lieu_minor,
        in_lieu_quantity: Fixed9::from_billionths(rest / to),
        realised_minor: in_lieu_minor.saturating_sub(released),
    }
}

/// The total dividend, rounded down to the cent.
pub fn dividend(quantity: Fixed9, each: Fixed9) -> i64 {
    if quantity <= Fixed9::ZERO || each <= Fixed9::ZERO {
        return 0;
    }
    let worth = quantity.billionths().checked_mul(each.billionths());
    worth.and_then(|it| i64::try_from(it / CENT).ok()).unwrap_or(i64::MAX)
}
