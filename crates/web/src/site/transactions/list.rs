//! The transaction list: filters, totals, and rows grouped by day.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::{Date, Money, split};
use maud::{Markup, html};
use service::ledger::accounts::Account;
use service::ledger::annotations::Tags;
use service::ledger::saved_filters::SavedFilter;
use service::ledger::transactions::{Filter, Sort, Total};

use super::search::Search;
use super::{Row, bulk, category, filters};
use crate::site::fields::{self, Field, FormError};
use crate::site::format::count_text;
use crate::site::icons;
use crate::site::person::Person;
use crate::site::urls;

pub(super) struct List<'a> {
    pub(super) person: &'a Person,
    pub(super) accounts: Vec<Account>,
    pub(super) search: Search,
    /// The tags that the person uses.
    pub(super) tags: Tags,
    pub(super) filters: Vec<SavedFilter>,
    pub(super) rows: Vec<Row>,
    pub(super) totals: Vec<Total>,
    pub(super) days: BTreeMap<Date, Vec<Total>>,
    /// How many transactions match the filters, if that is known.
    pub(super) matching: Option<i64>,
    pub(super) next_cursor: Option<String>,
}

impl List<'_> {
    pub(super) fn show(&self) -> Markup {
        let csv = self.search.href("/transactions.csv", None);
        let json = self.search.href("/transactions.json", None);
        html! {
            div.heading {
                h1 { "Transactions" }
                @if !self.rows.is_empty() {
                    span {
                        a href="/transactions/edits" { "Recent edits" } " · "
                        a href=(csv) { "Download as CSV" } " or " a href=(json) { "JSON" }
                    }
                }
            }
            @for problem in &self.search.problems { p.warning role="alert" { (problem) } }
            (self.finder())
            (filters::links(&self.filters, &self.search))
            (self.chips())
            (filters::save_form(self.person, &self.filters, &self.search))
            @if self.rows.is_empty() { (self.nothing()) } @else {
                (self.months())
                (self.sums())
                (self.table())
                (self.pages())
                // A script opens the page of a transaction in it.
                dialog.panel id="panel" aria-label="Transaction" { div data-panel {} }
            }
        }
    }

    fn finder(&self) -> Markup {
        let search = &self.search;
        let text = Field::text("q", "Search", search.value("q")).kind("search").optional();
        let merchant = Field::text("merchant", "Merchant (exact name)", search.value("merchant"));
        let from = Field::text("from", "From", search.value("from")).kind("date").optional();
        let to = Field::text("to", "To", search.value("to")).kind("date").optional();
        let ids: Vec<String> = self.accounts.iter().map(|it| it.id.to_string()).collect();
        let mut accounts = vec![("", "All accounts")];
        accounts.extend(ids.iter().map(String::as_str).zip(self.accounts.iter().map(named)));
        let directions = [("", "In and out"), ("in", "Money in"), ("out", "Money out")];
        let states =
            [("", "All"), ("pending", "Pending"), ("posted", "Posted"), ("hidden", "Hidden")];
        let transfers = [("", "Shown"), ("hide", "Hidden"), ("only", "Only transfers")];
        let counts = [("", "Everything"), ("spending", "What counts as spending")];
        let sorts = [
            ("", "Newest first"),
            ("oldest", "Oldest first"),
            ("largest", "Largest first"),
            ("smallest", "Smallest first"),
        ];
        let nothing_wrong = FormError::default();
        html! {
            form.finder method="get" action="/transactions" role="search" {
                (search.keep_all_dates())
                div.ask {
                    (text.show(&nothing_wrong))
                    button.primary type="submit" { "Search" }
                }
                details open[search.has_details()] {
                    summary { "Filters" }
                    div.filters {
                        (fields::select("account", "Account", &accounts, search.value("account")))
                        (merchant.optional().show(&nothing_wrong))
                        (fields::check(
                            "no_merchant", "yes", "No merchant name", search.filter.without_counterparty
                        ))
                        (from.show(&nothing_wrong))
                        (to.show(&nothing_wrong))
                        (self.categories())
                        (self.tag_filter())
                        (fields::select("direction", "Direction", &directions, search.value("direction")))
                        (fields::select("status", "Status", &states, search.value("status")))
                        (fields::select(
                            "transfers", "Transfers", &transfers, search.value("transfers")
                        ))
                        (fields::select("counts", "Show", &counts, search.value("counts")))
                        (fields::select("sort", "Order", &sorts, search.sort.as_str()))
                        button type="submit" { "Apply filters" }
                    }
                }
            }
        }
    }

    /// The choice of a tag, for a person who uses tags.
    fn tag_filter(&self) -> Markup {
        let chosen = self.search.value("tag").trim_start_matches('#').to_lowercase();
        let labels: Vec<(&str, String)> =
            self.tags.iter().map(|it| (it, format!("#{it}"))).collect();
        let mut options = vec![("", "All tags")];
        options.extend(labels.iter().map(|(tag, label)| (*tag, label.as_str())));
        html! { @if !labels.is_empty() { (fields::select("tag", "Tag", &options, &chosen)) } }
    }

    fn categories(&self) -> Markup {
        let chosen = self.search.value("category");
        html! {
            div.field {
                label for="f-category" { "Category" }
                select id="f-category" name="category" {
                    option value="" { "All categories" }
                    option value="none" selected[chosen == "none"] { "No category" }
                    (category::options(chosen, true))
                }
            }
        }
    }

    fn chips(&self) -> Markup {
        let chips = self.search.chips(&self.accounts, self.person.view);
        html! {
            @if !chips.is_empty() {
                ul.chips aria-label="Active filters" {
                    @for (words, without) in &chips {
                        li { a href=(without) { span.hush { "Remove " } (words) span.cross aria-hidden="true" { "×" } } }
                    }
                    @if chips.len() > 1 { li { a href="/transactions" { "Clear all" } } }
                }
            }
        }
    }

    fn nothing(&self) -> Markup {
        html! {
            div.empty {
                @if self.search.is_narrowed() {
                    h2 { "No matches" }
                    p { "No transactions match these filters." }
                    a.button.outlined href=(Search::all_dates_href()) { "Show all transactions" }
                } @else {
                    h2 { "No transactions yet" }
                    p { "Import a bank file or connect a bank to see your transactions." }
                    a.button href="/import" { "Import bank files" }
                }
            }
        }
    }

    /// Links between this month and all dates, if no filter is set.
    fn months(&self) -> Markup {
        let is_month = self.search.is_this_month();
        let current = |is_current: bool| is_current.then_some("page");
        html! {
            @if !self.search.is_narrowed() {
                nav aria-label="Dates" {
                    ul.chips {
                        li { a href="/transactions" aria-current=[current(is_month)] { "This month" } }
                        @if let Some((from, href)) = self.search.month_before() {
                            li { a href=(href) { (self.person.view.month(from)) } }
                        }
                        li { a href=(Search::all_dates_href()) aria-current=[current(!is_month)] { "All dates" } }
                    }
                }
            }
        }
    }

    /// The totals of all matching transactions. The currency with the most rows comes first.
    fn sums(&self) -> Markup {
        let view = self.person.view;
        let count = self.totals.iter().map(|it| it.count).sum();
        type Sum = fn(&Total) -> i64;
        let sums: [(&str, Sum); 3] = [
            ("Money in", |it| it.in_minor),
            ("Money out", |it| it.out_minor),
            ("Net", |it| it.net_minor()),
        ];
        if self.totals.is_empty() {
            return html! { p.soft { "No transactions this month yet." } };
        }
        html! {
            // The chosen link above says so already where the list is of this month.
            @if !self.search.is_narrowed() && !self.search.is_this_month() { h2.label { "This month" } }
            dl.tiles.sums {
                div.tile { dt { "Transactions" } dd { (count_text(count)) } }
                @for (name, of) in sums {
                    div.tile {
                        dt { (name) }
                        @for total in &self.totals {
                            dd { (view.money(Money::new(of(total), total.currency))) }
                        }
                    }
                }
            }
            p.soft {
                @if self.search.filter.spending {
                    "Only what counts as spending: purchases and bills. Refunds and what others paid you back are money in. Income and transfers \
                     between your accounts are left out."
                    @if self.totals.iter().any(|it| it.currency != self.person.user.base_currency) {
                        " The spending page converts other currencies at the latest exchange rates."
                    }
                } @else {
                    "Excludes transfers between your accounts. Includes refunds as money in, and pending transactions. Spending \
                     subtracts refunds and leaves out pending transactions."
                }
                @if self.counts_parts() {
                    " Only the matching parts of split transactions are included."
                }
            }
        }
    }

    /// Whether a split transaction is on the page, and the filter is one by which totals may include only some of its parts.
    fn counts_parts(&self) -> bool {
        let Filter { category, category_tier1, spending, .. } = &self.search.filter;
        let by_part = category.is_some() || category_tier1.is_some() || *spending;
        by_part && self.rows.iter().any(|it| !it.splits.is_empty())
    }

    fn table(&self) -> Markup {
        let here = urls::encode(&self.person.here);
        let body = html! {
            input type="hidden" name="next" value=(self.person.here);
            @for row in &self.rows { input type="hidden" name="shown" value=(row.id); }
            label.check.select-all {
                input type="checkbox" name="page" value="yes";
                span { "Select all on this page" }
            }
            table.ledger {
                thead { tr {
                    th.tick scope="col" { span.hush { "Select" } }
                    th scope="col" { "Description" }
                    th scope="col" { "Category" }
                    th scope="col" { "Account" }
                    th.figure scope="col" { "Amount" }
                } }
                @if self.search.is_by_day() {
                    @for day in self.rows.chunk_by(|a, b| a.posted_on == b.posted_on) {
                        tbody {
                            (self.day(day[0].posted_on))
                            @for row in day { (self.row(row, &here)) }
                        }
                    }
                } @else {
                    tbody { @for row in &self.rows { (self.row(row, &here)) } }
                }
            }
            (bulk::bar(&self.search, self.rows.len(), self.matching))
        };
        fields::form("/transactions/bulk", &self.person.form_token, body)
    }

    fn day(&self, on: Date) -> Markup {
        let totals = self.days.get(&on).map(Vec::as_slice).unwrap_or_default();
        html! {
            tr.day {
                th scope="rowgroup" colspan="4" { (self.person.view.day(on)) }
                td.figure {
                    @for total in totals {
                        (self.person.view.signed(Money::new(total.net_minor(), total.currency))) " "
                    }
                }
            }
        }
    }

    fn row(&self, row: &Row, here: &str) -> Markup {
        let name = row.name();
        let class = match (row.pending, row.is_transfer) {
            (true, _) => "pending",
            (false, true) => "transfer",
            (false, false) => "",
        };
        html! {
            tr class=(class) {
                td.tick {
                    input type="checkbox" name="id" value=(row.id) aria-label={ "Select " (name) };
                }
                td.what {
                    div.marked {
                        (icons::category_mark(row.category, row.is_transfer))
                        div {
                            a href={ "/transactions/" (row.id) "?back=" (here) } { (name) }
                            @if row.pending { " " span.badge.dotted { "Pending" } }
                            @if !self.search.is_by_day() {
                                span.soft { (self.person.view.day(row.posted_on)) }
                            }
                            @if !row.description.eq_ignore_ascii_case(name) {
                                span.soft.text { (row.description) }
                            }
                            @if let Some(note) = &row.note { span.soft.own-note { (note) } }
                            @if !row.tags.is_empty() { (tags(&row.tags)) }
                            span.soft.narrow { (kind(row)) " · " (row.account_name) }
                        }
                    }
                }
                td.kind { (kind(row)) }
                td.kind { (row.account_name) }
                td.figure { (self.person.view.signed(row.amount)) }
            }
        }
    }

    fn pages(&self) -> Markup {
        let first = self.search.href("/transactions", None);
        let (start, further) = match self.search.sort {
            Sort::Newest => ("Newest", "Older"),
            Sort::Oldest => ("Oldest", "Newer"),
            Sort::Largest => ("Largest", "Smaller"),
            Sort::Smallest => ("Smallest", "Larger"),
        };
        html! {
            nav.pages aria-label="Transaction pages" {
                @if self.search.cursor().is_some() { a href=(first) { (start) } } @else { span {} }
                @if let Some(next) = &self.next_cursor {
                    a href=(self.search.href("/transactions", Some(next))) rel="next" { (further) }
                } @else if let Some((from, href)) = self.search.month_before() {
                    a href=(href) { (self.person.view.month(from)) }
                }
            }
        }
    }
}

/// Links to the transactions with each tag.
pub(super) fn tags(tags: &str) -> Markup {
    html! {
        span.tags {
            @for tag in tags.split_ascii_whitespace() {
                a.badge href={ "/transactions" (urls::query_string(&[("tag", tag)])) } { "#" (tag) }
                " "
            }
        }
    }
}

fn named(account: &Account) -> &str {
    &account.name
}

/// The category, or those of the parts of a split transaction.
fn kind(row: &Row) -> Cow<'static, str> {
    if !row.splits.is_empty() {
        let parts = split::read(&row.splits).flatten().map(|it| it.category.label());
        return format!("Split: {}", parts.collect::<Vec<_>>().join(", ")).into();
    }
    let kind = match (row.is_transfer, row.category) {
        (true, _) => "Transfer",
        (false, Some(category)) => category.label(),
        (false, None) => "No category",
    };
    kind.into()
}
