//! The time range of a chart, chosen by links and kept in the URL.

use maud::{Markup, html};
use service::ledger::spans::Span;

use crate::site::urls;

pub(crate) fn links(path: &str, chosen: Span) -> Markup {
    html! {
        nav aria-label="Time range" {
            ul.chips {
                @for span in Span::ALL {
                    @let current = (*span == chosen).then_some("true");
                    li {
                        a href={ (path) (urls::query_string(&[("range", span.as_str())])) }
                            aria-current=[current] { (name(*span)) }
                    }
                }
            }
        }
    }
}

fn name(span: Span) -> &'static str {
    match span {
        Span::Month => "1M",
        Span::Quarter => "3M",
        Span::HalfYear => "6M",
        Span::Year => "1Y",
        Span::All => "All",
    }
}
