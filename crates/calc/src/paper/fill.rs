//! Fills one order at once and completely at a reference price.

use base::Fixed9;

use super::{BOUND, CENT, Position, Side, Size, divide_up};

/// A ten-thousandth of a dollar, in billionths: the rounding of a price with slippage.
const TICK: i128 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    pub side: Side,
    pub price: Fixed9,
    pub quantity: Fixed9,
    /// The cash paid or received, never negative.
    pub cash_minor: i64,
    /// The increase of the position's basis by a buy, or its decrease by a sell.
    pub basis_minor: i64,
    pub realised_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderRejection {
    NoPrice,
    /// The order is for nothing, or for less than a billionth of a share or a cent.
    TooSmall,
    TooLarge,
    NotEnoughShares {
        held: Fixed9,
    },
}

/// Fills an order. A buy costs at most its cash amount. A sell for an amount of cash brings exactly that amount, unless
/// the position is worth less: then it sells the whole position. A sell that would leave less than a cent's worth sells
/// that too.
pub fn fill(
    side: Side,
    size: Size,
    reference: Fixed9,
    slippage_basis_points: u32,
    position: Position,
) -> Result<Fill, OrderRejection> {
    let price = slipped(side, reference, slippage_basis_points)?;
    match side {
        Side::Buy => buy(size, price, position),
        Side::Sell => sell(size, price, position),
    }
}

/// The reference price moved against the person by the slippage, and rounded half up to four decimals. Without
/// slippage it stays as it is.
pub(super) fn slipped(
    side: Side,
    reference: Fixed9,
    basis_points: u32,
) -> Result<Fixed9, OrderRejection> {
    let price = match (side, i128::from(basis_points)) {
        (_, 0) => reference.billionths(),
        (Side::Buy, points) => rounded_share(reference, 10_000 + points)?,
        (Side::Sell, points) => rounded_share(reference, 10_000 - points)?,
    };
    if reference <= Fixed9::ZERO || price <= 0 {
        return Err(OrderRejection::NoPrice);
    }
    Ok(Fixed9::from_billionths(price))
}

fn rounded_share(reference: Fixed9, ten_thousandths: i128) -> Result<i128, OrderRejection> {
    let divisor = 10_000 * TICK;
    let scaled = reference.billionths().checked_mul(ten_thousandths);
    let raised =
        scaled.and_then(|it| it.checked_add(divisor / 2)).ok_or(OrderRejection::TooLarge)?;
    Ok(raised.div_euclid(divisor) * TICK)
}

fn buy(size: Size, price: Fixed9, position: Position) -> Result<Fill, OrderRejection> {
    let quantity = match size {
        Size::Shares(quantity) => quantity.billionths(),
        // The most shares that the cash pays for.
        Size::Cash(minor) => i128::from(minor) * CENT / price.billionths(),
    };
    if quantity <= 0 {
        return Err(OrderRejection::TooSmall);
    }
    let cost = i64::try_from(divide_up(worth(quantity, price)?, CENT));
    let cost = cost.map_err(|_| OrderRejection::TooLarge)?;
    let held = position.quantity.billionths().checked_add(quantity);
    if held.is_none_or(|it| it >= BOUND) || position.basis_minor.checked_add(cost).is_none() {
        return Err(OrderRejection::TooLarge);
    }
    Ok(Fill {
        side: Side::Buy,
        price,
        quantity: Fixed9::from_billionths(quantity),
        cash_minor: cost,
        basis_minor: cost,
        realised_minor: 0,
    })
}

fn sell(size: Size, price: Fixed9, position: Position) -> Result<Fill, OrderRejection> {
    let held = position.quantity.billionths();
    if held >= BOUND {
        return Err(OrderRejection::TooLarge);
    }
    let (requested, is_short) = match size {
        Size::Shares(quantity) => (quantity.billionths(), quantity > position.quantity),
        // The fewest shares that bring the cash.
        Size::Cash(minor) => (divide_up(i128::from(minor) * CENT, price.billionths()), held <= 0),
    };
    if requested <= 0 {
        return Err(OrderRejection::TooSmall);
    }
    if is_short {
        return Err(OrderRejection::NotEnoughShares { held: position.quantity });
    }
    let quantity = requested.min(held);
    let leaves_dust = worth(held - quantity, price).is_ok_and(|it| it < CENT);
    let sold = if leaves_dust { held } else { quantity };
    let proceeds =
        i64::try_from(worth(sold, price)? / CENT).map_err(|_| OrderRejection::TooLarge)?;
    // Rounding the shares up, or selling the rest too, must not bring more than was asked for.
    let proceeds = match size {
        Size::Shares(_) => proceeds,
        Size::Cash(minor) => proceeds.min(minor),
    };
    // A worthless position may be sold whole, but a part of a position is never sold for nothing.
    if proceeds == 0 && sold < held {
        return Err(OrderRejection::TooSmall);
    }
    let released = share_of(position.basis_minor, sold, held);
    Ok(Fill {
        side: Side::Sell,
        price,
        quantity: Fixed9::from_billionths(sold),
        cash_minor: proceeds,
        basis_minor: released,
        realised_minor: proceeds.checked_sub(released).ok_or(OrderRejection::TooLarge)?,
    })
}

fn worth(quantity: i128, price: Fixed9) -> Result<i128, OrderRejection> {
    quantity.checked_mul(price.billionths()).ok_or(OrderRejection::TooLarge)
}

/// `basis * part / whole`, rounded half to even; all of it for the whole. The product may exceed 128 bits, so the
/// upper half of the basis is divided first and its remainder carried down.
fn share_of(basis_minor: i64, part: i128, whole: i128) -> i64 {
    let (upper, lower) = (i128::from(basis_minor >> 32), i128::from(basis_minor & 0xffff_ffff));
    let (quotient, rest) = ((upper * part) / whole, (upper * part) % whole);
    let share = (quotient << 32) + base::divide_half_even((rest << 32) + lower * part, whole);
    i64::try_from(share).unwrap_or(basis_minor)
}
