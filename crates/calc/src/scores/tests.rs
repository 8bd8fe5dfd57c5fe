//! Tests of the scores: three worked examples, the explanation, and properties of the curves.

use proptest::prelude::*;

use super::*;

/// Inputs with amounts in whole units. Low days are in hundredths, surplus months in twelfths.
fn example(
    [income, expenses, debt, rent]: [i64; 4],
    [liquid, used, limit, purchases]: [i64; 4],
    (low, distress_months, cv, surplus): (u32, u32, &str, u32),
) -> Inputs {
    Inputs {
        income_minor: income * 100,
        expenses_minor: expenses * 100,
        debt_minor: debt * 100,
        rent_minor: rent * 100,
        liquid_minor: liquid * 100,
        card_balance_minor: used * 100,
        card_purchases_minor: purchases * 100,
        credit: Some(Credit { used_minor: used * 100, limit_minor: limit * 100 }),
        low_days: Ratio { part: low, whole: 100 },
        distress_months,
        cv: Some(Fixed9::parse(cv).unwrap()),
        surplus_months: Some(Ratio { part: surplus, whole: 12 }),
        shock_floor_minor: 200_000,
    }
}

fn steady() -> Inputs {
    example([5200, 3900, 530, 1650], [9800, 1240, 12_000, 1900], (4, 1, "0.06", 9))
}

fn thin() -> Inputs {
    example([3100, 2850, 420, 1300], [640, 2900, 4000, 450], (46, 4, "0.18", 5))
}

fn cushioned() -> Inputs {
    example([4000, 3300, 0, 900], [62_000, 300, 20_000, 300], (0, 0, "0.02", 11))
}

fn hundredths(scores: &Scores) -> [i64; 4] {
    [scores.recovery, scores.capacity, scores.baseline, scores.evenkeel].map(Score::hundredths)
}

fn reason(scores: &Scores, component: Component) -> &Reason {
    scores.components.iter().find(|it| it.component == component).unwrap()
}

#[test]
fn the_worked_examples_are_exact() {
    for (inputs, expected, shown) in [
        (steady(), [7691, 7775, 8193, 7867], 79),
        (thin(), [1089, 2589, 4491, 2559], 26),
        (cushioned(), [10_000, 9625, 9793, 9826], 98),
    ] {
        let scores = score(&inputs);
        assert_eq!(hundredths(&scores), expected);
        assert_eq!(scores.evenkeel.whole(), shown);
    }
}

#[test]
fn example_a_in_full() {
    let scores = score(&steady());
    let points: Vec<(&str, i64)> = scores
        .components
        .iter()
        .map(|it| (it.component.as_str(), it.points.hundredths()))
        .collect();
    assert_eq!(
        points,
        [
            ("runway", 6165),
            ("shock", 10_000),
            ("credit_slack", 9958),
            ("margin", 8702),
            ("obligations", 6385),
            ("low_days", 9467),
            ("distress", 6000),
            ("steadiness", 9400),
            ("surplus_months", 7500),
        ]
    );
    let texts: Vec<String> = scores.components.iter().map(Reason::text).collect();
    assert_eq!(
        texts,
        [
            "Your cash, less unpaid card purchases, covers 1.9 months of spending and debt payments.",
            "Your cash covers a sudden bill in full.",
            "You use 10.3% of your card limits.",
            "14.8% of your income remains after spending and debt payments.",
            "Rent and debt payments take 41.9% of your income.",
            "On 4.0% of days, you had less than a week of expenses available.",
            "1 of the last 12 months had an overdraft or a late fee.",
            "Your income varies by 6.0% from month to month.",
            "In 9 of 12 months, your income covered your spending.",
        ]
    );
    assert_eq!(reason(&scores, Component::Runway).between(), ((1_000, 50), (3_000, 75)));
    assert_eq!(reason(&scores, Component::Shock).between(), ((1_000, 100), (1_000, 100)));
    let slack = reason(&scores, Component::CreditSlack).clone();
    let below = Reason { quantity: Fixed9::ZERO, ..slack };
    assert_eq!(below.between(), ((100, 100), (100, 100)));
    assert_eq!(scores.largest_drag, Some(Component::Runway));
    assert_eq!(scores.version, VERSION);
}

#[test]
fn the_gain_of_a_step_is_computed_from_the_persons_own_numbers() {
    let scores = score(&steady());
    let step = |kind: StepKind| scores.steps.iter().find(|it| it.kind == kind).unwrap();
    let more = step(StepKind::MoreAtHand);
    assert_eq!((more.amount_minor, more.part), (Some(100_000), Part::Recovery));
    assert_eq!((more.part_gain.hundredths(), more.evenkeel_gain.hundredths()), (169, 68));
    // 260 less to pay back: obligations are 36.9 % and 19.8 % are left, worth 17.9 and 12.5 more points.
    let fewer = step(StepKind::FewerObligations);
    assert_eq!((fewer.amount_minor, fewer.part), (Some(26_000), Part::Capacity));
    assert_eq!(fewer.part_gain.hundredths(), 1464);
    // One bad month fewer leaves none: 100 instead of 60 points, with a weight of a quarter.
    let better = step(StepKind::FewerBadMonths);
    assert_eq!((better.amount_minor, better.part), (None, Part::Baseline));
    assert_eq!((better.part_gain.hundredths(), better.evenkeel_gain.hundredths()), (1000, 300));
    assert!(scores.steps.is_sorted_by(|a, b| a.evenkeel_gain >= b.evenkeel_gain));
    assert_eq!(scores.steps[0].kind, StepKind::FewerObligations);
}

#[test]
fn a_step_takes_from_debt_first_and_then_from_rent() {
    let mut inputs = steady();
    inputs.debt_minor = 10_000;
    let scores = score(&inputs);
    let fewer = scores.steps.iter().find(|it| it.kind == StepKind::FewerObligations).unwrap();
    assert_eq!(fewer.amount_minor, Some(26_000));
    let mut after = inputs;
    after.debt_minor = 0;
    after.rent_minor -= 16_000;
    after.expenses_minor -= 16_000;
    let gain = score(&after).evenkeel.0 - scores.evenkeel.0;
    assert_eq!(fewer.evenkeel_gain.0, gain);
}

#[test]
fn perfect_scores_have_no_drag_and_no_steps() {
    let inputs = Inputs {
        expenses_minor: 100_000,
        rent_minor: 0,
        cv: Some(Fixed9::ZERO),
        surplus_months: Some(Ratio { part: 12, whole: 12 }),
        ..cushioned()
    };
    let scores = score(&inputs);
    assert_eq!(scores.evenkeel.hundredths(), 10_000);
    assert_eq!((scores.largest_drag, scores.steps.len()), (None, 0));
}

#[test]
fn weights_of_unknown_components_are_redistributed() {
    let scores = score(&Inputs { credit: None, cv: None, ..steady() });
    // Runway weighs three quarters and shock one quarter; the components of baseline weigh 35, 25 and 20 of 80.
    assert_eq!(scores.recovery.hundredths(), 7124);
    assert_eq!(scores.baseline.hundredths(), 7892);
    assert_eq!(scores.components.len(), 7);
    assert_eq!(reason(&scores, Component::Runway).weight.to_string(), "0.3");
}

#[test]
fn weights_add_up_to_one_and_lost_points_to_the_missing_ones() {
    for inputs in [steady(), thin(), Inputs { credit: None, ..steady() }] {
        let scores = score(&inputs);
        let weight: i128 = scores.components.iter().map(|it| it.weight.billionths()).sum();
        assert!((weight - ONE).abs() <= 9);
        let lost: i128 = scores.components.iter().map(|it| it.lost.0).sum();
        assert!((100 * ONE - scores.evenkeel.0 - lost).abs() < 10_000);
    }
    for part in Part::ALL {
        let of_part = Component::ALL.iter().filter(|it| it.part() == *part);
        assert_eq!(of_part.map(|it| it.weight_percent()).sum::<i128>(), 100);
    }
    assert_eq!(Part::ALL.iter().map(|it| it.weight_percent()).sum::<i128>(), 100);
}

#[test]
fn without_income_nothing_is_left_and_obligations_count_in_full() {
    let scores = score(&Inputs { income_minor: 0, ..steady() });
    assert_eq!(scores.capacity, Score(0));
    assert_eq!(reason(&scores, Component::Margin).text(), "You had no income in this period.");
    let free = Inputs { income_minor: 0, debt_minor: 0, rent_minor: 0, ..steady() };
    assert_eq!(score(&free).capacity.hundredths(), 4000);
}

#[test]
fn bands_follow_the_rounded_score() {
    let band = |hundredths: i128| Score(hundredths * ONE / 100).band();
    assert_eq!(band(7950), Band::Steady);
    assert_eq!(band(7949), Band::Mixed);
    assert_eq!(band(3950), Band::Mixed);
    assert_eq!(band(3949), Band::Fragile);
}

#[test]
fn curves_are_ordered_and_monotonic() {
    for component in Component::ALL.iter().copied() {
        let curve = component.curve();
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0), "{component:?}");
        let rises = curve.is_sorted_by(|a, b| a.1 < b.1);
        let falls = curve.is_sorted_by(|a, b| a.1 > b.1);
        assert!(rises != falls, "{component:?}");
        let ends = [curve[0].1, curve[curve.len() - 1].1];
        assert!(ends == [0, 100] || ends == [100, 0], "{component:?}");
        for (at, expected) in curve {
            let at = i128::from(*at) * (ONE / 1000);
            assert_eq!(points(component, at), i128::from(*expected) * ONE);
        }
    }
}

#[test]
fn the_pictures_match_the_curves() {
    for component in Component::ALL.iter().copied() {
        let name = component.as_str();
        let path = format!("{}/../../docs/pictures/{name}.svg", env!("CARGO_MANIFEST_DIR"));
        let drawn = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            drawn == curve_svg(component),
            "docs/pictures/{name}.svg is outdated: draw it again"
        );
    }
}

#[test]
fn the_document_states_the_version_and_every_weight() {
    let path = format!("{}/../../docs/scores.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(&format!("version {VERSION} of the method")));
    let formula = |name: &str, terms: Vec<(i128, &str)>| {
        let terms: Vec<String> =
            terms.iter().map(|(weight, of)| format!("{weight} % {of}")).collect();
        let line = format!("    {name} = {}\n", terms.join(" + "));
        assert!(text.contains(&line), "{line}");
    };
    let parts = Part::ALL.iter().map(|it| (it.weight_percent(), it.as_str()));
    formula("evenkeel", parts.collect());
    for part in Part::ALL {
        let of_part = Component::ALL.iter().filter(|it| it.part() == *part);
        formula(part.as_str(), of_part.map(|it| (it.weight_percent(), it.as_str())).collect());
    }
    for component in Component::ALL.iter().copied() {
        let (name, part) = (component.as_str(), component.part().as_str());
        let row = format!("| `{name}` | {part} | {} % |", component.weight_percent());
        assert!(text.contains(&row), "{row}");
        assert!(text.contains(&format!("(pictures/{name}.svg)")), "{name}");
    }
}

fn any_inputs() -> impl Strategy<Value = Inputs> {
    let money = || 0..2_000_000_i64;
    let flows = (money(), money(), money(), 0..=100_i64);
    let stocks = (0..20_000_000_i64, money(), money());
    let credit = prop::option::of((money(), 0..3_000_000_i64));
    let behavior = (0..=90_u32, 0..=12_u32, prop::option::of(0..1_000_000_000_i128), 0..=12_u32);
    (flows, stocks, credit, behavior).prop_map(
        |((income, expenses, debt, rent), (liquid, cards, purchases), credit, behavior)| Inputs {
            income_minor: income,
            expenses_minor: expenses + 1,
            debt_minor: debt,
            rent_minor: expenses * rent / 100,
            liquid_minor: liquid,
            card_balance_minor: cards,
            card_purchases_minor: purchases,
            credit: credit.map(|(used_minor, limit_minor)| Credit { used_minor, limit_minor }),
            low_days: Ratio { part: behavior.0, whole: 90 },
            distress_months: behavior.1,
            cv: behavior.2.map(Fixed9::from_billionths),
            surplus_months: Some(Ratio { part: behavior.3, whole: 12 }),
            shock_floor_minor: 200_000,
        },
    )
}

fn all_four(inputs: &Inputs) -> [Score; 4] {
    let scores = score(inputs);
    [scores.evenkeel, scores.recovery, scores.capacity, scores.baseline]
}

/// Copies of the inputs, each with one number worse.
fn worsened(inputs: &Inputs, by: i64) -> Vec<Inputs> {
    let it = *inputs;
    let credit = it.credit.map(|it| Credit { used_minor: it.used_minor + by, ..it });
    let cv = it.cv.map(|it| Fixed9::from_billionths(it.billionths() + i128::from(by)));
    let low_days = Ratio { part: (it.low_days.part + 1).min(90), whole: 90 };
    let surplus = it.surplus_months.map(|it| Ratio { part: it.part.saturating_sub(1), ..it });
    vec![
        Inputs { income_minor: (it.income_minor - by).max(0), ..it },
        Inputs { liquid_minor: (it.liquid_minor - by).max(0), ..it },
        Inputs { surplus_months: surplus, ..it },
        Inputs { expenses_minor: it.expenses_minor + by, ..it },
        Inputs { debt_minor: it.debt_minor + by, ..it },
        Inputs { card_balance_minor: it.card_balance_minor + by, credit, ..it },
        Inputs { low_days, ..it },
        Inputs { distress_months: it.distress_months + 1, ..it },
        Inputs { cv, ..it },
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_worse_input_never_raises_a_score(inputs in any_inputs(), by in 1..1_000_000_i64) {
        let before = all_four(&inputs);
        for worse in worsened(&inputs, by) {
            let after = all_four(&worse);
            for (before, after) in before.iter().zip(&after) {
                prop_assert!(after <= before, "{before:?} {after:?} {worse:?}");
            }
        }
    }

    #[test]
    fn scores_stay_between_zero_and_a_hundred(
        inputs in any_inputs(), extreme in prop::collection::vec(any::<i64>(), 9),
    ) {
        let credit = Some(Credit { used_minor: extreme[7], limit_minor: extreme[8] });
        let extreme = Inputs {
            income_minor: extreme[0],
            expenses_minor: extreme[1],
            debt_minor: extreme[2],
            rent_minor: extreme[3],
            liquid_minor: extreme[4],
            card_balance_minor: extreme[5],
            card_purchases_minor: extreme[6],
            credit,
            ..inputs
        };
        for it in all_four(&inputs).into_iter().chain(all_four(&extreme)) {
            prop_assert!((0..=100).contains(&it.whole()) && it >= Score(0), "{it:?}");
            prop_assert!(it <= Score(100 * ONE));
        }
    }

    #[test]
    fn the_unit_of_money_does_not_matter(inputs in any_inputs(), k in 1..5_000_i64) {
        let credit = inputs.credit.map(|it| Credit {
            used_minor: it.used_minor * k,
            limit_minor: it.limit_minor * k,
        });
        let scaled = Inputs {
            income_minor: inputs.income_minor * k,
            expenses_minor: inputs.expenses_minor * k,
            debt_minor: inputs.debt_minor * k,
            rent_minor: inputs.rent_minor * k,
            liquid_minor: inputs.liquid_minor * k,
            card_balance_minor: inputs.card_balance_minor * k,
            card_purchases_minor: inputs.card_purchases_minor * k,
            credit,
            shock_floor_minor: inputs.shock_floor_minor * k,
            ..inputs
        };
        prop_assert_eq!(all_four(&scaled), all_four(&inputs));
    }

    /// The steepest part of margin and obligations together is 443 points of capacity per income, so a unit of money
    /// moves less than a fifth of a point only from an income of 2,500 on; card use likewise needs a limit of some
    /// hundreds.
    #[test]
    fn a_single_unit_of_money_moves_no_score_visibly(inputs in any_inputs()) {
        let inputs = Inputs {
            income_minor: inputs.income_minor + 250_000,
            expenses_minor: inputs.expenses_minor + 50_000,
            credit: inputs.credit.map(|it| Credit { limit_minor: it.limit_minor + 50_000, ..it }),
            ..inputs
        };
        let before = all_four(&inputs);
        let rent = Inputs { rent_minor: inputs.rent_minor + 100, ..inputs };
        let money = [0, 1, 3, 4, 5].map(|it| worsened(&inputs, 100)[it]);
        for changed in money.into_iter().chain([rent]) {
            for (before, after) in before.iter().zip(all_four(&changed)) {
                prop_assert!((before.0 - after.0).abs() < ONE / 5, "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn the_best_step_is_first_and_every_step_helps(inputs in any_inputs()) {
        let scores = score(&inputs);
        let gains: Vec<Score> = scores.steps.iter().map(|it| it.evenkeel_gain).collect();
        prop_assert!(gains.is_sorted_by(|a, b| a >= b));
        prop_assert!(gains.iter().all(|it| it.0 > 0));
        let lost = scores.components.iter().map(|it| it.lost).max().unwrap();
        let drag = scores.largest_drag.map(|it| reason(&scores, it).lost);
        prop_assert_eq!(drag.unwrap_or_default(), lost);
    }
}
