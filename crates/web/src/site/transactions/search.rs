//! The filters of the transaction list, as the URL gives them.

use base::category::Category;
use base::{AccountId, Date};
use maud::{Markup, html};
use service::ledger::Direction;
use service::ledger::accounts::Account;
use service::ledger::annotations;
use service::ledger::transactions::{Filter, Sort};

use super::{amount_words, category, date_words};
use crate::site::format::View;
use crate::site::urls;

const TEXT_MAX: usize = 100;
/// The names of merchants come from banks, so they can be longer than what a person types.
const MERCHANT_MAX: usize = 500;
/// The filters in the order of the URL; the cursor comes last.
const NAMES: [&str; 12] = [
    "q",
    "merchant",
    "no_merchant",
    "account",
    "from",
    "to",
    "category",
    "tag",
    "direction",
    "status",
    "transfers",
    "counts",
];

/// The parameter that shows all dates where no filter is set, and its only value.
const DATES: &str = "dates";
const ALL_DATES: &str = "all";

pub(super) struct Search {
    /// The valid filters, as given.
    given: Vec<(&'static str, String)>,
    cursor: Option<String>,
    /// Whether the list is of all dates although no filter is set; it would be of this month otherwise.
    all_dates: bool,
    /// The first day of this month, if the list is of this month because no filter is set.
    this_month: Option<Date>,
    pub(super) sort: Sort,
    pub(super) filter: Filter,
    /// Messages about invalid filters.
    pub(super) problems: Vec<String>,
}

impl Search {
    pub(super) fn read(query: &str, accounts: &[Account], today: Date) -> Search {
        let mut search = Search {
            given: Vec::new(),
            cursor: None,
            all_dates: false,
            this_month: None,
            sort: Sort::Newest,
            filter: Filter::default(),
            problems: Vec::new(),
        };
        let Some(pairs) = urls::parse_pairs(query) else {
            search.problems.push("This link is invalid. No filters were applied.".to_owned());
            return search;
        };
        for (name, value) in pairs {
            let value = value.trim();
            if name == "cursor" && !value.is_empty() {
                search.cursor = Some(value.to_owned());
            }
            if name == "sort" && !value.is_empty() {
                search.read_sort(value);
            }
            if name == DATES && value == ALL_DATES {
                search.all_dates = true;
            }
            let Some(name) = NAMES.into_iter().find(|it| *it == name) else { continue };
            if value.is_empty() || !search.value(name).is_empty() {
                continue;
            }
            match search.take(name, value, accounts) {
                Ok(()) => search.given.push((name, value.to_owned())),
                Err(problem) => search.problems.push(format!("{problem} This filter was ignored.")),
            }
        }
        search.read_tag();
        search.read_amount();
        search.read_dates(today);
        search.read_category();
        let Filter { start_on, end_on, .. } = search.filter;
        if start_on.zip(end_on).is_some_and(|(start, end)| start > end) {
            search
                .problems
                .push("The start date is after the end date. Both were ignored.".to_owned());
            search.filter = Filter { start_on: None, end_on: None, ..search.filter };
            search.given.retain(|(name, _)| *name != "from" && *name != "to");
        }
        search
    }

    fn read_sort(&mut self, value: &str) {
        match Sort::parse(value) {
            Some(sort) => self.sort = sort,
            None => self.problems.push("This order doesn't exist. It was ignored.".to_owned()),
        }
    }

    /// Whether rows of one day follow one another.
    pub(super) fn is_by_day(&self) -> bool {
        matches!(self.sort, Sort::Newest | Sort::Oldest)
    }

    /// Takes a tag out of the text, such as "#work", unless one is given.
    fn read_tag(&mut self) {
        let filter = &mut self.filter;
        let text = filter.q.as_deref().unwrap_or_default();
        let found = text.split_whitespace().filter(|it| it.starts_with('#'));
        let found = found.filter_map(|it| Some((it, annotations::parse_tag(it).ok()?))).next();
        if let Some((word, tag)) = found.filter(|_| filter.tag.is_none()) {
            let rest: Vec<&str> = text.split_whitespace().filter(|it| *it != word).collect();
            let rest = rest.join(" ");
            (filter.q, filter.tag) = ((!rest.is_empty()).then_some(rest), Some(tag));
        }
    }

    /// Takes an amount out of the text, such as ">100".
    fn read_amount(&mut self) {
        let filter = &mut self.filter;
        let text = filter.q.as_deref().unwrap_or_default();
        if let Some((rest, (least, greatest))) = amount_words::split(text) {
            filter.q = (!rest.is_empty()).then_some(rest);
            (filter.amount_min, filter.amount_max) = (least, greatest);
        }
    }

    /// Takes words for dates out of the text, such as "last month", unless dates are given.
    fn read_dates(&mut self, today: Date) {
        let filter = &mut self.filter;
        if filter.start_on.is_some() || filter.end_on.is_some() {
            return;
        }
        let text = filter.q.as_deref().unwrap_or_default();
        if let Some((rest, (start, end))) = date_words::split(text, today) {
            filter.q = (!rest.is_empty()).then_some(rest);
            (filter.start_on, filter.end_on) = (Some(start), Some(end));
        }
    }

    /// Takes a category that the whole text names, such as "groceries", unless one is given.
    fn read_category(&mut self) {
        let filter = &mut self.filter;
        if filter.category.is_some() || filter.category_tier1.is_some() || filter.uncategorized {
            return;
        }
        let Some(text) = filter.q.as_deref() else { return };
        let is_named = |label: &str| label.eq_ignore_ascii_case(text);
        // A whole group comes before the category of the same name in it, which has what is left over.
        let group = Category::ALL.into_iter().find(|it| is_named(&it.primary_label()));
        if let Some(group) = group {
            (filter.q, filter.category_tier1) = (None, Some(group.primary().to_owned()));
        } else if let Some(found) = Category::ALL.into_iter().find(|it| is_named(it.label())) {
            (filter.q, filter.category) = (None, Some(found));
        }
    }

    fn take(&mut self, name: &str, value: &str, accounts: &[Account]) -> Result<(), String> {
        let filter = &mut self.filter;
        match name {
            "q" => filter.q = Some(text(value, TEXT_MAX)?),
            "merchant" => filter.counterparty = Some(text(value, MERCHANT_MAX)?),
            "no_merchant" => filter.without_counterparty = only("yes", value)?,
            "account" => filter.account_id = Some(account(value, accounts)?),
            "from" => filter.start_on = Some(date(value)?),
            "to" => filter.end_on = Some(date(value)?),
            "category" if value == "none" => filter.uncategorized = true,
            "category" if Category::ALL.iter().any(|it| it.primary() == value) => {
                filter.category_tier1 = Some(value.to_owned());
            }
            "category" => {
                let found = Category::ALL.into_iter().find(|it| it.detailed() == value);
                filter.category = Some(found.ok_or("This category doesn't exist.")?);
            }
            "tag" => {
                let tag = annotations::parse_tag(value);
                filter.tag = Some(tag.map_err(|_| "This is not a tag.")?);
            }
            "direction" => filter.direction = Some(direction(value)?),
            "status" if value == "hidden" => filter.hidden = true,
            "status" => filter.pending = Some(one_of(value, "pending", "posted")?),
            "counts" => filter.spending = only("spending", value)?,
            _ => filter.transfers = Some(one_of(value, "only", "hide")?),
        }
        Ok(())
    }

    pub(super) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    pub(super) fn forget_cursor(&mut self) {
        self.cursor = None;
        let message = "This page has expired. Showing the newest transactions.";
        self.problems.push(message.to_owned());
    }

    /// The value of a filter; empty if it is not set.
    pub(super) fn value(&self, name: &str) -> &str {
        self.given.iter().find(|(it, _)| *it == name).map_or("", |(_, value)| value)
    }

    pub(super) fn is_narrowed(&self) -> bool {
        !self.given.is_empty()
    }

    /// Limits the list to this month, unless a filter is set or all dates are asked for.
    pub(super) fn limit_to_month(&mut self, today: Date) {
        if !self.is_narrowed() && !self.all_dates {
            self.this_month = Some(today.first_of_month());
            self.filter.start_on = self.this_month;
        }
    }

    /// Shows all dates, because this month has no transactions yet.
    pub(super) fn show_all_dates(&mut self) {
        (self.all_dates, self.this_month, self.filter.start_on) = (true, None, None);
    }

    pub(super) fn is_this_month(&self) -> bool {
        self.this_month.is_some()
    }

    /// The URL of all transactions.
    pub(super) fn all_dates_href() -> String {
        format!("/transactions{}", urls::query_string(&[(DATES, ALL_DATES)]))
    }

    /// Keeps all dates when the form of the filters is sent with another order only.
    pub(super) fn keep_all_dates(&self) -> Markup {
        html! { @if self.all_dates { input type="hidden" name=(DATES) value=(ALL_DATES); } }
    }

    /// The first day of the month before, and the URL of its transactions, if the list is of one month.
    pub(super) fn month_before(&self) -> Option<(Date, String)> {
        let is_date = |(name, _): &(&str, String)| *name == "from" || *name == "to";
        let Filter { start_on, end_on, .. } = self.filter;
        let start = start_on.filter(|it| *it == it.first_of_month())?;
        let is_month = self.is_this_month() || end_on == Some(start.last_of_month());
        if !is_month || !self.given.iter().all(is_date) {
            return None;
        }
        let end = start.yesterday().ok()?;
        let (from, to) = (end.first_of_month(), end);
        let query = urls::query_string(&[("from", &from.to_string()), ("to", &to.to_string())]);
        Some((from, format!("/transactions{query}")))
    }

    /// Whether any filter other than the text, or an order, is set.
    pub(super) fn has_details(&self) -> bool {
        self.given.iter().any(|(name, _)| *name != "q") || self.sort != Sort::Newest
    }

    /// The URL of the same filters at another path or page.
    pub(super) fn href(&self, path: &str, cursor: Option<&str>) -> String {
        self.address(path, |_| true, cursor)
    }

    fn address(&self, path: &str, keep: impl Fn(&str) -> bool, cursor: Option<&str>) -> String {
        let given = self.given.iter().filter(|(name, _)| keep(name));
        let mut pairs: Vec<(&str, &str)> = given.map(|(name, it)| (*name, it.as_str())).collect();
        let this_month = self.this_month.map(|it| it.to_string());
        pairs.extend(this_month.as_deref().map(|it| ("from", it)));
        // Without a date that was removed, the list is of all dates and not of this month.
        let has_lost_dates =
            ["from", "to"].iter().any(|it| !keep(it) && !self.value(it).is_empty());
        if pairs.is_empty() && (self.all_dates || has_lost_dates) {
            pairs.push((DATES, ALL_DATES));
        }
        if self.sort != Sort::Newest {
            pairs.push(("sort", self.sort.as_str()));
        }
        pairs.extend(cursor.map(|it| ("cursor", it)));
        format!("{path}{}", urls::query_string(&pairs))
    }

    /// Each filter in words, with the URL without it.
    pub(super) fn chips(&self, accounts: &[Account], view: View) -> Vec<(String, String)> {
        let chip = |(name, value): &(&'static str, String)| {
            let without = self.address("/transactions", |it| it != *name, None);
            (self.words(name, value, accounts, view), without)
        };
        self.given.iter().map(chip).collect()
    }

    /// The category that is searched.
    fn named_category(&self) -> Option<String> {
        let is_primary =
            |it: &Category| Some(it.primary()) == self.filter.category_tier1.as_deref();
        let detailed = self.filter.category.map(|it| it.label().to_owned());
        detailed.or_else(|| Some(Category::ALL.into_iter().find(is_primary)?.primary_label()))
    }

    fn words(&self, name: &str, value: &str, accounts: &[Account], view: View) -> String {
        let day = |on: Option<Date>| on.map(|it| view.day(it)).unwrap_or_default();
        match (name, value) {
            ("q", text) if self.value("category").is_empty() => match self.named_category() {
                Some(category) => format!("“{text}”, in the category {category}"),
                None => format!("“{text}”"),
            },
            ("q", text) => format!("“{text}”"),
            ("merchant", name) => format!("Merchant: {name}"),
            ("no_merchant", _) => "No merchant".to_owned(),
            ("account", _) => {
                let named = accounts.iter().find(|it| Some(it.id) == self.filter.account_id);
                named.map(|it| it.name.clone()).unwrap_or_default()
            }
            ("from", _) => format!("From {}", day(self.filter.start_on)),
            ("to", _) => format!("To {}", day(self.filter.end_on)),
            ("category", "none") => "No category".to_owned(),
            ("category", code) => category::name_of(code).unwrap_or_default(),
            ("tag", _) => format!("#{}", self.filter.tag.as_deref().unwrap_or_default()),
            ("direction", "in") => "Money in".to_owned(),
            ("direction", _) => "Money out".to_owned(),
            ("status", "pending") => "Pending".to_owned(),
            ("status", "hidden") => "Hidden".to_owned(),
            ("status", _) => "Posted".to_owned(),
            ("counts", _) => "Counted as spending".to_owned(),
            (_, "only") => "Transfers only".to_owned(),
            (_, _) => "No transfers".to_owned(),
        }
    }
}

fn text(value: &str, most: usize) -> Result<String, String> {
    if value.chars().count() > most {
        return Err(format!("Search text can have up to {most} characters."));
    }
    if value.contains(char::is_control) {
        return Err("Search text contains invalid characters.".to_owned());
    }
    Ok(value.to_owned())
}

fn account(value: &str, accounts: &[Account]) -> Result<AccountId, String> {
    let id = AccountId::parse(value).ok();
    let found = id.filter(|id| accounts.iter().any(|it| it.id == *id));
    found.ok_or_else(|| "This account doesn't exist.".to_owned())
}

fn date(value: &str) -> Result<Date, String> {
    let plain = value.len() == 10 && value.is_ascii();
    let parsed = if plain { value.parse().ok() } else { None };
    parsed.ok_or_else(|| format!("“{}” isn't a date. Use the format 2026-11-03.", shortened(value)))
}

fn direction(value: &str) -> Result<Direction, String> {
    let into = one_of(value, "in", "out")?;
    Ok(if into { Direction::Inflow } else { Direction::Outflow })
}

/// A choice with one value. A form sends an empty one if it is not chosen.
fn only(value: &str, given: &str) -> Result<bool, String> {
    one_of(given, value, "")
}

fn one_of(value: &str, yes: &str, no: &str) -> Result<bool, String> {
    let known = value == yes || value == no;
    let unknown = || format!("“{}” isn't a valid choice.", shortened(value));
    known.then_some(value == yes).ok_or_else(unknown)
}

fn shortened(value: &str) -> String {
    value.chars().filter(|it| !it.is_control()).take(40).collect()
}
