//! Separates several contracts with one counterparty by their amounts, or by when they were active.

use super::amounts::{AmountClass, is_price_ratio};
use super::detection::{
    DetectedStream, GroupTraits, Strictness, detect_stream, early, monthly_bill,
};
use super::schedule::Frequency;
use super::{PaymentKind, Point};

/// Amounts belong to different contracts if the higher is more than this many percent, and more than this many minor
/// units, above the lower.
const SPLIT_PERCENT: i128 = 12;
const SPLIT_MINOR: i64 = 100;
/// The number of other clusters tried as an earlier or later price of a contract.
const STITCHES_MAX: usize = 6;
/// The maximum number of yearly contracts with one counterparty, and the minimum distance between their payments.
const YEARLY_MAX: usize = 6;
const YEAR_DAYS: std::ops::RangeInclusive<i64> = 355..=376;
/// How often a history may be split in time.
const CUTS_MAX: usize = 3;

/// All streams among points in date order. No point is in two streams.
pub(super) fn find(points: &[Point], traits: GroupTraits) -> Vec<DetectedStream> {
    match detect_stream(points, traits, Strictness::Usual) {
        Some(whole) => match side_by_side(points, &whole, traits) {
            Some(parts) => parts,
            None => vec![whole],
        },
        None => match monthly_bill(points, traits) {
            Some(bill) => vec![bill],
            None => apart(points, traits),
        },
    }
}

/// The parallel contracts that together look like one stream with varying amounts, if each alone is more regular than
/// the whole. For inflows with nearly equal amounts the whole is kept, because a payer's amounts may alternate.
fn side_by_side(
    points: &[Point],
    whole: &DetectedStream,
    traits: GroupTraits,
) -> Option<Vec<DetectedStream>> {
    if whole.class.is_contractual() || (traits.inflow && whole.class.is_regular()) {
        return None;
    }
    // Bonus months form a stream of their own, which leaves gaps in the other.
    let part_covers = if whole.class.is_regular() { 90 } else { 75 };
    let is_better = |parts: &Vec<DetectedStream>| {
        parts.len() >= 2
            && count(parts) * 10 >= points.len() * 9
            && parts.iter().all(|it| it.class.is_contractual() && it.fit.covers(part_covers))
            && parts.iter().all(|it| parts.iter().any(|other| run_together(it, other)))
    };
    let split = |percent: i128, minor: i64| {
        contracts(clusters(points, percent, minor, 1), traits, |it| strictness(it, traits)).0
    };
    let coarse = Some(split(SPLIT_PERCENT, SPLIT_MINOR)).filter(is_better);
    coarse.or_else(|| Some(split(0, 0)).filter(is_better))
}

fn run_together(a: &DetectedStream, b: &DetectedStream) -> bool {
    !std::ptr::eq(a, b) && !is_apart(&a.points, &b.points)
}

fn is_apart(a: &[Point], b: &[Point]) -> bool {
    let ends = |it: &[Point]| (it[0].at.day, it[it.len() - 1].at.day);
    let ((a_first, a_last), (b_first, b_last)) = (ends(a), ends(b));
    a_last < b_first || b_last < a_first
}

/// The streams of a group that is not a stream as a whole.
fn apart(points: &[Point], traits: GroupTraits) -> Vec<DetectedStream> {
    let mut by_amount = Vec::new();
    let mut rest = points.to_vec();
    let coarse = clusters(points, SPLIT_PERCENT, SPLIT_MINOR, 1);
    // A single cluster is the whole group, which is not a stream.
    if coarse.len() > 1 {
        (by_amount, rest) = contracts(coarse, traits, |it| strictness(it, traits));
    }
    // A subscription at a merchant with other purchases, or beside a similar one: amounts are too close to be split,
    // but its price repeats to the cent.
    let (usual, least) = match traits.payment_kind {
        PaymentKind::Bill => (Strictness::Usual, 1),
        PaymentKind::Habit | PaymentKind::Cash | PaymentKind::Other => (Strictness::Strict, 2),
    };
    by_amount.retain(|it| {
        let is_stream = !is_coincidence(it, points);
        if !is_stream {
            rest.extend_from_slice(&it.points);
        }
        is_stream
    });
    rest.sort_unstable_by_key(Point::order);
    let mut prices = clusters(&rest, 0, 0, least);
    by_amount = by_amount.into_iter().map(|it| stitched(it, &mut prices, traits)).collect();
    prices.retain(|it| !it.is_empty() && it.len() < points.len());
    let (found, rest) = contracts(prices, traits, |_| usual);
    by_amount.extend(found);
    // Only a bill is recognized this early.
    if traits.payment_kind == PaymentKind::Bill {
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

/// Whether a few similar payments, far apart among many others, only look like a contract: a bill that follows the
/// seasons is similar every January.
fn is_coincidence(detected: &DetectedStream, points: &[Point]) -> bool {
    let own = &detected.points;
    let (first, last) = (own[0], own[own.len() - 1]);
    let is_rare = detected.fit.schedule.frequency >= Frequency::Quarterly;
    let is_one_price = own.iter().all(|it| it.amount_minor == first.amount_minor);
    let within = |it: &&Point| (first.at.day..=last.at.day).contains(&it.at.day);
    is_rare && !is_one_price && points.iter().filter(within).count() >= 4 * own.len()
}

fn count(detected: &[DetectedStream]) -> usize {
    detected.iter().map(|it| it.points.len()).sum()
}

/// Splits the sorted amounts where they jump, and keeps the clusters that are large enough, each in the order of its
/// points: by date, or at least so among equal amounts.
fn clusters(points: &[Point], percent: i128, minor: i64, least: usize) -> Vec<Vec<Point>> {
    // Points are large, so amounts with the indexes of their points are sorted instead.
    let mut sorted: Vec<(i64, usize)> =
        points.iter().zip(0..).map(|(it, index)| (it.amount_minor, index)).collect();
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

/// Clusters that are streams, joined with clusters that are the same contract at another price; and the points of all
/// others.
fn contracts(
    mut clusters: Vec<Vec<Point>>,
    traits: GroupTraits,
    strictness: impl Fn(&[Point]) -> Strictness,
) -> (Vec<DetectedStream>, Vec<Point>) {
    // The longest first: they are the most certain, and the clusters they absorb need not be examined.
    clusters.sort_by_key(|it| (std::cmp::Reverse(it.len()), it[0].order()));
    let mut streams = Vec::new();
    for index in 0..clusters.len() {
        let cluster = &clusters[index];
        if !cluster.is_empty()
            && let Some(detected) = detect_stream(cluster, traits, strictness(cluster))
        {
            clusters[index].clear();
            streams.push(stitched(detected, &mut clusters, traits));
        }
    }
    (streams, clusters.concat())
}

/// The stream joined with all clusters that continue where it ends, or end where it begins. Joined clusters are left
/// empty.
fn stitched(
    mut detected: DetectedStream,
    clusters: &mut [Vec<Point>],
    traits: GroupTraits,
) -> DetectedStream {
    let mut tries = 0;
    let mut index = 0;
    while index < clusters.len() && tries < STITCHES_MAX {
        let other = &clusters[index];
        index += 1;
        if other.is_empty() || !may_be_one_price_on(&detected.points, other, traits) {
            continue;
        }
        tries += 1;
        let mut joined = detected.points.clone();
        joined.extend_from_slice(other);
        joined.sort_unstable_by_key(Point::order);
        if let Some(longer) = detect_stream(&joined, traits, Strictness::Usual)
            && longer.class.is_regular()
        {
            detected = longer;
            clusters[index - 1].clear();
            // The joined cluster may make further ones adjacent.
            index = 0;
        }
    }
    detected
}

/// Whether one run may be the other at an earlier or later price. A single payment is only accepted for bills.
fn may_be_one_price_on(run: &[Point], other: &[Point], traits: GroupTraits) -> bool {
    let (earlier, later) =
        if run[0].order() < other[0].order() { (run, other) } else { (other, run) };
    is_apart(run, other)
        && (other.len() > 1 || traits.payment_kind == PaymentKind::Bill)
        && is_price_ratio(earlier[earlier.len() - 1].amount_minor, later[0].amount_minor)
}

/// Yearly contracts with similar or rising amounts, separated by their season.
fn anniversaries(points: &[Point], traits: GroupTraits) -> Vec<DetectedStream> {
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
    runs.iter().filter_map(|it| detect_stream(it, traits, strictness(it, traits))).collect()
}

/// Among many payments two happen to be a year apart, unless all are bills or the two are equal.
fn strictness(picked: &[Point], traits: GroupTraits) -> Strictness {
    let is_usual = picked.len() > 2
        || traits.payment_kind == PaymentKind::Bill
        || picked[0].amount_minor == picked[picked.len() - 1].amount_minor;
    if is_usual { Strictness::Usual } else { Strictness::Strict }
}

/// Handles a contract that paused or moved to another day: splits at the most unusual gap, and examines both sides.
/// Habits have such stretches by chance, so everything but bills is treated like a habit.
fn cut_in_time(
    points: &[Point],
    traits: GroupTraits,
    cuts: usize,
    found: &mut Vec<DetectedStream>,
) {
    let as_habit = match traits.payment_kind {
        PaymentKind::Habit | PaymentKind::Cash => return,
        PaymentKind::Other => GroupTraits { payment_kind: PaymentKind::Habit, ..traits },
        PaymentKind::Bill => traits,
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
        match is_priced.then(|| detect_stream(side, as_habit, Strictness::Strict)).flatten() {
            Some(detected) => found.push(detected),
            None => cut_in_time(side, traits, cuts - 1, found),
        }
    }
}
