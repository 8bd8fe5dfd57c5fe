//! Properties of paper trading that hold for all sequences of events.

use proptest::prelude::*;

use super::*;

const SYMBOLS: [&str; 2] = ["ACME", "ZETA"];

/// The largest amount of one event: sixty of them still add up within 64 bits.
const MAX_EVENT_MINOR: i64 = 10_i64.pow(16);

#[derive(Debug, Clone)]
enum Event {
    Deposit(i64),
    Order { side: Side, size: Size, reference: Fixed9, points: u32, symbol: usize },
    Reserve(i64),
    Release(i64),
    Split { to: u32, from: u32, price: Fixed9, symbol: usize },
    Dividend { each: Fixed9, symbol: usize },
}

fn any_fixed(most: i128) -> impl Strategy<Value = Fixed9> {
    let scales = prop::sample::select(vec![1, 100_000, 10_000_000, 1_000_000_000]);
    (1..=most, scales)
        .prop_map(move |(value, scale)| Fixed9::from_billionths((value / scale * scale).max(1)))
}

fn any_price() -> impl Strategy<Value = Fixed9> {
    prop_oneof![
        8 => any_fixed(1_000_000_000_000),
        1 => any_fixed(1_000_000),
        1 => any_fixed(10_i128.pow(18)),
    ]
}

fn any_size() -> impl Strategy<Value = Size> {
    prop_oneof![
        any_fixed(100_000_000_000).prop_map(Size::Shares),
        (1..1_000_000_i64).prop_map(Size::Cash),
    ]
}

fn any_side() -> impl Strategy<Value = Side> {
    prop::sample::select(Side::ALL)
}

fn any_points() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0, 1, 5, 50, 9_999])
}

fn any_position() -> impl Strategy<Value = Position> {
    (any_fixed(10_i128.pow(13)), 0..10_i64.pow(12))
        .prop_map(|(quantity, basis_minor)| Position { quantity, basis_minor })
}

fn any_event() -> impl Strategy<Value = Event> {
    let symbol = 0..SYMBOLS.len();
    let order = (any_side(), any_size(), any_price(), any_points(), symbol.clone());
    let order = order.prop_map(|(side, size, reference, points, symbol)| Event::Order {
        side,
        size,
        reference,
        points,
        symbol,
    });
    let split = (1..20_u32, 1..20_u32, any_price(), symbol.clone());
    let split =
        split.prop_map(|(to, from, price, symbol)| Event::Split { to, from, price, symbol });
    let dividend = (any_fixed(5_000_000_000), symbol);
    prop_oneof![
        2 => (1..10_000_000_i64).prop_map(Event::Deposit),
        8 => order,
        2 => (1..1_000_000_i64).prop_map(Event::Reserve),
        2 => (1..1_000_000_i64).prop_map(Event::Release),
        1 => split,
        1 => dividend.prop_map(|(each, symbol)| Event::Dividend { each, symbol }),
    ]
}

/// The legs of an event, if the balances allow it.
fn legs_of(event: &Event, books: &Balances) -> Option<Vec<Leg>> {
    match *event {
        Event::Deposit(minor) => Some(entries::deposit(minor)),
        Event::Order { side, size, reference, points, symbol } => {
            let held = books.position(SYMBOLS[symbol]);
            let fill = fill(side, size, reference, points, held).ok()?;
            let most = if side == Side::Buy { books.cash() } else { MAX_EVENT_MINOR };
            (fill.cash_minor <= most).then(|| entries::trade(SYMBOLS[symbol], &fill))
        }
        Event::Reserve(minor) => Some(entries::reservation(minor.min(books.cash()))),
        Event::Release(minor) => Some(entries::release(minor.min(books.reserved()))),
        Event::Split { to, from, price, symbol } => {
            let held = books.position(SYMBOLS[symbol]);
            Some(entries::split(SYMBOLS[symbol], held, &split(held, to, from, price)))
        }
        Event::Dividend { each, symbol } => {
            let held = books.position(SYMBOLS[symbol]);
            Some(entries::dividend(dividend(held.quantity, each).min(MAX_EVENT_MINOR)))
        }
    }
}

fn worth(quantity: Fixed9, price: Fixed9) -> i128 {
    quantity.billionths() * price.billionths()
}

proptest! {
    #[test]
    fn the_books_add_up_to_the_cent_after_every_event(
        events in prop::collection::vec(any_event(), 1..60),
    ) {
        let mut books = Balances::default();
        let mut ledger = Vec::new();
        for event in &events {
            let Some(legs) = legs_of(event, &books) else { continue };
            prop_assert!(entries::are_balanced(&legs));
            books.apply(&legs);
            ledger.extend(legs);

            let positions = books.positions();
            let basis: i64 = positions.values().map(|it| it.basis_minor).sum();
            prop_assert_eq!(basis, books.basis_total());
            prop_assert_eq!(
                books.cash() + books.reserved(),
                books.deposits() + books.realised() + books.dividends() - basis
            );
            prop_assert!(books.cash() >= 0 && books.reserved() >= 0);
            let is_valid = |it: &Position| it.quantity > Fixed9::ZERO && it.basis_minor >= 0;
            prop_assert!(positions.values().all(is_valid), "{:?}", positions);
        }
        let mut replayed = Balances::default();
        replayed.apply(&ledger);
        prop_assert_eq!(replayed, books);
    }

    #[test]
    fn a_fill_rounds_by_less_than_a_cent_and_never_in_the_persons_favor(
        side in any_side(), size in any_size(), reference in any_price(), points in any_points(),
        held in any_position(),
    ) {
        let Ok(fill) = fill(side, size, reference, points, held) else { return Ok(()) };
        let exact = worth(fill.quantity, fill.price);
        let cash = i128::from(fill.cash_minor) * CENT;
        let lost = if side == Side::Buy { cash - exact } else { exact - cash };
        let is_cash_sale = side == Side::Sell && matches!(size, Size::Cash(_));
        // A sale for cash may take up to a billionth of a share more than it brings.
        let most = if is_cash_sale { CENT + fill.price.billionths() } else { CENT };
        prop_assert!((0..most).contains(&lost));
        if let Size::Cash(minor) = size {
            prop_assert!(fill.cash_minor <= minor);
            let sold_all = fill.quantity == held.quantity;
            prop_assert!(!is_cash_sale || sold_all || fill.cash_minor == minor);
        }
        match side {
            Side::Buy => {
                prop_assert_eq!(fill.basis_minor, fill.cash_minor);
                prop_assert_eq!(fill.realised_minor, 0);
            }
            Side::Sell => {
                prop_assert_eq!(fill.realised_minor, fill.cash_minor - fill.basis_minor);
                prop_assert!((0..=held.basis_minor).contains(&fill.basis_minor));
            }
        }
    }

    #[test]
    fn selling_the_whole_position_leaves_no_basis(
        held in any_position(), reference in any_price(), points in 0..9_000_u32,
    ) {
        let whole = Size::Shares(held.quantity);
        if let Ok(fill) = fill(Side::Sell, whole, reference, points, held) {
            prop_assert_eq!((fill.quantity, fill.basis_minor), (held.quantity, held.basis_minor));
        }
    }

    #[test]
    fn the_rest_after_a_sale_is_zero_or_worth_a_cent(
        size in any_size(), held in any_position(), reference in any_price(),
    ) {
        let Ok(fill) = fill(Side::Sell, size, reference, 5, held) else { return Ok(()) };
        let left = held.quantity.billionths() - fill.quantity.billionths();
        prop_assert!(left == 0 || left * fill.price.billionths() >= CENT);
    }

    #[test]
    fn buying_and_selling_at_once_never_gains(
        size in any_size(), reference in any_price(), points in any_points(),
    ) {
        let Ok(bought) = fill(Side::Buy, size, reference, points, Position::default()) else {
            return Ok(());
        };
        let held = Position { quantity: bought.quantity, basis_minor: bought.basis_minor };
        let all = Size::Shares(bought.quantity);
        if let Ok(sold) = fill(Side::Sell, all, reference, points, held) {
            prop_assert!(sold.realised_minor <= 0 && sold.cash_minor <= bought.cash_minor);
        }
    }

    #[test]
    fn the_reserve_covers_every_fill_within_the_collar(
        size in any_size(), shown in any_price(), moved in 9_790..10_210_i128,
        points in prop::sample::select(vec![0, 1, 5, 50]),
    ) {
        let now = Fixed9::from_billionths(shown.billionths() * moved / 10_000);
        let Ok(fill) = fill(Side::Buy, size, now, points, Position::default()) else {
            return Ok(());
        };
        if !moved_too_far(shown, now) {
            prop_assert!(Some(fill.cash_minor) <= reserve(size, shown, points));
        }
    }

    #[test]
    fn a_split_keeps_value_and_basis_except_for_cash_in_lieu(
        held in any_position(), to in 1..50_u32, from in 1..50_u32, price in any_price(),
    ) {
        let made = split(held, to, from, price);
        // Everything is multiplied by `from`, so that no quotient is rounded.
        let (to, from) = (i128::from(to), i128::from(from));
        let before = worth(held.quantity, price) * to;
        let paid = i128::from(made.in_lieu_minor) * CENT;
        let after = (worth(made.position.quantity, price) + paid) * from;
        prop_assert!((0..CENT * from).contains(&(before - after)));
        let released = held.basis_minor - made.position.basis_minor;
        prop_assert_eq!(made.realised_minor, made.in_lieu_minor - released);
        if made.position.quantity > Fixed9::ZERO {
            prop_assert!((0..=made.in_lieu_minor).contains(&released));
        } else {
            prop_assert_eq!(made.position.basis_minor, 0);
        }
    }

    #[test]
    fn no_input_panics(
        side in any_side(), shares: bool, amount: i128, minor: i64, reference: i128, points: u32,
        quantity: i128, basis_minor: i64, to: u32, from: u32,
    ) {
        let fixed = Fixed9::from_billionths;
        let held = Position { quantity: fixed(quantity), basis_minor };
        let size_of = |amount| if shares { Size::Shares(fixed(amount)) } else { Size::Cash(minor) };
        let size = size_of(amount);
        let _ = fill(side, size, fixed(reference), points, held);
        let bounded = Position { quantity: fixed(quantity % BOUND), basis_minor };
        let _ = fill(side, size_of(amount % BOUND), fixed(reference % BOUND), points, bounded);
        let _ = split(held, to, from, fixed(reference));
        let _ = split(bounded, to, from, fixed(reference % BOUND));
        let _ = moved_too_far(fixed(amount), fixed(reference));
        let _ = reserve(size, fixed(reference), points);
        let _ = dividend(fixed(quantity), fixed(reference));
    }
}
