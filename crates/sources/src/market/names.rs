//! Names of well-known US securities, for providers that give prices only.

use super::InstrumentKind;
use super::InstrumentKind::{Equity, Etf};

/// Sorted by symbol, for binary search.
const NAMED: [(&str, &str, InstrumentKind); 64] = [
    ("AAPL", "Apple", Equity),
    ("ABBV", "AbbVie", Equity),
    ("ABT", "Abbott Laboratories", Equity),
    ("ADBE", "Adobe", Equity),
    ("AGG", "iShares Core U.S. Aggregate Bond ETF", Etf),
    ("AMD", "Advanced Micro Devices", Equity),
    ("AMZN", "Amazon.com", Equity),
    ("AVGO", "Broadcom", Equity),
    ("AXP", "American Express", Equity),
    ("BA", "Boeing", Equity),
    ("BAC", "Bank of America", Equity),
    ("BND", "Vanguard Total Bond Market ETF", Etf),
    ("BRK.B", "Berkshire Hathaway, class B", Equity),
    ("C", "Citigroup", Equity),
    ("CAT", "Caterpillar", Equity),
    ("COST", "Costco Wholesale", Equity),
    ("CRM", "Salesforce", Equity),
    ("CSCO", "Cisco Systems", Equity),
    ("CVX", "Chevron", Equity),
    ("DIA", "SPDR Dow Jones Industrial Average ETF", Etf),
    ("DIS", "Walt Disney", Equity),
    ("F", "Ford Motor", Equity),
    ("GE", "GE Aerospace", Equity),
    ("GLD", "SPDR Gold Shares", Etf),
    ("GM", "General Motors", Equity),
    ("GOOG", "Alphabet, class C", Equity),
    ("GOOGL", "Alphabet, class A", Equity),
    ("GS", "Goldman Sachs", Equity),
    ("HD", "Home Depot", Equity),
    ("IBM", "IBM", Equity),
    ("INTC", "Intel", Equity),
    ("IVV", "iShares Core S&P 500 ETF", Etf),
    ("IWM", "iShares Russell 2000 ETF", Etf),
    ("JNJ", "Johnson & Johnson", Equity),
    ("JPM", "JPMorgan Chase", Equity),
    ("KO", "Coca-Cola", Equity),
    ("LLY", "Eli Lilly", Equity),
    ("MA", "Mastercard", Equity),
    ("MCD", "McDonald's", Equity),
    ("META", "Meta Platforms", Equity),
    ("MRK", "Merck", Equity),
    ("MSFT", "Microsoft", Equity),
    ("NFLX", "Netflix", Equity),
    ("NKE", "Nike", Equity),
    ("NVDA", "NVIDIA", Equity),
    ("ORCL", "Oracle", Equity),
    ("PEP", "PepsiCo", Equity),
    ("PFE", "Pfizer", Equity),
    ("PG", "Procter & Gamble", Equity),
    ("PLTR", "Palantir Technologies", Equity),
    ("QQQ", "Invesco QQQ Trust", Etf),
    ("SBUX", "Starbucks", Equity),
    ("SCHD", "Schwab U.S. Dividend Equity ETF", Etf),
    ("SPY", "SPDR S&P 500 ETF", Etf),
    ("T", "AT&T", Equity),
    ("TSLA", "Tesla", Equity),
    ("UNH", "UnitedHealth Group", Equity),
    ("V", "Visa", Equity),
    ("VOO", "Vanguard S&P 500 ETF", Etf),
    ("VTI", "Vanguard Total Stock Market ETF", Etf),
    ("VXUS", "Vanguard Total International Stock ETF", Etf),
    ("VZ", "Verizon Communications", Equity),
    ("WMT", "Walmart", Equity),
    ("XOM", "Exxon Mobil", Equity),
];

pub fn name_of(symbol: &str) -> Option<&'static str> {
    find(symbol).map(|(_, name, _)| *name)
}

/// The kind of a known security; none for others, most of which are shares.
pub fn kind_of(symbol: &str) -> Option<InstrumentKind> {
    find(symbol).map(|(_, _, kind)| *kind)
}

fn find(symbol: &str) -> Option<&'static (&'static str, &'static str, InstrumentKind)> {
    let index = NAMED.binary_search_by_key(&symbol, |(known, _, _)| known);
    index.ok().map(|it| &NAMED[it])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_is_found() {
        assert!(NAMED.iter().all(|(symbol, name, _)| name_of(symbol) == Some(*name)));
        assert!(NAMED.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(
            (name_of("BRK.B"), kind_of("BRK.B")),
            (Some("Berkshire Hathaway, class B"), Some(Equity))
        );
        assert_eq!((kind_of("SPY"), name_of("SPYX"), kind_of("")), (Some(Etf), None, None));
    }
}
