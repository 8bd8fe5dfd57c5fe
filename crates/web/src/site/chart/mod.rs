//! Charts rendered on the server as SVG, each with the same data as a table.

mod bars;
mod line;
pub(crate) mod ranges;
mod sankey;
mod scale;
mod shares;
mod stacks;
mod ticks;

pub(crate) use bars::{Bars, Group};
pub(crate) use line::{Line, NumberLine, Point};
pub(crate) use sankey::{Sankey, Stream};
pub(crate) use shares::Shares;
pub(crate) use stacks::{Series, Stacks};

use maud::{Markup, html};

use self::scale::Scale;

/// The size of the SVG in its own units; the browser scales it.
const WIDTH: i64 = 720;
const HEIGHT: i64 = 276;
/// Space for the labels left of the plot and below it, and above it for half a label. On the narrowest phones a label is
/// 28 units high, and the lowest amount must not touch the first day.
const LEFT: i64 = 100;
const FOOT: i64 = 48;
const HEAD: i64 = 14;
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

/// The horizontal lines of a chart with their labels left of the plot.
fn grid(scale: &Scale, label: &dyn Fn(i64) -> String) -> Markup {
    html! {
        @for line in &scale.lines {
            line.grid x1=(LEFT) x2=(WIDTH) y1=(scale.y(*line)) y2=(scale.y(*line)) {}
            text.label.end x=(LEFT - 8) y=(scale.y(*line)) dy="0.32em" { (label(*line)) }
        }
    }
}

/// A label along time, in the middle of its place. One that would stick out on the right ends with the plot.
fn time_label(x_tenths: i64, name: &str) -> Markup {
    // Half of the width on the narrowest phones, where letters are largest in relation to the chart.
    let half = name.chars().count() as i64 * 8;
    html! {
        @if x_tenths <= (WIDTH - half) * 10 {
            text.label.middle.time x=(scale::decimal(x_tenths)) y=(HEIGHT - 10) { (name) }
        } @else {
            text.label.end.time x=(WIDTH) y=(HEIGHT - 10) { (name) }
        }
    }
}

/// The CSS class for the color of a series.
fn series(index: usize) -> &'static str {
    ["first", "second", "third", "c1", "c4", "c7", "c2", "c6"][index % 8]
}
