//! Every filter, alone and combined, compared with a plain scan in Rust.

use base::category::Category;
use base::{AccountId, Fixed9, Timestamp, date_from_days, days_from_date};
use proptest::prelude::*;
use service::ledger::Direction;
use service::ledger::transactions::{self, Filter};
use testkit::draft::{Txn, card, checking, statement, txn};
use testkit::{Person, World, at, day};

use super::everything;
use crate::check_property;
use crate::listed::{self, Listed, descriptions};

async fn found(world: &World, person: &Person, filter: Filter) -> Vec<String> {
    let rows = listed::all(&world.app, &person.caller, &filter).await;
    rows.into_iter().map(|it| it.description).collect()
}

fn amount(text: &str) -> Fixed9 {
    Fixed9::parse(text).unwrap()
}

/// Two accounts over three days, imported at two moments.
async fn household(world: &World) -> (Person, [AccountId; 2]) {
    let robin = world.person("robin@example.com").await;
    let everyday = checking("Everyday")
        .with(txn("2026-03-01", -4210, "GROCER").category("FOOD_AND_DRINK_GROCERIES"))
        .with(txn("2026-03-02", 250_000, "PAYROLL").category("INCOME_WAGES"))
        .with(txn("2026-03-03", -900, "MYSTERY"));
    robin.import(statement([everyday])).await;
    world.advance_seconds(60);
    let visa = card("Visa")
        .with(txn("2026-03-02", -450, "CAFE").category("FOOD_AND_DRINK_COFFEE"))
        .with(txn("2026-03-03", -7000, "FUEL").category("TRANSPORTATION_GAS").pending());
    robin.import(statement([visa])).await;
    let accounts = [robin.account("Everyday").await, robin.account("Visa").await];
    (robin, accounts)
}

#[tokio::test]
async fn each_filter_alone_returns_the_matching_transactions() {
    let world = World::new().await;
    let (robin, [everyday, visa]) = household(&world).await;
    let all = found(&world, &robin, everything()).await;
    assert_eq!(all, ["FUEL", "MYSTERY", "CAFE", "PAYROLL", "GROCER"]);
    let groceries = Category::parse("FOOD_AND_DRINK_GROCERIES");
    let cases: [(Filter, &[&str]); 18] = [
        (Filter { amount_min: Some(amount("70")), ..everything() }, &["FUEL", "PAYROLL"]),
        (Filter { amount_max: Some(amount("9.009")), ..everything() }, &["MYSTERY", "CAFE"]),
        (Filter { category: groceries, ..everything() }, &["GROCER"]),
        (Filter { uncategorized: true, ..everything() }, &["MYSTERY"]),
        (Filter { direction: Some(Direction::Inflow), ..everything() }, &["PAYROLL"]),
        (
            Filter { direction: Some(Direction::Outflow), ..everything() },
            &["FUEL", "MYSTERY", "CAFE", "GROCER"],
        ),
        (
            Filter { transfers: Some(false), ..everything() },
            &["FUEL", "MYSTERY", "CAFE", "PAYROLL", "GROCER"],
        ),
        (Filter { transfers: Some(true), ..everything() }, &[]),
        (Filter { account_id: Some(visa), ..everything() }, &["FUEL", "CAFE"]),
        (Filter { account_id: Some(everyday), ..everything() }, &["MYSTERY", "PAYROLL", "GROCER"]),
        (Filter { start_on: Some(day("2026-03-03")), ..everything() }, &["FUEL", "MYSTERY"]),
        (Filter { end_on: Some(day("2026-03-01")), ..everything() }, &["GROCER"]),
        (Filter { pending: Some(true), ..everything() }, &["FUEL"]),
        (
            Filter { pending: Some(false), ..everything() },
            &["MYSTERY", "CAFE", "PAYROLL", "GROCER"],
        ),
        (
            Filter { updated_since: Some(at("2026-03-10T12:01:00Z")), ..everything() },
            &["FUEL", "CAFE"],
        ),
        (Filter { updated_since: Some(at("2026-03-10T12:01:00.000001Z")), ..everything() }, &[]),
        (
            Filter { category_tier1: Some("FOOD_AND_DRINK".to_owned()), ..everything() },
            &["CAFE", "GROCER"],
        ),
        (Filter { q: Some("y".to_owned()), ..everything() }, &["MYSTERY", "PAYROLL"]),
    ];
    for (filter, expected) in cases {
        assert_eq!(found(&world, &robin, filter.clone()).await, expected, "{filter:?}");
    }
}

#[tokio::test]
async fn combined_filters_return_what_matches_all_of_them() {
    let world = World::new().await;
    let (robin, [_, visa]) = household(&world).await;
    let strict = Filter {
        account_id: Some(visa),
        start_on: Some(day("2026-03-02")),
        end_on: Some(day("2026-03-02")),
        updated_since: Some(at("2026-03-10T12:01:00Z")),
        pending: Some(false),
        hidden: false,
        category_tier1: Some("FOOD_AND_DRINK".to_owned()),
        q: Some("afe".to_owned()),
        category: Category::parse("FOOD_AND_DRINK_COFFEE"),
        uncategorized: false,
        direction: Some(Direction::Outflow),
        transfers: Some(false),
        amount_min: Some(amount("4.5")),
        amount_max: Some(amount("4.50")),
        tag: None,
        counterparty: None,
        without_counterparty: false,
        spending: true,
    };
    assert_eq!(found(&world, &robin, strict.clone()).await, ["CAFE"]);
    let nameless = Filter { without_counterparty: true, ..strict.clone() };
    assert_eq!(found(&world, &robin, nameless).await, [""; 0]);
    let larger = Filter { amount_min: Some(amount("4.51")), amount_max: None, ..strict.clone() };
    assert_eq!(found(&world, &robin, larger).await, [""; 0]);
    let other = Filter { pending: Some(true), ..strict };
    assert_eq!(found(&world, &robin, other).await, [""; 0]);
}

/// Ids increase in the order of the import, so within a day the later transaction is listed first.
#[tokio::test]
async fn the_order_is_by_day_and_then_by_id_both_descending() {
    let world = World::new().await;
    let robin = world.someone().await;
    let shuffled = (0..60).map(|it| {
        let on = date_from_days(days_from_date(day("2026-01-01")) + (it * 7) % 20);
        txn(&on.to_string(), -it, &format!("T{it}"))
    });
    robin.import(statement([checking("A").with_all(shuffled)])).await;
    let rows = listed::all(&world.app, &robin.caller, &everything()).await;
    assert_eq!(rows.len(), 60);
    assert!(rows.windows(2).all(|it| (it[0].posted_on, it[0].id) > (it[1].posted_on, it[1].id)));
}

#[tokio::test]
async fn a_primary_category_returns_exactly_its_detailed_categories() {
    let world = World::new().await;
    let robin = world.someone().await;
    let of_each = Category::ALL
        .iter()
        .map(|it| txn("2026-03-01", -1, it.detailed()).category(it.detailed()))
        .chain([txn("2026-03-01", -1, "NONE")]);
    robin.import(statement([checking("A").with_all(of_each)])).await;
    for category in Category::ALL {
        let primary = category.primary();
        let filter = Filter { category_tier1: Some(primary.to_owned()), ..everything() };
        let mut rows = found(&world, &robin, filter).await;
        rows.sort();
        let expected = Category::ALL.iter().filter(|it| it.primary() == primary);
        let mut expected: Vec<&str> = expected.map(|it| it.detailed()).collect();
        expected.sort_unstable();
        assert_eq!(rows, expected, "{primary}");
    }
}

#[tokio::test]
async fn without_a_category_all_three_members_are_null() {
    let world = World::new().await;
    let robin = world.someone().await;
    // A text without any name in it.
    robin.import(statement([checking("A").with(txn("2026-03-01", -1, "--"))])).await;
    let rows = listed::all(&world.app, &robin.caller, &everything()).await;
    assert_eq!(descriptions(&rows), ["--"]);
    let nulls = r#""category_label":null,"category_tier1":null,"category_tier2":null,"counterparty_name":null"#;
    assert!(rows[0].json.contains(nulls), "{}", rows[0].json);
}

const WORDS: [&str; 5] = ["CAFE", "Café", "100% OFF_SALE!", "fuel", "rent"];
const CATEGORIES: [Option<&str>; 4] =
    [None, Some("INCOME_WAGES"), Some("TRANSFER_IN_DEPOSIT"), Some("TRANSFER_OUT_SAVINGS")];

type Draft = (u8, i64, usize, usize, bool);
type Choice = (Option<bool>, Option<i64>, Option<i64>, Option<bool>, Option<usize>, Option<usize>);
/// Whether only recent updates match, and whether only inflows or outflows do.
type MoreChoices = (bool, Option<bool>);

fn draft((_, on, word, category, pending): &Draft) -> Txn {
    let on = date_from_days(days_from_date(day("2026-01-01")) + on).to_string();
    // Of every kind some are inflows and some are outflows, and no two cancel out.
    let sign = if (word + category) % 3 == 0 { 1 } else { -1 };
    let made = txn(&on, sign * (100 + *word as i64), WORDS[*word]);
    let made = if *pending { made.pending() } else { made };
    match CATEGORIES[*category] {
        Some(category) => made.category(category),
        None => made,
    }
}

fn fits(filter: &Filter, row: &Listed, of: AccountId) -> bool {
    let text = |it: &str, q: &str| it.to_lowercase().contains(&q.to_lowercase());
    filter.account_id.is_none_or(|it| it == of)
        && filter.start_on.is_none_or(|it| row.posted_on >= it)
        && filter.end_on.is_none_or(|it| row.posted_on <= it)
        && filter.updated_since.is_none_or(|it| row.updated_at >= it)
        && filter.pending.is_none_or(|it| row.pending == it)
        && filter
            .category_tier1
            .as_deref()
            .is_none_or(|it| row.category.map(Category::primary) == Some(it))
        && filter.q.as_deref().is_none_or(|it| {
            text(&row.description, it) || row.counterparty.as_deref().is_some_and(|of| text(of, it))
        })
        && filter.direction.is_none_or(|it| (it == Direction::Inflow) == (row.minor > 0))
}

/// Compares the totals with the sums of the rows.
async fn check_totals(world: &World, person: &Person, filter: &Filter, rows: &[&Listed]) {
    let totals = transactions::totals(&world.app, &person.caller, filter).await.unwrap();
    let sum = |is_inflow: bool| -> i64 {
        rows.iter().map(|it| it.minor).filter(|it| (*it > 0) == is_inflow).sum()
    };
    match totals.as_slice() {
        [] => assert!(rows.is_empty(), "{filter:?}"),
        [total] => {
            assert_eq!(total.count as usize, rows.len(), "{filter:?}");
            assert_eq!((total.in_minor, total.out_minor), (sum(true), sum(false)), "{filter:?}");
        }
        more => panic!("totals of more than one currency: {more:?}"),
    }
    let days = transactions::totals_by_day(&world.app, &person.caller, filter).await.unwrap();
    for (on, totals) in &days {
        let of_day = rows.iter().filter(|it| it.posted_on == *on);
        let net: i64 = of_day.map(|it| it.minor).sum();
        assert_eq!(totals[0].net_minor(), net, "{on} {filter:?}");
    }
    let counted: i64 = days.values().flatten().map(|it| it.count).sum();
    assert_eq!(counted as usize, rows.len());
}

#[test]
fn any_filters_find_what_a_plain_scan_finds() {
    let drafts = proptest::collection::vec(
        (0_u8..3, 0_i64..12, 0_usize..WORDS.len(), 0_usize..CATEGORIES.len(), any::<bool>()),
        0..40,
    );
    let choice = (
        any::<Option<bool>>(),
        proptest::option::of(0_i64..12),
        proptest::option::of(0_i64..12),
        any::<Option<bool>>(),
        proptest::option::of(1_usize..CATEGORIES.len()),
        proptest::option::of(0_usize..WORDS.len()),
    );
    let choices = proptest::collection::vec((choice, any::<MoreChoices>()), 1..8);
    check_property(
        40,
        (drafts, choices),
        async |world, (drafts, choices): (Vec<Draft>, Vec<(Choice, MoreChoices)>)| {
            let person = world.someone().await;
            let mut moments = Vec::new();
            let mut known: Vec<(AccountId, Listed)> = Vec::new();
            for (index, name) in ["A", "B", "C"].into_iter().enumerate() {
                world.advance_seconds(1);
                moments.push(world.clock.now());
                let own = drafts.iter().filter(|it| usize::from(it.0) == index).map(draft);
                person.import(statement([checking(name).with_all(own)])).await;
                let account = person.account(name).await;
                let filter = Filter { account_id: Some(account), ..everything() };
                let rows = listed::all(&world.app, &person.caller, &filter).await;
                known.extend(rows.into_iter().map(|it| (account, it)));
            }
            let account = person.account("B").await;
            for (choice, (recent, is_inflow)) in choices {
                let direction =
                    is_inflow.map(|it| if it { Direction::Inflow } else { Direction::Outflow });
                let filter = filter(choice, recent.then_some(moments[1]), account);
                let filter = Filter { direction, ..filter };
                let rows = listed::all(&world.app, &person.caller, &filter).await;
                let mut expected: Vec<&Listed> = known
                    .iter()
                    .filter(|(of, it)| fits(&filter, it, *of))
                    .map(|(_, it)| it)
                    .collect();
                expected.sort_by_key(|it| std::cmp::Reverse((it.posted_on, it.id)));
                assert!(
                    rows.iter().eq(expected.iter().copied()),
                    "{filter:?}\n{rows:?}\n{expected:?}"
                );
                check_totals(world, &person, &filter, &expected).await;
            }
        },
    );
}

fn filter(choice: Choice, updated_since: Option<Timestamp>, account: AccountId) -> Filter {
    let (of_account, start, end, pending, category, word) = choice;
    let on = |it: i64| date_from_days(days_from_date(day("2026-01-01")) + it);
    let primary = |it: usize| {
        let detailed = CATEGORIES[it].and_then(Category::parse);
        detailed.map(|it| it.primary().to_owned())
    };
    Filter {
        account_id: of_account.filter(|it| *it).map(|_| account),
        start_on: start.map(on),
        // A range that ends before it begins is refused, which is not tested here.
        end_on: end.map(|it| on(start.map_or(it, |start| start.max(it)))),
        updated_since,
        pending,
        category_tier1: category.and_then(primary),
        q: word.map(|it| WORDS[it].to_owned()),
        ..everything()
    }
}
