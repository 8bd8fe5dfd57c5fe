//! The OFX aggregates that are distinguished, and their nesting ranks.

/// The meaning of the values in an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The account of a statement.
    Account,
    /// A list of the person's accounts, without statements.
    AccountList,
    /// Ignored.
    Aside,
    Available,
    /// The cash of an investment account.
    Cash,
    /// The currency of amounts, if it differs from the statement's.
    Currency,
    /// A container of other aggregates.
    Frame,
    Institution,
    /// A part of the enclosing trade, position or security.
    Inner,
    Ledger,
    PendingList,
    Payee,
    Position,
    Positions,
    Row,
    Security,
    Statement,
    Status,
    Trade,
}

/// An aggregate and its rank. An aggregate cannot stand within one of the same or a higher rank; it ends that one if
/// its end tag is missing, so nesting is never deeper than the number of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Aggregate {
    pub(super) name: &'static str,
    pub(super) rank: u8,
    pub(super) part: Part,
}

/// The rank of aggregates within a row.
pub(super) const DETAIL_RANK: u8 = 8;

macro_rules! aggregates {
    ($($name:literal $rank:literal $part:ident),* $(,)?) => {
        &[$(Aggregate { name: $name, rank: $rank, part: Part::$part }),*]
    };
}

/// Sorted by name.
const AGGREGATES: &[Aggregate] = aggregates![
    "ACCTINFORS" 3 AccountList,
    "AVAILBAL" 4 Available,
    "BAL" 6 Aside,
    "BALLIST" 5 Aside,
    "BANKACCTFROM" 4 Account,
    "BANKACCTTO" 8 Aside,
    "BANKMSGSRSV1" 1 Frame,
    "BANKTRANLIST" 4 Frame,
    "BANKTRANLISTP" 4 PendingList,
    "BUYDEBT" 5 Trade,
    "BUYMF" 5 Trade,
    "BUYOPT" 5 Trade,
    "BUYOTHER" 5 Trade,
    "BUYSTOCK" 5 Trade,
    "CCACCTFROM" 4 Account,
    "CCACCTTO" 8 Aside,
    "CCSTMTRS" 3 Statement,
    "CCSTMTTRNRS" 2 Frame,
    "CLOSUREOPT" 5 Trade,
    "CREDITCARDMSGSRSV1" 1 Frame,
    "CURRENCY" 8 Currency,
    "DEBTINFO" 5 Security,
    "EXTDPAYEE" 8 Aside,
    "FI" 4 Institution,
    "FIMFASSETCLASS" 7 Aside,
    "FIPORTION" 8 Aside,
    "IMAGEDATA" 8 Aside,
    "INCOME" 5 Trade,
    "INV401K" 4 Aside,
    "INV401KBAL" 4 Aside,
    "INVACCTFROM" 4 Account,
    "INVACCTTO" 8 Aside,
    "INVBAL" 4 Cash,
    "INVBANKTRAN" 5 Frame,
    "INVBUY" 6 Inner,
    "INVEXPENSE" 5 Trade,
    "INVOOLIST" 4 Aside,
    "INVPOS" 6 Inner,
    "INVPOSLIST" 4 Positions,
    "INVSELL" 6 Inner,
    "INVSTMTMSGSRSV1" 1 Frame,
    "INVSTMTRS" 3 Statement,
    "INVSTMTTRNRS" 2 Frame,
    "INVTRAN" 7 Inner,
    "INVTRANLIST" 4 Frame,
    "JRNLFUND" 5 Trade,
    "JRNLSEC" 5 Trade,
    "LEDGERBAL" 4 Ledger,
    "LOANPMTINFO" 8 Aside,
    "MARGININTEREST" 5 Trade,
    "MFASSETCLASS" 7 Aside,
    "MFINFO" 5 Security,
    "OFX" 0 Frame,
    "OPTINFO" 5 Security,
    "ORIGCURRENCY" 8 Aside,
    "OTHERINFO" 5 Security,
    "PAYEE" 8 Payee,
    "PORTION" 8 Aside,
    "POSDEBT" 5 Position,
    "POSMF" 5 Position,
    "POSOPT" 5 Position,
    "POSOTHER" 5 Position,
    "POSSTOCK" 5 Position,
    "REINVEST" 5 Trade,
    "RETOFCAP" 5 Trade,
    "REWARDINFO" 4 Aside,
    "SECID" 7 Inner,
    "SECINFO" 6 Inner,
    "SECLIST" 4 Frame,
    "SECLISTMSGSRSV1" 1 Frame,
    "SECLISTTRNRS" 2 Frame,
    "SELLDEBT" 5 Trade,
    "SELLMF" 5 Trade,
    "SELLOPT" 5 Trade,
    "SELLOTHER" 5 Trade,
    "SELLSTOCK" 5 Trade,
    "SIGNONMSGSRSV1" 1 Frame,
    "SONRS" 2 Frame,
    "SPLIT" 5 Trade,
    "STATUS" 7 Status,
    "STMTRS" 3 Statement,
    "STMTTRN" 6 Row,
    "STMTTRNP" 6 Row,
    "STMTTRNRS" 2 Frame,
    "STOCKINFO" 5 Security,
    "TRANSFER" 5 Trade,
];

/// The aggregate of that name; none for elements, which have a value.
pub(super) fn aggregate(name: &str) -> Option<Aggregate> {
    let at = AGGREGATES.binary_search_by(|it| it.name.cmp(name)).ok()?;
    Some(AGGREGATES[at])
}

#[cfg(test)]
mod tests {
    use super::AGGREGATES;

    #[test]
    fn aggregates_can_be_found_by_their_name() {
        assert!(AGGREGATES.is_sorted_by(|one, next| one.name < next.name));
    }
}
