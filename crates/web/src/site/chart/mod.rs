//! Charts drawn on the server: thin strokes, few lines, labels at the ends, and the same figures as a table behind.

mod bars;
mod line;
pub(crate) mod ranges;
mod scale;
mod shares;

pub(crate) use bars::{Bars, Group};
pub(crate) use line::{Line, NumberLine, Point};
pub(crate) use shares::Shares;

use maud::{Markup, html};

/// The picture's own units; the browser scales them to the width there is.
const WIDTH: i64 = 720;
const HEIGHT: i64 = 268;
/// Room for the labels of days below, and for the topmost figure above.
const FOOT: i64 = 36;
const HEAD: i64 = 24;
const PLOT: i64 = HEIGHT - FOOT - HEAD;

/// The figure around a picture: its value under the pointer, and its table.
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
                div.scroll tabindex="0" role="group" aria-label={ (title) ", as a table" } {
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

/// The class of the colour that a series has.
fn series(index: usize) -> &'static str {
    ["first", "second", "third"][index % 3]
}
