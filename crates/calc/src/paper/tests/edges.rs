//! Edge cases: rejected orders, rounding, and selling the rest.

use super::*;

fn buy(size: Size, reference: &str) -> Result<Fill, OrderRejection> {
    fill(Side::Buy, size, fixed(reference), 0, Position::default())
}

fn sell(size: Size, reference: &str, held: Position) -> Result<Fill, OrderRejection> {
    fill(Side::Sell, size, fixed(reference), 0, held)
}

#[test]
fn a_price_slips_against_the_person_and_is_rounded_half_up() {
    let price = |side, reference: &str, points| {
        fill(side, shares("1"), fixed(reference), points, position("9", 0)).map(|it| it.price)
    };
    assert_eq!(price(Side::Buy, "0.5", 1), Ok(fixed("0.5001")));
    assert_eq!(price(Side::Buy, "1.5", 1), Ok(fixed("1.5002")));
    assert_eq!(price(Side::Sell, "1.5", 1), Ok(fixed("1.4999")));
    assert_eq!(price(Side::Buy, "1.49", 1), Ok(fixed("1.4901")));
    assert_eq!(price(Side::Buy, "1.123456789", 0), Ok(fixed("1.123456789")));
    assert_eq!(price(Side::Sell, "10", 10_000), Err(OrderRejection::NoPrice));
    assert_eq!(price(Side::Sell, "10", u32::MAX), Err(OrderRejection::NoPrice));
    assert_eq!(price(Side::Buy, "0.00004", 1), Err(OrderRejection::NoPrice));
}

#[test]
fn without_a_price_there_is_no_fill() {
    for reference in ["0", "-1"] {
        for points in [0, SLIPPAGE, 20_000] {
            for side in [Side::Buy, Side::Sell] {
                let held = position("1", 1);
                let answer = fill(side, shares("1"), fixed(reference), points, held);
                assert_eq!(answer, Err(OrderRejection::NoPrice), "{reference} {points}");
            }
        }
    }
}

#[test]
fn a_buy_costs_whole_cents_rounded_up() {
    assert_eq!(buy(shares("1"), "10.001").map(|it| it.cash_minor), Ok(1_001));
    assert_eq!(buy(shares("1"), "10.01").map(|it| it.cash_minor), Ok(1_001));
    assert_eq!(buy(shares("0.000000001"), "0.01").map(|it| it.cash_minor), Ok(1));
    let third = buy(Size::Cash(100), "3").unwrap();
    assert_eq!((third.quantity, third.cash_minor), (fixed("0.333333333"), 100));
}

#[test]
fn a_sell_brings_whole_cents_rounded_down() {
    let proceeds = |size| sell(size, "10.019", position("5", 4_000)).map(|it| it.cash_minor);
    assert_eq!(proceeds(shares("1")), Ok(1_001));
    assert_eq!(proceeds(Size::Cash(1_001)), Ok(1_001));
}

#[test]
fn a_sell_for_cash_brings_exactly_that_cash() {
    let held = position("5", 90_000);
    let fifty = fill(Side::Sell, Size::Cash(5_000), fixed("187.10"), SLIPPAGE, held).unwrap();
    assert_eq!((fifty.price, fifty.quantity), (fixed("187.0065"), fixed("0.267370386")));
    assert_eq!(fifty.cash_minor, 5_000);
    // The shares that bring a third of a dollar would bring a little more, and the rest is worth less than a cent.
    let all = sell(Size::Cash(33), "1", position("0.335", 1)).unwrap();
    assert_eq!((all.quantity, all.cash_minor), (fixed("0.335"), 33));
    // A position that is worth less is sold whole.
    let short =
        fill(Side::Sell, Size::Cash(5_000), fixed("50"), SLIPPAGE, position("1", 1)).unwrap();
    assert_eq!((short.quantity, short.cash_minor), (fixed("1"), 4_997));
    // At this price the smallest part of a share is worth two cents.
    let dear = sell(Size::Cash(5_001), "20000000", position("1", 1)).unwrap();
    assert_eq!((dear.quantity, dear.cash_minor), (fixed("0.000002501"), 5_001));
}

#[test]
fn an_order_worth_less_than_a_cent_is_too_small() {
    for size in [shares("0"), shares("-1"), Size::Cash(0), Size::Cash(-5)] {
        assert_eq!(buy(size, "10"), Err(OrderRejection::TooSmall));
        assert_eq!(sell(size, "10", position("1", 1)), Err(OrderRejection::TooSmall));
    }
    assert_eq!(buy(Size::Cash(1), "100000000"), Err(OrderRejection::TooSmall));
    // A fraction worth less than a cent cannot be sold.
    assert_eq!(sell(shares("0.0001"), "10", position("1", 1)), Err(OrderRejection::TooSmall));
}

#[test]
fn shares_that_are_not_held_cannot_be_sold() {
    let held = position("1.5", 1_000);
    let refused = Err(OrderRejection::NotEnoughShares { held: fixed("1.5") });
    assert_eq!(sell(shares("1.500000001"), "10", held), refused);
    assert_eq!(sell(Size::Cash(9_999), "10", held).map(|it| it.quantity), Ok(fixed("1.5")));
    let none_held = Err(OrderRejection::NotEnoughShares { held: Fixed9::ZERO });
    assert_eq!(sell(Size::Cash(100), "10", Position::default()), none_held);
    assert_eq!(sell(shares("1"), "10", Position::default()), none_held);
}

#[test]
fn a_rest_worth_less_than_a_cent_is_sold_too() {
    let held = position("1.001", 1_000);
    assert_eq!(sell(shares("1"), "10", held).map(|it| it.quantity), Ok(fixed("1")));
    let all = sell(shares("1"), "9.99", held).unwrap();
    assert_eq!((all.quantity, all.cash_minor), (fixed("1.001"), 999));
    assert_eq!((all.basis_minor, all.realised_minor), (1_000, -1));
}

#[test]
fn a_worthless_position_can_be_sold() {
    let all = sell(shares("0.5"), "0.01", position("0.5", 70)).unwrap();
    assert_eq!((all.cash_minor, all.basis_minor, all.realised_minor), (0, 70, -70));
}

#[test]
fn basis_is_released_half_to_even() {
    let released = |basis| sell(shares("1"), "10", position("2", basis)).unwrap().basis_minor;
    assert_eq!((released(1), released(3), released(5)), (0, 2, 2));
    let third = sell(shares("1"), "10", position("3", 100)).unwrap();
    assert_eq!((third.basis_minor, third.realised_minor), (33, 967));
    // The product exceeds 128 bits.
    let vast = position("9999999999999999999", i64::MAX);
    let part = sell(shares("4999999999999999999.5"), "0.01", vast).unwrap();
    assert_eq!(part.basis_minor, 4_611_686_018_427_387_904);
}

#[test]
fn an_order_that_would_overflow_is_too_large() {
    let most = "9999999999999999999.999999999";
    assert_eq!(buy(shares(most), "1"), Err(OrderRejection::TooLarge));
    assert_eq!(buy(shares(most), most), Err(OrderRejection::TooLarge));
    assert!(buy(Size::Cash(i64::MAX), most).is_ok_and(|it| it.quantity == fixed("0.009223372")));
    assert_eq!(buy(Size::Cash(i64::MAX), "1").map(|it| it.cash_minor), Ok(i64::MAX));
    let more = |held| fill(Side::Buy, shares("1"), fixed("0.01"), SLIPPAGE, held);
    assert_eq!(more(position("1", i64::MAX)), Err(OrderRejection::TooLarge));
    assert_eq!(more(position(most, 1)), Err(OrderRejection::TooLarge));
    assert_eq!(more(position("9999999999999999999", 1)), Err(OrderRejection::TooLarge));
    assert!(more(position("9999999999999999998.999999999", 1)).is_ok());
    assert_eq!(sell(shares("1"), most, position("1", 1)), Err(OrderRejection::TooLarge));
    let outgrown = Position { quantity: Fixed9::from_billionths(i128::MAX), basis_minor: 1 };
    assert_eq!(sell(shares("1"), "1", outgrown), Err(OrderRejection::TooLarge));
}

#[test]
fn a_price_may_move_by_two_percent_and_no_more() {
    let far = |now: &str| moved_too_far(fixed("50"), fixed(now));
    assert!(!far("51") && !far("49") && !far("50"));
    assert!(far("51.000000001") && far("48.999999999") && far("0"));
    assert!(moved_too_far(Fixed9::ZERO, fixed("1")));
}

#[test]
fn a_queued_buy_reserves_two_percent_more_and_the_slippage() {
    let reserve = |size, shown| super::reserve(size, shown, 0);
    assert_eq!(super::reserve(shares("3"), fixed("190"), SLIPPAGE), Some(58_170));
    assert_eq!(super::reserve(Size::Cash(50_075), fixed("190"), SLIPPAGE), Some(50_075));
    assert_eq!(reserve(shares("3"), fixed("190")), Some(58_140));
    assert_eq!(reserve(shares("0.000000001"), fixed("0.000000001")), Some(1));
    // Slightly more than 1.02 cents.
    assert_eq!(reserve(shares("1"), fixed("0.010000001")), Some(2));
    assert_eq!(reserve(shares("50"), fixed("0.01")), Some(51));
    assert_eq!(reserve(Size::Cash(50_075), fixed("190")), Some(50_075));
    assert_eq!(reserve(Size::Cash(0), fixed("190")), None);
    assert_eq!(reserve(shares("1"), Fixed9::ZERO), None);
    assert_eq!(reserve(shares("9999999999999999999"), fixed("1")), None);
}

#[test]
fn a_split_pays_cash_in_lieu_of_what_it_rounds_off() {
    // Two thirds of a billionth, at thirty million dollars a share, are two cents.
    let held = position("0.000000005", 30);
    let made = split(held, 1, 3, fixed("30000000"));
    assert_eq!((made.position, made.in_lieu_minor), (position("0.000000001", 28), 2));
    assert_eq!((made.in_lieu_quantity, made.realised_minor), (fixed("0.000000002"), 0));
    // Nothing was paid, so nothing is released.
    assert_eq!(split(held, 1, 3, fixed("3")).position.basis_minor, 30);
    // A basis without shares could never be released.
    let gone = split(held, 1, 7, fixed("70"));
    assert_eq!((gone.position, gone.realised_minor), (Position::default(), -30));
}

#[test]
fn an_invalid_split_changes_nothing() {
    let held = position("9999999999999999999", 5);
    for (to, from) in [(0, 1), (1, 0), (0, 0), (2, 1), (u32::MAX, 1)] {
        assert_eq!(split(held, to, from, fixed("1")).position, held);
    }
    let outgrown = Position { quantity: Fixed9::from_billionths(i128::MAX), basis_minor: 1 };
    assert_eq!(split(outgrown, 3, 2, fixed("1")).position, outgrown);
    assert_eq!(split(Position::default(), 2, 1, fixed("1")).position, Position::default());
}

#[test]
fn a_dividend_is_paid_in_whole_cents() {
    assert_eq!(dividend(fixed("3"), fixed("0.2599")), 77);
    assert_eq!(dividend(fixed("0.01"), fixed("0.25")), 0);
    assert_eq!(dividend(Fixed9::ZERO, fixed("1")), 0);
    assert_eq!(dividend(fixed("-1"), fixed("1")), 0);
    assert_eq!(dividend(fixed("1"), fixed("-1")), 0);
    assert_eq!(dividend(fixed("9999999999999999999"), fixed("9999999999999999999")), i64::MAX);
}
