//! Sankey diagrams: where money came from on the left, where it went on the right.

use base::{Currency, Money};
use maud::{Markup, html};

use super::WIDTH;
use super::scale::decimal;
use crate::site::format::View;

/// One source or target.
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) minor: i64,
    /// The CSS class of its color.
    pub(crate) color: String,
}

/// Both sides have the same sum.
pub(crate) struct Sankey<'a> {
    pub(crate) title: &'a str,
    pub(crate) currency: Currency,
    pub(crate) sources: &'a [Stream],
    pub(crate) targets: &'a [Stream],
}

const HEIGHT: i64 = 360;
/// The space that a stream takes beside its band, so that labels do not overlap.
const LABEL: i64 = 18;
/// Where the sources, the middle and the targets begin, and how wide they are.
const SOURCES_X: i64 = 196;
const MIDDLE_X: i64 = 355;
const TARGETS_X: i64 = 514;
const BAR: i64 = 10;
const NAME_MAX: usize = 20;

/// A stream's place, in tenths: its own top, its top in the middle, and its height.
struct Band<'a> {
    stream: &'a Stream,
    top: i64,
    middle: i64,
    height: i64,
}

impl Band<'_> {
    fn center(&self) -> i64 {
        self.top + self.height / 2
    }
}

impl Sankey<'_> {
    /// Draws the picture, and the same as two lists. On a phone the picture has the names, and the lists the amounts too.
    pub(crate) fn draw(&self, view: View) -> Markup {
        let (sources, targets) = (self.bands(self.sources), self.bands(self.targets));
        let top = sources.iter().map(|it| it.middle).min().unwrap_or(0);
        let height: i64 = sources.iter().map(|it| it.height).sum();
        html! {
            figure.sankey {
                figcaption.hush { (self.title) }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" focusable="false" {
                    rect.stave.total x=(MIDDLE_X) width=(BAR) y=(decimal(top)) height=(decimal(height)) {}
                    @for band in &sources { (self.source(view, band)) }
                    @for band in &targets { (self.target(view, band)) }
                }
                div.columns {
                    (self.list(view, "Money in", self.sources))
                    (self.list(view, "Money out", self.targets))
                }
            }
        }
    }

    fn bands<'a>(&self, streams: &'a [Stream]) -> Vec<Band<'a>> {
        let total: i128 = streams.iter().map(|it| i128::from(it.minor.max(0))).sum::<i128>().max(1);
        let most = self.sources.len().max(self.targets.len()) as i64;
        let usable = (HEIGHT - most * LABEL).max(HEIGHT / 4) * 10;
        let height =
            |it: &Stream| (i128::from(it.minor.max(0)) * i128::from(usable) / total).max(6) as i64;
        let mut middle = (HEIGHT * 10 - streams.iter().map(height).sum::<i64>()) / 2;
        let all: i64 = streams.iter().map(|it| height(it) + LABEL * 10).sum();
        let mut top = (HEIGHT * 10 - all).max(0) / 2;
        let mut bands = Vec::new();
        for stream in streams {
            let height = height(stream);
            bands.push(Band { stream, top: top + LABEL * 5, middle, height });
            top += height + LABEL * 10;
            middle += height;
        }
        bands
    }

    fn source(&self, view: View, band: &Band<'_>) -> Markup {
        let color = &band.stream.color;
        html! {
            path.band.(color) d=(ribbon(SOURCES_X, band.top, MIDDLE_X, band.middle, band.height)) {}
            rect.stave.(color) x=(SOURCES_X - BAR) width=(BAR) y=(decimal(band.top)) height=(decimal(band.height)) {}
            text.label.end x=(SOURCES_X - BAR - 8) y=(decimal(band.center())) dy="0.32em" {
                (self.label(view, band.stream))
            }
            text.inner x=(SOURCES_X + 6) y=(decimal(band.center())) dy="0.32em" { (shortened(&band.stream.name)) }
        }
    }

    fn target(&self, view: View, band: &Band<'_>) -> Markup {
        let color = &band.stream.color;
        html! {
            path.band.(color) d=(ribbon(MIDDLE_X + BAR, band.middle, TARGETS_X, band.top, band.height)) {}
            rect.stave.(color) x=(TARGETS_X) width=(BAR) y=(decimal(band.top)) height=(decimal(band.height)) {}
            text.label x=(TARGETS_X + BAR + 8) y=(decimal(band.center())) dy="0.32em" {
                (self.label(view, band.stream))
            }
            text.inner.end x=(TARGETS_X - 6) y=(decimal(band.center())) dy="0.32em" { (shortened(&band.stream.name)) }
        }
    }

    fn label(&self, view: View, stream: &Stream) -> String {
        let amount = view.whole_money_text(Money::new(stream.minor, self.currency));
        format!("{} {amount}", shortened(&stream.name))
    }

    fn list(&self, view: View, title: &str, streams: &[Stream]) -> Markup {
        html! {
            section aria-label=(title) {
                h3 { (title) }
                ul.rows {
                    @for it in streams {
                        li {
                            span.what { span.swatch.(it.color) {} (it.name) }
                            (view.money(Money::new(it.minor, self.currency)))
                        }
                    }
                }
            }
        }
    }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_MAX {
        return name.to_owned();
    }
    let start: String = name.chars().take(NAME_MAX - 1).collect();
    format!("{}…", start.trim_end())
}

/// The outline of a band of one height from one side to the other. `x` is in whole units, `y` in tenths.
fn ribbon(x0: i64, y0: i64, x1: i64, y1: i64, height: i64) -> String {
    let middle = (x0 + x1) / 2;
    let [a, b, c, d] = [y0, y1, y1 + height, y0 + height].map(decimal);
    format!("M{x0} {a}C{middle} {a} {middle} {b} {x1} {b}V{c}C{middle} {c} {middle} {d} {x0} {d}z")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn streams_never_overlap_and_stay_in_the_picture(
            amounts in prop::collection::vec(1_i64..1_000_000_000, 1..10),
        ) {
            let stream = |minor: &i64| Stream { name: String::new(), minor: *minor, color: String::new() };
            let targets: Vec<Stream> = amounts.iter().map(stream).collect();
            let sankey = Sankey { title: "", currency: Currency::USD, sources: &[], targets: &targets };
            let bands = sankey.bands(&targets);
            for pair in bands.windows(2) {
                prop_assert!(pair[0].top + pair[0].height + LABEL * 9 <= pair[1].top);
                prop_assert!(pair[0].middle + pair[0].height == pair[1].middle);
            }
            let last = bands.last().unwrap();
            prop_assert!(bands[0].top >= 0 && last.top + last.height <= HEIGHT * 10 + 60);
        }
    }

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(shortened("General merchandise"), "General merchandise");
        assert_eq!(shortened("Government and non-profit"), "Government and non-…");
    }
}
