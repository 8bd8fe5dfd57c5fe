//! The newest transactions, as a short list on the overview.

use maud::{Markup, html};
use service::ledger::transactions::Filter;

use super::{Row, rows};
use crate::site::icons;
use crate::site::person::Person;

/// The newest transactions.
pub(in crate::site) struct Recent(Vec<Row>);

impl Recent {
    pub(in crate::site) async fn read(person: &Person, count: usize) -> service::Result<Recent> {
        Recent::find(person, &Filter::default(), count).await
    }

    /// The newest transactions that match a filter.
    pub(in crate::site) async fn find(
        person: &Person,
        filter: &Filter,
        count: usize,
    ) -> service::Result<Recent> {
        let (rows, _) = rows(person, filter, None, count).await?;
        Ok(Recent(rows))
    }

    pub(in crate::site) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::site) fn list(&self, person: &Person) -> Markup {
        html! { ul.rows { @for row in &self.0 { (item(person, row)) } } }
    }

    pub(in crate::site) fn card(&self, person: &Person) -> Markup {
        html! {
            section.card aria-labelledby="recent" {
                header {
                    h2 id="recent" { "Recent transactions" }
                    a.more href="/transactions" { "All transactions" }
                }
                @if self.0.is_empty() {
                    p.soft { "No transactions yet." }
                } @else {
                    (self.list(person))
                }
            }
        }
    }
}

fn item(person: &Person, row: &Row) -> Markup {
    let view = person.view;
    html! {
        li class=[row.pending.then_some("pending")] {
            span.what.marked {
                (icons::category_mark(row.category, row.is_transfer))
                span {
                    a href={ "/transactions/" (row.id) "?back=%2F" } { (row.name()) }
                    span.soft { (view.relative_day(row.posted_on)) " · " (row.account_name) }
                }
            }
            (view.signed(row.amount))
        }
    }
}
