//! The household's investments: securities with generated prices, and lots.

use base::draft::{AssetClass, SecurityKind};
use base::{Fixed9, Timestamp};

use super::accounts::Account;
use super::calendar::{Day, is_business_day};
use super::draw::Draw;

pub(super) struct Security {
    pub(super) symbol: Option<&'static str>,
    pub(super) name: &'static str,
    pub(super) kind: SecurityKind,
    pub(super) class: AssetClass,
    /// Today's price in ten-thousandths of a dollar.
    price: i64,
    /// The largest change of the price in a day, in millionths.
    swing: i64,
    /// The quarterly dividend in millionths of the value.
    pub(super) dividend: i64,
}

const fn security(
    symbol: &'static str,
    name: &'static str,
    kind: SecurityKind,
    class: AssetClass,
    numbers: [i64; 3],
) -> Security {
    let [price, swing, dividend] = numbers;
    Security { symbol: Some(symbol), name, kind, class, price, swing, dividend }
}

pub(super) const VTI: usize = 0;
pub(super) const AAPL: usize = 1;
const MSFT: usize = 2;
const BITCOIN: usize = 3;
pub(super) const VXUS: usize = 4;
pub(super) const BND: usize = 5;
const FXAIX: usize = 6;
const STABLE: usize = 7;

pub(super) const SECURITIES: [Security; 8] = {
    use AssetClass::{Crypto, Equity, FixedIncome, Fund};
    use SecurityKind::{Cryptocurrency, Etf, MutualFund};
    [
        security("VTI", "Vanguard Total Stock Market ETF", Etf, Fund, [296_4100, 14_000, 3_200]),
        security("AAPL", "Apple Inc.", SecurityKind::Equity, Equity, [228_7400, 24_000, 1_100]),
        security(
            "MSFT",
            "Microsoft Corporation",
            SecurityKind::Equity,
            Equity,
            [441_0600, 22_000, 1_900],
        ),
        security("BTC", "Bitcoin", Cryptocurrency, Crypto, [88_412_5000, 42_000, 0]),
        security(
            "VXUS",
            "Vanguard Total International Stock ETF",
            Etf,
            Fund,
            [68_2300, 14_000, 7_400],
        ),
        security(
            "BND",
            "Vanguard Total Bond Market ETF",
            Etf,
            FixedIncome,
            [73_5800, 4_000, 9_000],
        ),
        security("FXAIX", "Fidelity 500 Index Fund", MutualFund, Fund, [212_8800, 14_000, 0]),
        Security {
            symbol: None,
            name: "Stable Value Fund",
            kind: MutualFund,
            class: FixedIncome,
            price: 1_0000,
            swing: 0,
            dividend: 0,
        },
    ]
};

/// The price of a security in a market.
#[derive(Debug, Clone)]
pub struct MarketPrice {
    pub symbol: String,
    pub price: Fixed9,
    pub at: Timestamp,
}

/// The symbols of all securities that the household may hold.
pub fn symbols() -> impl Iterator<Item = &'static str> {
    SECURITIES.iter().filter_map(|it| it.symbol)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Lot {
    pub(super) account: Account,
    pub(super) security: usize,
    pub(super) on: Day,
    pub(super) quantity: Fixed9,
    /// The total cost; none if the shares were transferred in and their cost is unknown.
    pub(super) cost_minor: Option<i64>,
}

/// All of one security in one account.
pub(super) struct Position {
    pub(super) security: usize,
    pub(super) quantity: Fixed9,
    pub(super) cost_minor: Option<i64>,
}

#[derive(Default)]
pub(super) struct Portfolio {
    pub(super) lots: Vec<Lot>,
    /// Prices by security, then by day, beginning with the day before the first.
    prices: Vec<Vec<i64>>,
    /// Prices of the last day that a market gave.
    market: Vec<MarketPrice>,
    first: Day,
}

impl Portfolio {
    pub(super) fn new(seed: u64, start: Day, today: Day, market: Vec<MarketPrice>) -> Portfolio {
        let first = start - 1;
        let path = |(index, security): (usize, &Security)| {
            let mut draw = Draw::new(seed, 0, &format!("price/{index}"));
            let given = market_price(&market, security);
            price_path(&mut draw, security, given.map(ten_thousandths), (first, today))
        };
        let prices = SECURITIES.iter().enumerate().map(path).collect();
        let mut portfolio = Portfolio { lots: Vec::new(), prices, market, first };
        portfolio.open(seed);
        portfolio
    }

    /// Adds the lots that existed before the two years.
    fn open(&mut self, seed: u64) {
        let mut draw = Draw::new(seed, 0, "portfolio/opening");
        let lots = [
            (Account::Brokerage, VTI, 38_000, true),
            (Account::Brokerage, AAPL, 24_000, true),
            (Account::Brokerage, MSFT, 11_000, false),
            (Account::Brokerage, BITCOIN, 85, true),
            (Account::Roth, VXUS, 142_000, true),
            (Account::Roth, BND, 96_000, true),
            (Account::Retirement, FXAIX, 214_000, true),
            (Account::Retirement, STABLE, 9_400_000, true),
        ];
        for (account, security, thousandths, known) in lots {
            let thousandths = i128::from(thousandths * draw.between(800, 1250) / 1000);
            let quantity = Fixed9::from_billionths(thousandths * 1_000_000);
            let on = self.first;
            let value = value(quantity, self.price(security, on));
            let cost_minor = known.then_some(value * draw.between(620, 940) / 1000);
            self.lots.push(Lot { account, security, on, quantity, cost_minor });
        }
    }

    /// The price in ten-thousandths of a dollar. Before the first day and after the last it is the nearest one.
    pub(super) fn price(&self, security: usize, day: Day) -> i64 {
        let path = &self.prices[security];
        path[((day - self.first).max(0) as usize).min(path.len() - 1)]
    }

    /// The time of the last price, if a market gave it.
    pub(super) fn priced_at(&self, security: usize) -> Option<Timestamp> {
        market_price(&self.market, &SECURITIES[security]).map(|it| it.at)
    }

    /// Buys units for an amount, rounded to thousandths like the broker does. Returns the cost.
    pub(super) fn buy(&mut self, account: Account, security: usize, on: Day, minor: i64) -> i64 {
        let price = self.price(security, on);
        let thousandths = i128::from(minor) * 100_000 / i128::from(price);
        let quantity = Fixed9::from_billionths(thousandths * 1_000_000);
        let cost = value(quantity, price);
        self.lots.push(Lot { account, security, on, quantity, cost_minor: Some(cost) });
        cost
    }

    /// Invests a retirement contribution: four fifths in one fund, one fifth in the other.
    pub(super) fn contribute(&mut self, on: Day, minor: i64) {
        self.buy(Account::Retirement, FXAIX, on, minor * 4 / 5);
        self.buy(Account::Retirement, STABLE, on, minor - minor * 4 / 5);
    }

    pub(super) fn positions(&self, account: Account, day: Day) -> Vec<Position> {
        let of = |security: usize| {
            let lots = self.lots.iter();
            let lots = lots.filter(|it| it.account == account && it.security == security);
            let lots: Vec<&Lot> = lots.filter(|it| it.on <= day).collect();
            let billionths: i128 = lots.iter().map(|it| it.quantity.billionths()).sum();
            let cost_minor = lots.iter().map(|it| it.cost_minor).sum();
            Position { security, quantity: Fixed9::from_billionths(billionths), cost_minor }
        };
        (0..SECURITIES.len()).map(of).filter(|it| it.quantity != Fixed9::ZERO).collect()
    }

    pub(super) fn value(&self, account: Account, day: Day) -> i64 {
        let worth = |it: &Position| value(it.quantity, self.price(it.security, day));
        self.positions(account, day).iter().map(worth).sum()
    }
}

/// The value of a quantity, rounded to the cent like the broker does.
pub(super) fn value(quantity: Fixed9, price: i64) -> i64 {
    quantity.times_price(fixed_price(price), 2).unwrap_or(0)
}

pub(super) fn fixed_price(ten_thousandths: i64) -> Fixed9 {
    Fixed9::from_billionths(i128::from(ten_thousandths) * 100_000)
}

fn market_price<'a>(market: &'a [MarketPrice], security: &Security) -> Option<&'a MarketPrice> {
    market.iter().find(|it| Some(it.symbol.as_str()) == security.symbol)
}

fn ten_thousandths(market: &MarketPrice) -> i64 {
    i64::try_from(market.price.billionths() / 100_000).unwrap_or(i64::MAX)
}

/// Generates prices backward from today's, so that today's price is realistic.
fn price_path(
    draw: &mut Draw,
    security: &Security,
    given: Option<i64>,
    (first, today): (Day, Day),
) -> Vec<i64> {
    let drawn = security.price * draw.between(960, 1040) / 1000;
    let mut price = given.unwrap_or(if security.swing == 0 { security.price } else { drawn });
    let mut path = vec![price];
    for day in (first..today).rev() {
        if is_business_day(day + 1) && security.swing > 0 {
            let half = security.swing / 2;
            let step = draw.between(-half, half) + draw.between(-half, half) + 450;
            price = price * 1_000_000 / (1_000_000 + step);
        }
        path.push(price);
    }
    path.reverse();
    path
}
