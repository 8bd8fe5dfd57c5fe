//! Walks over the tokens of an OFX file and collects its statements without building a tree: at most one row is open.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::Currency;

use super::lines::Lines;
use super::position::{Position, Securities, Security};
use super::row::Row;
use super::statement::{Identity, Institution, StatedAmount, Statement};
use super::status::Status;
use super::tags::{Aggregate, DETAIL_RANK, Part, aggregate};
use super::tokens::{Token, Tokens};
use super::trade::{ParsedTrade, Trade};
use crate::files::amount_marks::AmountMarks;
use crate::files::limits::{ACCOUNTS_MAX, counted};
use crate::files::plain_amount::quote;
use crate::files::{NoteKind, Notes, ParseOptions, Rejections};

/// The collected content of a file, in file order.
pub(super) struct Walker<'a, 'h> {
    options: &'h ParseOptions,
    marks: AmountMarks,
    lines: Lines<'a>,
    open: Vec<Aggregate>,
    statement: Option<Statement<'a>>,
    /// Set if the currency of the current statement is unknown: its amounts are meaningless.
    unknown_currency: Option<Cow<'a, str>>,
    row: Option<(usize, Row<'a>)>,
    trade: Option<(usize, Trade<'a>)>,
    position: Option<(usize, Position<'a>)>,
    security: Option<Security<'a>>,
    status: Option<Status<'a>>,
    known: BTreeMap<Identity<'a>, usize>,
    /// The number of rows and positions read.
    count: usize,
    pub(super) statements: Vec<Statement<'a>>,
    pub(super) securities: Securities<'a>,
    pub(super) institution: Institution<'a>,
    /// When the bank created the file.
    pub(super) made_at: Option<Cow<'a, str>>,
    pub(super) is_intuit: bool,
    /// The bank's error messages instead of a statement, with their lines.
    pub(super) refusals: Vec<(usize, String)>,
    pub(super) rejected: Rejections,
    pub(super) notes: Notes,
}

impl<'a, 'h> Walker<'a, 'h> {
    pub(super) fn over(text: &'a str, options: &'h ParseOptions) -> Walker<'a, 'h> {
        let mut walk = Walker {
            options,
            marks: AmountMarks::of_ofx(text),
            lines: Lines::new(text),
            open: Vec::new(),
            statement: None,
            unknown_currency: None,
            row: None,
            trade: None,
            position: None,
            security: None,
            status: None,
            known: BTreeMap::new(),
            count: 0,
            statements: Vec::new(),
            securities: Securities::new(),
            institution: Institution::default(),
            made_at: None,
            is_intuit: false,
            refusals: Vec::new(),
            rejected: Rejections::default(),
            notes: Notes::default(),
        };
        let mut tokens = Tokens::new(text);
        while let Some(token) = tokens.next() {
            match token {
                Token::Leaf(name, value) => walk.leaf(&name, value, tokens.began),
                Token::Open(name) => walk.enter(&name, tokens.began),
                Token::Close(name) => walk.leave(&name),
            }
        }
        // A tag that the file breaks off in is no tag, and nothing else may be open around it in a fragment.
        walk.break_off(text.rfind('<') > text.rfind('>'));
        walk
    }

    fn enter(&mut self, name: &str, at: usize) {
        let Some(mut opened) = aggregate(name) else { return };
        // Transfers and lists of accounts name other accounts with the same aggregate as the statement's own.
        let is_listed = self.open.iter().any(|it| it.part == Part::AccountList);
        let is_within = is_listed || self.row.is_some() || self.trade.is_some();
        if opened.part == Part::Account && is_within {
            opened = Aggregate { rank: DETAIL_RANK, part: Part::Aside, ..opened };
        }
        while self.open.last().is_some_and(|it| it.rank >= opened.rank) {
            self.end();
        }
        self.open.push(opened);
        self.begin(opened, at);
    }

    fn begin(&mut self, opened: Aggregate, at: usize) {
        match opened.part {
            Part::Statement => {
                self.finish_statement();
                let line = self.lines.of(at);
                self.statement =
                    Some(Statement::new(opened.name, line, self.options.default_currency()));
            }
            Part::Row => {
                let listed = self.open.iter().any(|it| it.part == Part::PendingList);
                let pending = listed || opened.name == "STMTTRNP";
                self.row = Some((at, Row::new(pending)));
            }
            Part::Trade => self.trade = Some((at, Trade::new(opened.name))),
            Part::Position => {
                self.position = Some((at, Position::new(opened.name)));
            }
            Part::Positions => {
                let statement = self.statement(at);
                statement.positions.get_or_insert_default();
            }
            Part::Security => {
                self.security = Some(Security::new(opened.name));
            }
            Part::Status => {
                self.status = Some(Status::new(self.lines.of(at)));
            }
            _ => {}
        }
    }

    /// Closes the aggregate of that name and everything in it; an end tag of an aggregate that is not open is
    /// ignored.
    fn leave(&mut self, name: &str) {
        let Some(depth) = self.open.iter().rposition(|it| it.name == name) else { return };
        while self.open.len() > depth {
            self.end();
        }
    }

    fn end(&mut self) {
        match self.open.pop().map(|it| it.part) {
            Some(Part::Row) => self.finish_row(),
            Some(Part::Trade) => self.finish_trade(),
            Some(Part::Position) => self.finish_position(),
            Some(Part::Security) => {
                if let Some(mut security) = self.security.take()
                    && let Some(id) = security.id.take()
                {
                    self.securities.entry(id).or_insert(security);
                }
            }
            Some(Part::Status) => self.finish_status(),
            Some(Part::Statement) => self.finish_statement(),
            _ => {}
        }
    }

    /// Handles the end of the file. A row that is still open may lack digits of its amount, and further rows may be
    /// missing.
    fn break_off(&mut self, is_within_tag: bool) {
        let cut = self.row.take().map(|it| it.0);
        let cut = cut.or(self.trade.take().map(|it| it.0));
        let cut = cut.or(self.position.take().map(|it| it.0));
        let is_within = |part| self.open.iter().any(|it| it.part == part);
        if let (true, Some(statement)) = (is_within(Part::Positions), &mut self.statement) {
            statement.lacks_positions = true;
        }
        if let Some(at) = cut {
            self.reject(at, "the file breaks off within this row");
        }
        if cut.is_some() || is_within_tag || !self.open.is_empty() {
            let end = self.open.first().map_or("OFX", |it| it.name);
            let text =
                format!("the file breaks off before its end (</{end}>), so rows may be missing");
            let line = self.lines.of(usize::MAX);
            self.notes.warn(NoteKind::CutOff, line, text);
        }
        while !self.open.is_empty() {
            self.end();
        }
        self.finish_statement();
    }

    fn leaf(&mut self, name: &str, value: Cow<'a, str>, at: usize) {
        let value = if name == "TRNAMT" { self.marks.settle(value) } else { value };
        let unused = match self.open.last().map(|it| it.part) {
            Some(Part::Row) => self.row_leaf(name, value),
            Some(Part::Trade | Part::Position | Part::Security | Part::Inner) => {
                self.inner_leaf(name, value)
            }
            Some(part) => self.outer_leaf(part, name, value, at),
            None => Some(value),
        };
        if unused.is_some() {
            self.is_intuit |= name.starts_with("INTU.");
            // Stray text after the tag of an aggregate is not a value.
            self.enter(name, at);
        }
    }

    fn row_leaf(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        self.row.as_mut().and_then(|(_, row)| row.set(name, value))
    }

    fn inner_leaf(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        if let Some((_, trade)) = &mut self.trade {
            return trade.set(name, value);
        }
        if let Some((_, position)) = &mut self.position {
            return position.set(name, value);
        }
        match &mut self.security {
            Some(security) => security.set(name, value),
            None => None,
        }
    }

    fn outer_leaf(
        &mut self,
        part: Part,
        name: &str,
        value: Cow<'a, str>,
        at: usize,
    ) -> Option<Cow<'a, str>> {
        match (part, name) {
            (Part::Aside, _) => {
                // An ignored aggregate without an end tag may be followed by one that is used.
                return aggregate(name).map(|_| value);
            }
            (Part::Payee, "NAME") => return self.row_leaf("PAYEE", value),
            // The end tag is missing.
            (Part::Payee, _) => return self.row_leaf(name, value),
            (Part::Currency, "CURSYM" | "CURRATE") => self.currency_leaf(name, value),
            // The end tag is missing.
            (Part::Currency, _) => match &mut self.row {
                Some((_, row)) => return row.set(name, value),
                None => return self.inner_leaf(name, value),
            },
            (Part::Status, _) => return self.status.as_mut().and_then(|it| it.set(name, value)),
            (Part::Institution, "ORG") => {
                self.institution.name.get_or_insert(value);
            }
            (Part::Institution, "FID") => {
                self.institution.number.get_or_insert(value);
            }
            (Part::Frame, "DTSERVER") => {
                self.made_at.get_or_insert(value);
            }
            (Part::Statement, "CURDEF") => self.currency_of_statement(value),
            (Part::Account | Part::Ledger | Part::Available | Part::Cash | Part::Statement, _) => {
                let line = match name {
                    "BALAMT" | "AVAILCASH" => self.lines.of(at),
                    _ => 0,
                };
                return set_of_statement(self.statement(at), part, name, value, line);
            }
            _ => return Some(value),
        }
        None
    }

    fn currency_leaf(&mut self, name: &str, value: Cow<'a, str>) {
        let is_rate = name == "CURRATE";
        let slot = match (&mut self.row, &mut self.trade, &mut self.position, &mut self.security) {
            (Some((_, row)), ..) if is_rate => &mut row.rate,
            (Some((_, row)), ..) => &mut row.currency,
            (_, Some((_, trade)), ..) if is_rate => &mut trade.rate,
            (_, Some((_, trade)), ..) => &mut trade.currency,
            (_, _, Some((_, position)), _) if is_rate => &mut position.rate,
            (_, _, Some((_, position)), _) => &mut position.currency,
            (_, _, _, Some(security)) if !is_rate => &mut security.currency,
            _ => return,
        };
        slot.get_or_insert(value);
    }

    fn currency_of_statement(&mut self, code: Cow<'a, str>) {
        let Some(statement) = &mut self.statement else { return };
        match Currency::parse(&code.to_ascii_uppercase()) {
            Ok(currency) if statement.currency == currency || statement.has_no_amounts() => {
                statement.currency = currency;
                statement.names_currency = true;
            }
            // Earlier rows were read in another currency.
            Ok(_) | Err(_) => {
                self.unknown_currency.get_or_insert(code);
            }
        }
    }

    /// The current statement; a fragment of a file may begin within one.
    fn statement(&mut self, at: usize) -> &mut Statement<'a> {
        let Walker { statement, open, lines, options, .. } = self;
        statement.get_or_insert_with(|| {
            let is_open = |names: &[&str]| open.iter().any(|it| names.contains(&it.name));
            let wrapper = if is_open(&["CCACCTFROM"]) {
                "CCSTMTRS"
            } else if is_open(&["INVACCTFROM", "INVTRANLIST", "INVPOSLIST", "INVBAL"]) {
                "INVSTMTRS"
            } else {
                "STMTRS"
            };
            Statement::new(wrapper, lines.of(at), options.default_currency())
        })
    }

    fn finish_row(&mut self) {
        let Some((at, row)) = self.row.take() else { return };
        if self.is_refused(at) {
            return;
        }
        let statement = self.statement(at);
        match row.read(statement.currency) {
            Ok((entry, note)) => {
                statement.enter(entry);
                self.note_adjusted(at, note);
            }
            Err(reason) => self.reject(at, reason),
        }
    }

    fn finish_trade(&mut self) {
        let Some((at, trade)) = self.trade.take() else { return };
        if self.is_refused(at) {
            return;
        }
        let statement = self.statement(at);
        match trade.read(statement.currency) {
            Ok(ParsedTrade { draft, trade, security, note }) => {
                statement.unnamed.extend(security.map(|it| (statement.rows.len(), it)));
                statement.rows.push(draft);
                statement.trades.extend(trade);
                self.note_adjusted(at, note);
            }
            Err(reason) => self.reject(at, reason),
        }
    }

    fn finish_position(&mut self) {
        let Some((at, position)) = self.position.take() else { return };
        if self.is_refused(at) {
            self.statement(at).lacks_positions = true;
            return;
        }
        let statement = self.statement(at);
        match position.read(statement.currency) {
            Ok(held) => statement.positions.get_or_insert_default().push(held),
            Err(reason) => {
                statement.lacks_positions = true;
                self.reject(at, format!("no position of the account is kept: {reason}"));
            }
        }
    }

    /// Whether a row is rejected regardless of its content.
    fn is_refused(&mut self, at: usize) -> bool {
        self.count += 1;
        let reason = match &self.unknown_currency {
            _ if self.count > self.options.limits.rows => {
                format!("the file has more than {} rows", counted(self.options.limits.rows))
            }
            Some(code) => format!("the currency {} of its statement is unknown", quote(code)),
            None => return false,
        };
        self.reject(at, reason);
        true
    }

    fn finish_statement(&mut self) {
        let unknown = self.unknown_currency.take();
        let Some(statement) = self.statement.take() else { return };
        if let Some(code) = unknown {
            let reason = format!("the currency {} of this statement is unknown", quote(&code));
            self.rejected.add(statement.line, format!("{reason}, so all of it is left out"));
            return;
        }
        if statement.is_empty() {
            return;
        }
        let identity = statement.identity();
        match identity.as_ref().and_then(|it| self.known.get(it)) {
            Some(earlier) => self.statements[*earlier].join(statement),
            None if self.statements.len() == ACCOUNTS_MAX => {
                let reason = format!("the file has more than {ACCOUNTS_MAX} accounts");
                self.rejected.add(statement.line, reason);
            }
            None => {
                self.known.extend(identity.map(|it| (it, self.statements.len())));
                self.statements.push(statement);
            }
        }
    }

    fn finish_status(&mut self) {
        let refusal = self.status.take().and_then(|it| it.refusal());
        if self.refusals.len() < ACCOUNTS_MAX {
            self.refusals.extend(refusal);
        }
    }

    fn note_adjusted(&mut self, at: usize, note: Option<String>) {
        if let Some(text) = note {
            let line = self.lines.of(at);
            self.notes.add(Some(line), text);
        }
    }

    fn reject(&mut self, at: usize, reason: impl Into<String>) {
        let line = self.lines.of(at);
        self.rejected.add(line, reason);
    }
}

fn set_of_statement<'a>(
    statement: &mut Statement<'a>,
    part: Part,
    name: &str,
    value: Cow<'a, str>,
    line: usize,
) -> Option<Cow<'a, str>> {
    let stated = |slot: &mut StatedAmount<'a>, value| {
        slot.line = line;
        slot.amount.get_or_insert(value);
    };
    match (part, name) {
        (Part::Account, "BANKID" | "BROKERID") => {
            statement.bank.get_or_insert(value);
        }
        (Part::Account, "BRANCHID") => {
            statement.branch.get_or_insert(value);
        }
        (Part::Account, "ACCTID") => {
            statement.number.get_or_insert(value);
        }
        (Part::Account, "ACCTTYPE") => {
            statement.account_type.get_or_insert(Cow::Owned(value.to_ascii_uppercase()));
        }
        (Part::Ledger, "BALAMT") => stated(&mut statement.ledger, value),
        (Part::Ledger, "DTASOF") => {
            statement.ledger.at.get_or_insert(value);
        }
        (Part::Available, "BALAMT") => stated(&mut statement.available, value),
        (Part::Cash, "AVAILCASH") => stated(&mut statement.cash, value),
        (Part::Statement, "DTASOF") => {
            statement.at.get_or_insert(value);
        }
        (Part::Statement, "INTRATE" | "INTRATEPURCH") => {
            statement.rate.get_or_insert(value);
        }
        _ => return Some(value),
    }
    None
}
