//! Random sequences of trades and corporate actions: the ledger agrees with a simple model to the cent.

use std::collections::BTreeMap;

use base::{Fixed9, Timestamp, date_from_days, days_from_date};
use calc::paper::{Side, Size, moved_too_far};
use db::params;
use service::actions::{self, Action, NewAction, Status};
use service::platform::cursors::Page;
use service::trading::paper::{self, EntryKind};
use sources::market::calendar::{self, Hours};
use sources::market::{ActionTerms, CorporateAction};

use super::model::{Model, Refusal};
use super::once::cancel;
use super::{ActionsFixture, approve, seen, status_and_error};
use crate::is_conflict;

const SYMBOLS: [&str; 3] = ["AAPL", "VTI", "XYZ"];
const CASH_MINOR: i64 = 1_000_000;
/// Kinds of ledger entries that must occur for the test to mean something.
const KINDS: [&str; 6] = ["buy", "sell", "split", "dividend", "reserve", "release"];

/// Seeded random numbers, so that a failure can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }
}

#[derive(Clone)]
struct Order {
    action: Action,
    side: Side,
    symbol: &'static str,
    size: Size,
}

struct Queued {
    order: Order,
    shown: Fixed9,
    reserved: i64,
}

/// The real account, the model of it, and the state of the simulated market.
struct Simulation {
    fixture: ActionsFixture,
    model: Model,
    random: Random,
    prices: BTreeMap<&'static str, Fixed9>,
    pending: Vec<Order>,
    queued: Vec<Queued>,
    /// Corporate actions that take effect at the next opening.
    announced: Vec<(&'static str, ActionTerms)>,
    log: Vec<String>,
}

#[tokio::test]
async fn the_ledger_matches_the_model_after_any_sequence_of_trades() {
    let mut seen = [0; KINDS.len()];
    for seed in 0..10 {
        let mut simulation = Simulation::new(seed).await;
        for _ in 0..60 {
            simulation.step().await;
            simulation.check(seed).await;
        }
        // Trades that are still queued are filled as well.
        simulation.open_market().await;
        simulation.check(seed).await;
        assert_eq!(simulation.model.reserved, 0, "seed {seed}");
        for (count, kind) in seen.iter_mut().zip(KINDS) {
            *count += simulation.fixture.count_entries(kind).await;
        }
    }
    assert!(seen.iter().all(|it| *it >= 5), "too few entries of some kind: {KINDS:?} {seen:?}");
}

impl Simulation {
    async fn new(seed: u64) -> Simulation {
        let fixture = ActionsFixture::new().await;
        let price = |text: &str| Fixed9::parse(text).unwrap();
        let prices = [("AAPL", price("187.1")), ("VTI", price("50")), ("XYZ", price("3.3337"))];
        let mut simulation = Simulation {
            fixture,
            model: Model::with(CASH_MINOR),
            random: Random(seed),
            prices: prices.into(),
            pending: Vec::new(),
            queued: Vec::new(),
            announced: Vec::new(),
            log: Vec::new(),
        };
        simulation.publish_prices();
        simulation
    }

    fn now(&self) -> Timestamp {
        self.fixture.world.clock.now()
    }

    fn publish_prices(&mut self) {
        // Longer than a quote may be reused.
        self.fixture.world.advance_seconds(2);
        for (symbol, price) in &self.prices {
            self.fixture.world.market.set(symbol, &price.to_string(), None);
        }
    }

    /// Moves each price by up to three percent up or down, to a ten-thousandth of a dollar.
    fn move_prices(&mut self) {
        for symbol in SYMBOLS {
            let thousandths = 970 + i128::from(self.random.below(61));
            let moved = self.prices[symbol].billionths() * thousandths / 1_000 / 100_000 * 100_000;
            self.prices.insert(symbol, Fixed9::from_billionths(moved));
        }
        self.publish_prices();
    }

    async fn step(&mut self) {
        match self.random.below(100) {
            0..40 => self.propose().await,
            40..65 => self.approve().await,
            65..70 => self.reject().await,
            70..75 => self.withdraw().await,
            75..85 => self.move_prices(),
            85..90 => self.announce(),
            90..94 => self.close_market(),
            _ => self.open_market().await,
        }
    }

    async fn propose(&mut self) {
        let symbol = SYMBOLS[self.random.pick(3)];
        let side = if self.random.chance(60) { Side::Buy } else { Side::Sell };
        let size = if self.random.chance(50) {
            Size::Cash(100 + self.random.below(400_000) as i64)
        } else {
            let billionths = [1_000_000_000, 1_000_000, 1_000, 1][self.random.pick(4)];
            let billionths = i128::from(1 + self.random.below(40_000)) * billionths;
            Size::Shares(Fixed9::from_billionths(billionths.min(40_000_000_000)))
        };
        let order = self.fixture.order(side, symbol, size);
        // The default lifetime outlasts the night; an hour does not.
        let lifetime = if self.random.chance(50) { None } else { Some(3_600) };
        let made = self.fixture.propose(NewAction { expires_in_seconds: lifetime, ..order }).await;
        let price = self.prices[symbol].billionths();
        let allowed = self.model.allows(side, symbol, size, price);
        self.log.push(format!("{side:?} {size:?} of {symbol} at {price}: {allowed:?}"));
        match made {
            Ok(action) => {
                assert_eq!(allowed, Ok(()), "{:#?}", self.log);
                self.pending.push(Order { action, side, symbol, size });
            }
            Err(error) => assert!(allowed.is_err(), "{error}: {:#?}", self.log),
        }
    }

    fn remove_pending(&mut self) -> Option<Order> {
        if self.pending.is_empty() {
            return None;
        }
        let index = self.random.pick(self.pending.len());
        Some(self.pending.swap_remove(index))
    }

    async fn approve(&mut self) {
        let Some(order) = self.remove_pending() else { return };
        let shown = self.prices[order.symbol];
        let (app, session) = (self.fixture.app(), &self.fixture.session);
        let approved = approve(app, session, &order.action, Some(shown)).await;
        if order.action.expires_at <= self.now() {
            self.log.push("approved too late".to_owned());
            is_conflict(approved);
            return;
        }
        let after = approved.unwrap();
        let is_open = matches!(calendar::hours(self.now()), Hours::Open { .. });
        self.log.push(format!("approved {}: {:?}", order.action.id, status_and_error(&after)));
        if is_open {
            let done = self.model.trade(order.side, order.symbol, order.size, shown.billionths());
            self.compare(&after, done);
            return;
        }
        // A sale reserves nothing, but must be possible with the current holdings.
        let reserved = match order.side {
            Side::Buy => self.model.reserve(order.size, shown.billionths()),
            Side::Sell => {
                let mut after = self.model.clone();
                after.trade(order.side, order.symbol, order.size, shown.billionths()).map(|()| 0)
            }
        };
        match reserved {
            Ok(reserved) => {
                assert_eq!(after.status, Status::Approved, "{:#?}", self.log);
                self.queued.push(Queued { order, shown, reserved });
            }
            Err(refusal) => self.compare(&after, Err(refusal)),
        }
    }

    fn compare(&self, after: &Action, done: Result<(), Refusal>) {
        let expected = match done {
            Ok(()) => ("executed", None),
            Err(refusal) => ("failed", Some(refusal.code())),
        };
        assert_eq!(status_and_error(after), expected, "{:#?}", self.log);
    }

    async fn reject(&mut self) {
        let Some(Order { action, .. }) = self.remove_pending() else { return };
        let (app, session) = (self.fixture.app(), &self.fixture.session);
        let rejected = actions::reject(app, session, action.id, seen(&action, None), None).await;
        assert_eq!(rejected.is_ok(), action.expires_at > self.now());
    }

    async fn withdraw(&mut self) {
        let Some(Order { action, .. }) = self.remove_pending() else { return };
        let cancelled = cancel(self.fixture.app(), &self.fixture.key.caller, action.id).await;
        assert_eq!(cancelled.is_ok(), action.expires_at > self.now());
    }

    fn announce(&mut self) {
        let symbol = SYMBOLS[self.random.pick(3)];
        if self.announced.iter().any(|it| it.0 == symbol) {
            return;
        }
        let terms = if self.random.chance(50) {
            ActionTerms::Split { to: 2 + self.random.below(2) as u32, from: 1 }
        } else {
            let each = Fixed9::from_billionths(i128::from(1 + self.random.below(900)) * 1_000_000);
            ActionTerms::Dividend { each, pay_on: base::Date::MIN }
        };
        self.announced.push((symbol, terms));
    }

    /// Closes the market at its current prices, if it is open.
    fn close_market(&mut self) {
        if let Hours::Open { closes_at } = calendar::hours(self.now()) {
            self.log.push("the market closes".to_owned());
            self.fixture.advance_to(closes_at);
            self.publish_prices();
        }
    }

    async fn open_market(&mut self) {
        self.close_market();
        let Hours::Closed { opens_at } = calendar::hours(self.now()) else {
            panic!("the market is open")
        };
        let ex_on = date_from_days(opens_at.as_second().div_euclid(86_400));
        assert!(days_from_date(ex_on) > 0);
        self.fixture.advance_to(opens_at);
        for (symbol, terms) in std::mem::take(&mut self.announced) {
            self.log.push(format!("{symbol}: {terms:?}"));
            let terms = match terms {
                ActionTerms::Split { to, .. } => {
                    self.model.split(symbol, i128::from(to));
                    let price = self.prices[symbol].billionths() / i128::from(to);
                    self.prices.insert(symbol, Fixed9::from_billionths(price));
                    terms
                }
                ActionTerms::Dividend { each, .. } => {
                    self.model.dividend(symbol, each.billionths());
                    ActionTerms::Dividend { each, pay_on: ex_on }
                }
            };
            let corporate_action = CorporateAction { symbol: symbol.to_owned(), ex_on, terms };
            self.fixture.world.market.add_corporate_action(corporate_action);
        }
        self.move_prices();
        self.log.push(format!("the market opens at {:?}", self.prices));
        paper::settle_once(self.fixture.app()).await.unwrap();
        actions::execute_once(self.fixture.app()).await.unwrap();
        actions::expire_once(self.fixture.app()).await.unwrap();
        self.fill_queued().await;
    }

    async fn fill_queued(&mut self) {
        let mut queued = std::mem::take(&mut self.queued);
        queued.sort_by_key(|it| it.order.action.id);
        for Queued { order, shown, reserved } in queued {
            let price = self.prices[order.symbol];
            self.model.release(reserved);
            let after = self.fixture.get(order.action.id).await;
            self.log.push(format!("filled {}: {:?}", order.action.id, status_and_error(&after)));
            if moved_too_far(shown, price) {
                assert_eq!(
                    status_and_error(&after),
                    ("failed", Some("PRICE_MOVED")),
                    "{:#?}",
                    self.log
                );
                continue;
            }
            let done = self.model.trade(order.side, order.symbol, order.size, price.billionths());
            self.compare(&after, done);
        }
    }

    async fn check(&self, seed: u64) {
        let (app, session) = (self.fixture.app(), &self.fixture.session);
        let stored = stored(&self.fixture).await;
        assert_eq!(stored, self.model, "seed {seed}: {:#?}", self.log);
        let Model { deposited, cash, reserved, realised, dividends, .. } = stored;
        assert!(cash >= 0 && reserved >= 0 && stored.held.values().all(|it| it.0 > 0 && it.1 >= 0));
        assert_eq!(cash + reserved, deposited + realised + dividends - stored.cost_of_all());
        let found = paper::verify(app, session).await.unwrap();
        assert_eq!(found.faults, [""; 0], "seed {seed}: {:#?}", self.log);
        self.check_history(seed, &stored).await;
    }

    /// The activity adds up to the cash and the reserved cash, and the trades are its buys and sells.
    async fn check_history(&self, seed: u64, stored: &Model) {
        let (app, session, id) = (self.fixture.app(), &self.fixture.session, self.fixture.account);
        let (mut activity, mut cursor) = (Vec::new(), None);
        loop {
            let page = Page { cursor: cursor.as_deref(), limit: 7 };
            let history = paper::list_activity(app, session, id, page).await.unwrap();
            activity.extend(history.rows);
            cursor = history.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let cash: i64 = activity.iter().map(|it| it.amount_minor).sum();
        let reserved: i64 = activity.iter().map(|it| it.reserved_minor).sum();
        assert_eq!((cash - reserved, reserved), (stored.cash, stored.reserved), "seed {seed}");
        let (mut trades, mut cursor) = (Vec::new(), None);
        loop {
            let page = Page { cursor: cursor.as_deref(), limit: 3 };
            let history = paper::list_trades(app, session, id, page).await.unwrap();
            trades.extend(history.rows.into_iter().map(|it| it.id));
            cursor = history.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let is_trade = |it: &&paper::Activity| matches!(it.kind, EntryKind::Buy | EntryKind::Sell);
        let expected: Vec<_> = activity.iter().filter(is_trade).map(|it| it.id).collect();
        assert_eq!(trades, expected, "seed {seed}");
        let account = paper::get_account(app, session, id).await.unwrap();
        assert_eq!(account.trade_count, trades.len() as i64, "seed {seed}");
    }
}

/// The account as stored in the database, in the form of the model.
async fn stored(fixture: &ActionsFixture) -> Model {
    let (db, values) = (&fixture.app().db, params![fixture.session.user, fixture.account]);
    let sql = "select deposited_minor, cash_minor, reserved_minor, realised_minor, dividends_minor
        from paper_accounts where user_id = $1 and id = $2";
    let model = db.first(sql, values, |row| {
        Ok(Model {
            deposited: row.get(0)?,
            cash: row.get(1)?,
            reserved: row.get(2)?,
            realised: row.get(3)?,
            dividends: row.get(4)?,
            held: BTreeMap::new(),
        })
    });
    let mut model = model.await.unwrap().unwrap();
    let sql = "select symbol, quantity, basis_minor from paper_positions
        where user_id = $1 and account_id = $2";
    let held = db.all(sql, values, |row| {
        let quantity = Fixed9::parse(row.get(1)?).unwrap().billionths();
        Ok((row.get::<String>(0)?, (quantity, row.get::<i64>(2)?)))
    });
    model.held = held.await.unwrap().into_iter().collect();
    model
}
