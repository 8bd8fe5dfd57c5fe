//! One OFX investment transaction, as its effect on the cash of the account.

use std::borrow::Cow;

use base::draft::{TradeDraft, TradeKind, TransactionDraft};
use base::{Currency, Date, Fixed9, Money};

use super::amounts::WrittenAmount;
use super::row::{is_id, no_date};
use super::values::date;
use crate::files::plain_amount::{Comma, plain};
use crate::json_decimal::parse_json_decimal;

#[derive(Debug, Default)]
pub(super) struct Trade<'a> {
    /// The enclosing aggregate, such as BUYSTOCK.
    wrapper: &'static str,
    id: Option<Cow<'a, str>>,
    reversed_id: Option<Cow<'a, str>>,
    traded: Option<Cow<'a, str>>,
    memo: Option<Cow<'a, str>>,
    security: Option<Cow<'a, str>>,
    units: Option<Cow<'a, str>>,
    total: Option<Cow<'a, str>>,
    /// The word that distinguishes its kinds: BUYTOCOVER, DIV, IN and so on.
    kind: Option<Cow<'a, str>>,
    numerator: Option<Cow<'a, str>>,
    denominator: Option<Cow<'a, str>>,
    pub(super) currency: Option<Cow<'a, str>>,
    pub(super) rate: Option<Cow<'a, str>>,
}

/// A trade as a transaction.
pub(super) struct ParsedTrade<'a> {
    pub(super) draft: TransactionDraft,
    pub(super) trade: Option<TradeDraft>,
    /// The security whose name the description still needs.
    pub(super) security: Option<Cow<'a, str>>,
    /// What was changed on the way.
    pub(super) note: Option<String>,
}

/// How the total of a transaction moves cash. Files disagree about its sign, so the aggregate decides.
enum Flow {
    Out,
    In,
    AsWritten,
    /// Moves securities only.
    None,
}

impl<'a> Trade<'a> {
    pub(super) fn new(wrapper: &'static str) -> Trade<'a> {
        Trade { wrapper, ..Trade::default() }
    }

    pub(super) fn set(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        let slot = match name {
            "FITID" => &mut self.id,
            "DTTRADE" => &mut self.traded,
            "MEMO" => &mut self.memo,
            "UNIQUEID" => &mut self.security,
            "UNITS" => &mut self.units,
            "TOTAL" => &mut self.total,
            "FRACCASH" if self.wrapper == "SPLIT" => &mut self.total,
            "REVERSALFITID" => &mut self.reversed_id,
            "BUYTYPE" | "SELLTYPE" | "OPTBUYTYPE" | "OPTSELLTYPE" | "SELLREASON" | "INCOMETYPE"
            | "TFERACTION" | "OPTACTION" => &mut self.kind,
            "NUMERATOR" => &mut self.numerator,
            "DENOMINATOR" => &mut self.denominator,
            "CURRENCY" => &mut self.currency,
            _ => return Some(value),
        };
        slot.get_or_insert(value);
        None
    }

    /// The draft with the trade of a security in it, and the id of the security whose name the description still needs.
    pub(super) fn read(self, currency: Currency) -> Result<ParsedTrade<'a>, String> {
        let traded = self.traded.as_deref().ok_or("the transaction has no date (DTTRADE)")?;
        let posted_on = date(traded).ok_or_else(|| no_date(traded))?;
        let (words, flow) = self.words();
        let (amount, note) = self.effect(flow, currency)?;
        let mut description = words;
        if self.security.is_none()
            && let Some(memo) = self.memo.as_deref()
        {
            description = format!("{description} {memo}");
        }
        let draft = TransactionDraft {
            external_id: self.id.as_deref().filter(|it| is_id(it)).map(str::to_owned),
            pending: false,
            settles: None,
            posted_on,
            authorized_on: None,
            amount,
            description,
            counterparty: None,
            counterparty_logo_url: None,
            category: None,
        };
        let trade = self.trade(posted_on, currency);
        Ok(ParsedTrade { draft, trade, security: self.security, note })
    }

    /// The trade of a security, if it is one whose effect on the position is known.
    fn trade(&self, on: Date, currency: Currency) -> Option<TradeDraft> {
        let reverses = self.reversed_id.is_some();
        let kind = match (self.wrapper, self.kind.as_deref().unwrap_or_default()) {
            ("REINVEST", _) => TradeKind::Reinvest,
            ("SPLIT", _) => TradeKind::Split,
            ("RETOFCAP", _) => TradeKind::ReturnOfCapital,
            ("TRANSFER", "OUT") => TradeKind::TransferOut,
            ("TRANSFER", _) => TradeKind::TransferIn,
            (_, "BUYTOCOVER" | "BUYTOCLOSE" | "SELLSHORT" | "SELLTOOPEN") => return None,
            ("BUYSTOCK" | "BUYMF" | "BUYOTHER" | "BUYDEBT" | "BUYOPT", _) => TradeKind::Buy,
            (wrapper, _) if wrapper.starts_with("SELL") => TradeKind::Sell,
            _ => return None,
        };
        let number =
            |it: &Option<Cow<'_, str>>| parse_json_decimal(&plain(it.as_deref()?, Comma::Decimal)?);
        let signed = |it: i128| if reverses { -it.abs() } else { it.abs() };
        let (quantity, per) = match kind {
            TradeKind::Split => (number(&self.numerator)?, Some(number(&self.denominator)?)),
            TradeKind::ReturnOfCapital => (Fixed9::ZERO, None),
            _ => (Fixed9::from_billionths(signed(number(&self.units)?.billionths())), None),
        };
        let total = self.total.as_deref().filter(|_| kind != TradeKind::Split);
        let (own, rate) = (self.currency.as_deref(), self.rate.as_deref());
        let amount = |text| WrittenAmount { text, currency: own, rate }.read(currency).ok();
        let minor = total.and_then(amount).map(|it| it.0.minor());
        Some(TradeDraft {
            external_id: self.id.as_deref().filter(|it| is_id(it)).map(str::to_owned),
            security: self.security.as_deref()?.to_owned(),
            on,
            kind,
            quantity,
            per,
            amount_minor: minor.and_then(|it| i64::try_from(signed(i128::from(it))).ok()),
        })
    }

    /// The effect on cash, and a note if the amount was changed on the way.
    fn effect(&self, flow: Flow, currency: Currency) -> Result<(Money, Option<String>), String> {
        let text = match (&flow, self.total.as_deref()) {
            (Flow::None, _) => return Ok((Money::new(0, currency), None)),
            // A split pays cash only for fractional shares.
            (_, None) if self.wrapper == "SPLIT" => return Ok((Money::new(0, currency), None)),
            (_, None) => return Err("the transaction has no amount (TOTAL)".to_owned()),
            (_, Some(total)) => total,
        };
        let (own, rate) = (self.currency.as_deref(), self.rate.as_deref());
        let (written, note) = WrittenAmount { text, currency: own, rate }.read(currency)?;
        let is_reversal = self.reversed_id.is_some();
        let minor = match (flow, written.minor()) {
            (Flow::Out, minor) if is_reversal => minor.abs(),
            (Flow::In, minor) if is_reversal => -minor.abs(),
            (Flow::Out, minor) => -minor.abs(),
            (Flow::In, minor) => minor.abs(),
            (_, minor) => minor,
        };
        Ok((Money::new(minor, currency), note))
    }

    /// The description up to the name of the security, and the effect on cash.
    fn words(&self) -> (String, Flow) {
        let kind = self.kind.as_deref().unwrap_or_default();
        let (verb, counts, flow) = match (self.wrapper, kind) {
            ("REINVEST", _) => ("Reinvest", true, Flow::None),
            ("INCOME", "DIV") => ("Dividend", false, Flow::AsWritten),
            ("INCOME", "INTEREST") => ("Interest", false, Flow::AsWritten),
            ("INCOME", "CGLONG") => ("Long-term capital gain", false, Flow::AsWritten),
            ("INCOME", "CGSHORT") => ("Short-term capital gain", false, Flow::AsWritten),
            ("INCOME", _) => ("Income", false, Flow::AsWritten),
            ("RETOFCAP", _) => ("Return of capital", false, Flow::AsWritten),
            ("INVEXPENSE", _) => ("Expense", false, Flow::Out),
            ("MARGININTEREST", _) => ("Margin interest", false, Flow::Out),
            ("JRNLFUND", _) => ("Move cash within the account", false, Flow::None),
            ("JRNLSEC", _) => ("Move within the account", true, Flow::None),
            ("TRANSFER", "OUT") => ("Transfer out", true, Flow::None),
            ("TRANSFER", "IN") => ("Transfer in", true, Flow::None),
            ("TRANSFER", _) => ("Transfer", true, Flow::None),
            ("CLOSUREOPT", "EXERCISE") => ("Exercise", true, Flow::None),
            ("CLOSUREOPT", "ASSIGN") => ("Assignment of", true, Flow::None),
            ("CLOSUREOPT", _) => ("Expiry of", true, Flow::None),
            ("SPLIT", _) => return (self.split(), Flow::AsWritten),
            (_, "BUYTOCOVER") => ("Buy to cover", true, Flow::Out),
            (_, "BUYTOOPEN") => ("Buy to open", true, Flow::Out),
            (_, "BUYTOCLOSE") => ("Buy to close", true, Flow::Out),
            (_, "SELLSHORT") => ("Sell short", true, Flow::In),
            (_, "SELLTOOPEN") => ("Sell to open", true, Flow::In),
            (_, "SELLTOCLOSE") => ("Sell to close", true, Flow::In),
            ("SELLDEBT", "CALL") => ("Called back", true, Flow::In),
            ("SELLDEBT", "MATURITY") => ("Maturity of", true, Flow::In),
            (wrapper, _) if wrapper.starts_with("SELL") => ("Sell", true, Flow::In),
            _ => ("Buy", true, Flow::Out),
        };
        let reversal = if self.reversed_id.is_some() { "Reversal: " } else { "" };
        let count = match self.count() {
            Some(count) if counts => format!(" {count}"),
            _ => String::new(),
        };
        (format!("{reversal}{verb}{count}"), flow)
    }

    fn split(&self) -> String {
        match (&self.numerator, &self.denominator) {
            (Some(new), Some(old)) => format!("Split {new}:{old}"),
            _ => "Split".to_owned(),
        }
    }

    fn count(&self) -> Option<String> {
        let units = parse_json_decimal(&plain(self.units.as_deref()?, Comma::Decimal)?)?;
        Some(base::Fixed9::from_billionths(units.billionths().abs()).to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::files::fixtures;
    use crate::files::ofx::read;

    /// One line per trade of an investment statement with these transactions.
    fn trades(transactions: &str) -> Vec<String> {
        let file = format!(
            "OFXHEADER:100\n\n<OFX><INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS><CURDEF>USD<INVACCTFROM>\
            <BROKERID>b<ACCTID>1</INVACCTFROM><INVTRANLIST>{transactions}</INVTRANLIST></INVSTMTRS>\
            </INVSTMTTRNRS></INVSTMTMSGSRSV1></OFX>"
        );
        let contents = read(file.as_bytes(), &fixtures::options()).unwrap();
        let trades = contents.accounts.iter().flat_map(|it| &it.draft.trades);
        let shown = |it: &base::draft::TradeDraft| {
            let per = it.per.map_or(String::new(), |it| format!(" per {it}"));
            let amount = it.amount_minor.map_or("?".to_owned(), |it| it.to_string());
            format!("{} {} {} {}{per} {amount}", it.on, it.kind.as_str(), it.security, it.quantity)
        };
        trades.map(shown).collect()
    }

    fn inner(id: u32, rest: &str) -> String {
        format!(
            "<INVTRAN><FITID>{id}<DTTRADE>20240105</INVTRAN><SECID><UNIQUEID>922908769\
            <UNIQUEIDTYPE>CUSIP</SECID>{rest}"
        )
    }

    #[test]
    fn trades_are_read_with_their_units_and_totals() {
        let buy = inner(1, "<UNITS>10<UNITPRICE>80<TOTAL>-800.50");
        let sell = inner(2, "<UNITS>-4<UNITPRICE>90<TOTAL>360");
        let reinvest = inner(3, "<INCOMETYPE>DIV<TOTAL>-22.00<UNITS>0.25<UNITPRICE>88");
        let split = inner(4, "<OLDUNITS>10<NEWUNITS>30<NUMERATOR>3<DENOMINATOR>1");
        let income = inner(5, "<INCOMETYPE>DIV<TOTAL>9");
        let found = trades(&format!(
            "<BUYMF><INVBUY>{buy}</INVBUY><BUYTYPE>BUY</BUYMF>\
            <SELLMF><INVSELL>{sell}</INVSELL><SELLTYPE>SELL</SELLMF><REINVEST>{reinvest}</REINVEST>\
            <SPLIT>{split}</SPLIT><INCOME>{income}</INCOME>"
        ));
        assert_eq!(
            found,
            [
                "2024-01-05 buy 922908769 10 80050",
                "2024-01-05 sell 922908769 4 36000",
                "2024-01-05 reinvest 922908769 0.25 2200",
                "2024-01-05 split 922908769 3 per 1 ?",
            ]
        );
    }

    #[test]
    fn short_sales_give_no_trade_and_a_reversal_is_negative() {
        let short = inner(1, "<UNITS>-10<TOTAL>800");
        let reversal =
            inner(2, "<UNITS>10<TOTAL>-800").replace("<DTTRADE>", "<REVERSALFITID>1<DTTRADE>");
        let found = trades(&format!(
            "<SELLSTOCK><INVSELL>{short}</INVSELL><SELLTYPE>SELLSHORT</SELLSTOCK>\
            <BUYSTOCK><INVBUY>{reversal}</INVBUY><BUYTYPE>BUY</BUYSTOCK>"
        ));
        assert_eq!(found, ["2024-01-05 buy 922908769 -10 -80000"]);
    }
}
