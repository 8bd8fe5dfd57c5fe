//! Tests of paper trading: the worked example, edge cases, and properties.

mod edges;
mod laws;

use super::*;

const SLIPPAGE: u32 = 5;

fn fixed(text: &str) -> Fixed9 {
    Fixed9::parse(text).unwrap()
}

fn shares(text: &str) -> Size {
    Size::Shares(fixed(text))
}

fn position(quantity: &str, basis_minor: i64) -> Position {
    Position { quantity: fixed(quantity), basis_minor }
}

/// Fills an order at the market price and books it.
fn trade(balances: &mut Balances, side: Side, size: Size, reference: &str) -> Fill {
    let held = balances.position("ACME");
    let fill = fill(side, size, fixed(reference), SLIPPAGE, held).unwrap();
    balances.apply(&entries::trade("ACME", &fill));
    fill
}

#[test]
fn the_worked_example_comes_out_to_the_cent() {
    let mut balances = Balances::default();
    balances.apply(&entries::deposit(1_000_000));

    let first = trade(&mut balances, Side::Buy, Size::Cash(50_075), "187.21");
    assert_eq!((first.price, first.quantity), (fixed("187.3036"), fixed("2.673467034")));
    assert_eq!((first.cash_minor, first.basis_minor, first.realised_minor), (50_075, 50_075, 0));

    let second = trade(&mut balances, Side::Buy, shares("3"), "190.00");
    assert_eq!((second.price, second.cash_minor), (fixed("190.095"), 57_029));
    assert_eq!(balances.position("ACME"), position("5.673467034", 107_104));

    let third = trade(&mut balances, Side::Sell, shares("2.5"), "195.00");
    assert_eq!((third.price, third.cash_minor), (fixed("194.9025"), 48_725));
    assert_eq!((third.basis_minor, third.realised_minor), (47_195, 1_530));
    let left = position("3.173467034", 59_909);
    assert_eq!(balances.position("ACME"), left);
    assert_eq!((balances.cash(), balances.realised()), (941_621, 1_530));

    let four_for_one = split(left, 4, 1, fixed("48.75"));
    assert_eq!(four_for_one.position, position("12.693868136", 59_909));
    assert_eq!((four_for_one.in_lieu_minor, four_for_one.in_lieu_quantity), (0, Fixed9::ZERO));
    let one_for_seven = split(left, 1, 7, fixed("1365"));
    assert_eq!(one_for_seven.position, position("0.453352433", 59_909));
    // 4.29e-10 new shares are three billionths of an old one.
    let in_lieu = (one_for_seven.in_lieu_minor, one_for_seven.in_lieu_quantity);
    assert_eq!(in_lieu, (0, fixed("0.000000003")));
}

#[test]
fn the_balances_reflect_every_entry() {
    let mut balances = Balances::default();
    balances.apply(&entries::deposit(1_000_000));
    balances.apply(&entries::reservation(51_000));
    assert_eq!((balances.cash(), balances.reserved()), (949_000, 51_000));
    balances.apply(&entries::release(51_000));
    trade(&mut balances, Side::Buy, Size::Cash(50_075), "187.21");
    balances.apply(&entries::dividend(64));
    assert_eq!((balances.cash(), balances.reserved()), (949_989, 0));
    assert_eq!((balances.deposits(), balances.dividends()), (1_000_000, 64));
    assert_eq!((balances.basis_total(), balances.realised()), (50_075, 0));
    assert_eq!(balances.positions().into_keys().collect::<Vec<_>>(), ["ACME"]);
    assert_eq!(balances.position("OTHER"), Position::default());

    let sold = trade(&mut balances, Side::Sell, shares("2.673467034"), "180");
    assert_eq!((sold.cash_minor, sold.realised_minor), (48_098, -1_977));
    assert!(balances.positions().is_empty());
    assert_eq!((balances.cash(), balances.basis_total()), (998_087, 0));
}

#[test]
fn an_entry_has_the_legs_of_its_event_and_no_empty_ones() {
    let held = position("5.673467034", 107_104);
    let sale = fill(Side::Sell, shares("2.5"), fixed("195"), SLIPPAGE, held).unwrap();
    let legs = entries::trade("ACME", &sale);
    let written: Vec<_> =
        legs.iter().map(|it| (it.book.as_str(), it.symbol.as_deref(), it.amount)).collect();
    let acme = Some("ACME");
    assert_eq!(
        written,
        [
            ("cash", None, 48_725),
            ("basis", acme, -47_195),
            ("realised", None, -1_530),
            ("shares", acme, -2_500_000_000),
            ("market", acme, 2_500_000_000),
        ]
    );
    assert_eq!(entries::split("ACME", held, &split(held, 2, 1, fixed("90"))).len(), 2);
    assert_eq!(entries::deposit(0), []);
    assert!(!entries::are_balanced(&legs[..4]) && !entries::are_balanced(&legs[1..]));
}
