//! Charts rendered on the server as SVG, each with the same data as a table.

mod bars;
mod line;
pub(crate) mod ranges;
mod scale;
mod shares;

pub(crate) use bars::{Bars, Group};
pub(crate) use line::{Line, NumberLine, Point};
pub(crate) use shares::Shares;

use maud::{Markup, html};

/// The size of the SVG in its own units; the browser scales it.
const WIDTH: i64 = 720;
const HEIGHT: i64 = 268;
/// Space for the date labels below and the topmost label above.
const FOOT: i64 = 36;
const HEAD: i64 = 24;
const PLOT: i64 = HEIGHT - FOOT - HEAD;

/// A chart with its title, the value under the pointer, and its data as a table.
fn figure(
    title: &str,
    picture: Markup,
    columns: &[&str],
    rows: &[(String, Vec<String>)],
) -> Markup {
    html! {
        figure.chart {
            figcaption {
                span.hush { (title) }
                output.value aria-live="polite" {}
            }
            (picture)
            details {
                summary { "Show as table" }
                div.scroll tabindex="0" role="group" aria-label={ (title) ", table" } {
                    table {
                        thead { tr { @for name in columns { th scope="col" { (name) } } } }
                        tbody {
                            @for (name, values) in rows {
                                tr {
                                    th scope="row" { (name) }
                                    @for value in values { td.figure { (value) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The CSS class for the color of a series.
fn series(index: usize) -> &'static str {
    ["first", "second", "third"][index % 3]
}
