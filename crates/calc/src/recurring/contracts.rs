//! Several agreements with one counterparty: told apart by their amounts, or by when they ran.

use super::amounts::{AmountClass, is_price_ratio};
use super::judge::{Rigour, Traits, Verdict, early, judge};
use super::{Nature, Point};

/// Amounts belong to different contracts when the higher is more than this many percent above the
/// lower, and more than so many minor units.
const SPLIT_PERCENT: i128 = 12;
const SPLIT_MINOR: i64 = 100;
/// How many other clusters a contract may be tried with as its former or later price.
const STITCHES_MAX: usize = 6;
/// How many yearly contracts one may have with one counterparty, and how far apart their payments
/// lie.
const YEARLY_MAX: usize = 6;
const YEAR_DAYS: std::ops::RangeInclusive<i64> = 355..=376;
/// How often a history may be cut in time.
const CUTS_MAX: usize = 3;

/// All streams among points that are oldest first. No point is in two.
pub(super) fn find(points: &[Point], traits: Traits) -> Vec<Verdict> {
    match judge(points, traits, Rigour::Usual) {
        Some(whole) => match side_by_side(points, &whole, traits) {
            Some(parts) => parts,
            None => vec![whole],
        },
        None => apart(points, traits),
    }
}

/// The contracts that together look like one stream of varying amounts, where each alone is more
/// regular than the whole. A payer's amounts may alternate, so the whole is kept where money comes
/// in at nearly equal amounts.
fn side_by_side(points: &[Point], whole: &Verdict, traits: Traits) -> Option<Vec<Verdict>> {
    if whole.class.is_contractual() || (traits.inflow && whole.class.is_regular()) {
        return None;
    }
    // Bonus months are a stream of their own that leaves gaps in the other.
    let part_covers = if whole.class.is_regular() { 90 } else { 75 };
    let is_better = |parts: &Vec<Verdict>| {
        parts.len() >= 2
            && count(parts) * 10 >= points.len() * 9
            && parts.iter().all(|it| it.class.is_contractual() && it.fit.covers(part_covers))
            && parts.iter().all(|it| parts.iter().any(|other| run_together(it, other)))
    };
    let split = |percent: i128, minor: i64| {
        contracts(clusters(points, percent, minor, 1), traits, |it| rigour(it, traits)).0
    };
    let coarse = Some(split(SPLIT_PERCENT, SPLIT_MINOR)).filter(is_better);
    coarse.or_else(|| Some(split(0, 0)).filter(is_better))
}

fn run_together(a: &Verdict, b: &Verdict) -> bool {
    !std::ptr::eq(a, b) && !is_apart(&a.points, &b.points)
}

fn is_apart(a: &[Point], b: &[Point]) -> bool {
    let ends = |it: &[Point]| (it[0].at.day, it[it.len() - 1].at.day);
    let ((a_first, a_last), (b_first, b_last)) = (ends(a), ends(b));
    a_last < b_first || b_last < a_first
}

/// Streams in a group that as a whole is none.
fn apart(points: &[Point], traits: Traits) -> Vec<Verdict> {
    let mut by_amount = Vec::new();
    let mut rest = points.to_vec();
    let coarse = clusters(points, SPLIT_PERCENT, SPLIT_MINOR, 1);
    // A single cluster is the whole, and that is none.
    if coarse.len() > 1 {
        (by_amount, rest) = contracts(coarse, traits, |it| rigour(it, traits));
    }
    // A subscription bought where one also shops, or beside a like one: amounts lie too dense to
    // be cut, but its price returns to the cent.
    let (usual, least) = match traits.nature {
        Nature::Bill => (Rigour::Usual, 1),
        Nature::Habitual | Nature::Other => (Rigour::Strict, 2),
    };
    let mut prices = clusters(&rest, 0, 0, least);
    by_amount = by_amount.into_iter().map(|it| stitched(it, &mut prices, traits)).collect();
    prices.retain(|it| !it.is_empty() && it.len() < points.len());
    let (found, rest) = contracts(prices, traits, |_| usual);
    by_amount.extend(found);
    // Only a bill is known so early.
    if traits.nature == Nature::Bill {
        by_amount.extend(clusters(&rest, 0, 0, 2).iter().filter_map(|it| early(it, traits, 0)));
    }
    if count(&by_amount) * 10 < points.len() * 9 {
        let yearly = anniversaries(points, traits);
        if count(&yearly) * 10 >= points.len() * 9 {
            return yearly;
        }
        let mut by_time = Vec::new();
        cut_in_time(points, traits, CUTS_MAX, &mut by_time);
        if count(&by_time) > count(&by_amount) {
            return by_time;
        }
    }
    if by_amount.is_empty() && points.len() <= 3 {
        by_amount.extend(early(points, traits, 5));
    }
    by_amount
}

fn count(verdicts: &[Verdict]) -> usize {
    verdicts.iter().map(|it| it.points.len()).sum()
}

/// Cuts the sorted amounts where they leap, and keeps the parts that are not too short, each in the
/// order in which its points came: that of time, as all come so, or at least those of one amount
/// where only equal ones are kept together.
fn clusters(points: &[Point], percent: i128, minor: i64, least: usize) -> Vec<Vec<Point>> {
    // Points are large, so what is sorted are amounts with the places of their points.
    let mut sorted: Vec<(i64, usize)> =
        points.iter().zip(0..).map(|(it, place)| (it.amount_minor, place)).collect();
    sorted.sort_by_key(|it| it.0);
    let leaps =
        |a: i64, b: i64| b - a > minor && i128::from(b) * 100 > i128::from(a) * (100 + percent);
    let mut parts: Vec<Vec<Point>> = Vec::new();
    let mut part_of: Vec<Option<usize>> = vec![None; points.len()];
    for part in sorted.chunk_by(|a, b| !leaps(a.0, b.0)).filter(|it| it.len() >= least) {
        part.iter().for_each(|it| part_of[it.1] = Some(parts.len()));
        parts.push(Vec::with_capacity(part.len()));
    }
    for (point, part) in points.iter().zip(part_of) {
        if let Some(part) = part {
            parts[part].push(*point);
        }
    }
    parts
}

/// Clusters that are streams, joined with those that are the same contract at another price; and
/// the points of all others.
fn contracts(
    mut clusters: Vec<Vec<Point>>,
    traits: Traits,
    rigour: impl Fn(&[Point]) -> Rigour,
) -> (Vec<Verdict>, Vec<Point>) {
    // The longest first: they are the surest, and what they absorb is no longer looked at.
    clusters.sort_by_key(|it| (std::cmp::Reverse(it.len()), it[0].order()));
    let mut verdicts = Vec::new();
    for index in 0..clusters.len() {
        let cluster = &clusters[index];
        if !cluster.is_empty()
            && let Some(verdict) = judge(cluster, traits, rigour(cluster))
        {
            clusters[index].clear();
            verdicts.push(stitched(verdict, &mut clusters, traits));
        }
    }
    (verdicts, clusters.concat())
}

/// The verdict with all clusters joined to it that go on where it ends, or end where it begins.
/// Those are left empty.
fn stitched(mut verdict: Verdict, clusters: &mut [Vec<Point>], traits: Traits) -> Verdict {
    let mut tries = 0;
    let mut index = 0;
    while index < clusters.len() && tries < STITCHES_MAX {
        let other = &clusters[index];
        index += 1;
        if other.is_empty() || !may_be_one_price_on(&verdict.points, other, traits) {
            continue;
        }
        tries += 1;
        let mut joined = verdict.points.clone();
        joined.extend_from_slice(other);
        joined.sort_unstable_by_key(Point::order);
        if let Some(longer) = judge(&joined, traits, Rigour::Usual)
            && longer.class.is_regular()
        {
            verdict = longer;
            clusters[index - 1].clear();
            // What lies beyond the newly joined may follow now.
            index = 0;
        }
    }
    verdict
}

/// Whether one run may be the other at a former or later price. A single payment says that only
/// among bills.
fn may_be_one_price_on(run: &[Point], other: &[Point], traits: Traits) -> bool {
    let (earlier, later) =
        if run[0].order() < other[0].order() { (run, other) } else { (other, run) };
    is_apart(run, other)
        && (other.len() > 1 || traits.nature == Nature::Bill)
        && is_price_ratio(earlier[earlier.len() - 1].amount_minor, later[0].amount_minor)
}

/// Yearly contracts of like or rising amounts, told apart by their season.
fn anniversaries(points: &[Point], traits: Traits) -> Vec<Verdict> {
    let a_year_after = |last: &Point, next: &Point| {
        YEAR_DAYS.contains(&(next.at.day - last.at.day))
            && is_price_ratio(last.amount_minor, next.amount_minor)
    };
    let mut runs: Vec<Vec<Point>> = Vec::new();
    for point in points {
        let follows = |run: &Vec<Point>| run.last().is_some_and(|it| a_year_after(it, point));
        match runs.iter().position(follows) {
            Some(run) => runs[run].push(*point),
            None if runs.len() == YEARLY_MAX => return Vec::new(),
            None => runs.push(vec![*point]),
        }
    }
    runs.iter().filter_map(|it| judge(it, traits, rigour(it, traits))).collect()
}

/// Among many payments some two lie a year apart, unless all are bills or these two are equal.
fn rigour(picked: &[Point], traits: Traits) -> Rigour {
    let is_usual = picked.len() > 2
        || traits.nature == Nature::Bill
        || picked[0].amount_minor == picked[picked.len() - 1].amount_minor;
    if is_usual { Rigour::Usual } else { Rigour::Strict }
}

/// An agreement that paused, or moved to another day: cuts at the most unusual gap, and judges both
/// sides alone. Habits have such stretches by chance, so all but bills are judged like habits.
fn cut_in_time(points: &[Point], traits: Traits, cuts: usize, found: &mut Vec<Verdict>) {
    let as_habit = match traits.nature {
        Nature::Habitual => return,
        Nature::Other => Traits { nature: Nature::Habitual, ..traits },
        Nature::Bill => traits,
    };
    if points.len() < 6 || cuts == 0 {
        return;
    }
    let mut gaps: Vec<i64> = points.windows(2).map(|it| it[1].at.day - it[0].at.day).collect();
    let by_index = gaps.clone();
    let middle = gaps.len() / 2;
    let usual = *gaps.select_nth_unstable(middle).1;
    let unusual = |index: &usize| (by_index[*index] - usual).abs();
    let Some(at) = (0..by_index.len()).max_by_key(unusual) else { return };
    for side in [&points[..=at], &points[at + 1..]] {
        let amounts: Vec<i64> = side.iter().map(|it| it.amount_minor).collect();
        let is_priced = AmountClass::of(&amounts).is_contractual();
        match is_priced.then(|| judge(side, as_habit, Rigour::Strict)).flatten() {
            Some(verdict) => found.push(verdict),
            None => cut_in_time(side, traits, cuts - 1, found),
        }
    }
}
