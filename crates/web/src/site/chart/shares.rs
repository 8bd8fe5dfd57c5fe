//! A thin bar whose segments show parts of a whole.

use maud::{Markup, html};

use super::{WIDTH, series};

/// The sizes of the parts; negative ones take no space.
pub(crate) struct Shares<'a>(pub(crate) &'a [i64]);

impl Shares<'_> {
    /// Draws the bar. It is hidden from screen readers, because the figures are listed beside it.
    pub(crate) fn draw(&self) -> Markup {
        html! {
            svg.pieces viewBox={ "0 0 " (WIDTH) " 8" } preserveAspectRatio="none" aria-hidden="true" {
                @for (index, (x, width)) in self.pieces().into_iter().enumerate() {
                    rect.stave.(series(index)) x=(x) y="0" width=(width) height="8" {}
                }
            }
        }
    }

    /// The color key of a segment.
    pub(crate) fn key(index: usize) -> Markup {
        html! { span.swatch.(series(index)) {} }
    }

    /// The start and width of each segment, with a small gap between them.
    fn pieces(&self) -> Vec<(i64, i64)> {
        // All parts have the same sign, except for an overpaid debt.
        let sign: i128 =
            if self.0.iter().map(|it| i128::from(*it)).sum::<i128>() < 0 { -1 } else { 1 };
        let size = |it: &i64| (i128::from(*it) * sign).max(0);
        let whole = self.0.iter().map(size).sum::<i128>().max(1);
        let mut before = 0;
        let mut pieces = Vec::new();
        for it in self.0 {
            let start = before * i128::from(WIDTH) / whole;
            before += size(it);
            let end = before * i128::from(WIDTH) / whole;
            let gap = if before < whole { 2 } else { 0 };
            pieces.push((start as i64, (end - start - gap).max(0) as i64));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fill_the_bar_in_proportion() {
        assert_eq!(Shares(&[300, 100]).pieces(), [(0, 538), (540, 180)]);
        assert_eq!(Shares(&[-100, -300]).pieces(), [(0, 178), (180, 540)]);
        assert_eq!(Shares(&[0, 0]).pieces(), [(0, 0), (0, 0)]);
        assert_eq!(Shares(&[i64::MAX, i64::MAX]).pieces(), [(0, 358), (360, 360)]);
        assert_eq!(Shares(&[500, -100]).pieces(), [(0, 720), (720, 0)]);
    }
}
