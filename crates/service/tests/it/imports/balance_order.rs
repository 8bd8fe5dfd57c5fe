//! Of several balances of one day, the same one is kept whatever the order of the imports.

use base::Date;
use service::ingest::imports::files;
use service::ledger::accounts::{self, Filter, Status};
use service::ledger::balances::{self, Range};
use testkit::draft::{checking, statement};
use testkit::{Person, World, day};

/// A statement of one account with rows on these days, and the balance at a moment.
fn ofx(days: &[&str], as_of: &str, balance: &str) -> String {
    let rows: String = days
        .iter()
        .enumerate()
        .map(|(index, on)| {
            format!(
                "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>{on}<TRNAMT>-4.50<FITID>{on}{index}<NAME>COFFEE\
                 </STMTTRN>"
            )
        })
        .collect();
    format!(
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS>\
         <CURDEF>USD<BANKACCTFROM><BANKID>123456789<ACCTID>000987654321<ACCTTYPE>CHECKING</BANKACCTFROM>\
         <BANKTRANLIST><DTSTART>20260301<DTEND>20260309{rows}</BANKTRANLIST>\
         <LEDGERBAL><BALAMT>{balance}<DTASOF>{as_of}</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
    )
}

async fn commit(world: &World, robin: &Person, text: &str) {
    let file = text.as_bytes().to_vec();
    let id = files::stage(&world.app, &robin.caller, "statement", file).await.unwrap();
    files::commit(&world.app, &robin.caller, id).await.unwrap();
    world.advance_seconds(60);
}

/// The reported balances by day, and the account's own.
async fn balances_of(world: &World, robin: &Person) -> (Vec<(Date, i64)>, Option<i64>) {
    let filter = Filter { status: Status::All, include_hidden: true };
    let found = accounts::list(&world.app, &robin.caller, filter).await.unwrap();
    let [account] = &found[..] else { panic!("{found:?}") };
    let range = Range { start_on: Some(day("2026-02-01")), end_on: None };
    let series = balances::list(&world.app, &robin.caller, account.id, range).await.unwrap();
    let days = series.days.iter();
    let reported = days
        .filter(|it| it.source == calc::balances::Source::Reported)
        .map(|it| (it.on, it.current_minor))
        .collect();
    (reported, account.balance_current_minor)
}

/// All orders of a few imports.
fn orders<T: Clone>(imports: &[T]) -> Vec<Vec<T>> {
    if imports.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for index in 0..imports.len() {
        let mut rest = imports.to_vec();
        let first = rest.remove(index);
        all.extend(orders(&rest).into_iter().map(|it| [vec![first.clone()], it].concat()));
    }
    all
}

async fn assert_any_order(files: &[String], expected: (Vec<(Date, i64)>, Option<i64>)) {
    let world = World::new().await;
    for order in orders(files) {
        let robin = world.someone().await;
        for file in &order {
            commit(&world, &robin, file).await;
        }
        assert_eq!(balances_of(&world, &robin).await, expected, "{order:#?}");
    }
}

#[tokio::test]
async fn the_latest_moment_of_a_day_is_kept_also_of_an_earlier_day() {
    let world = World::new().await;
    let reports = [
        ("2026-03-05T08:00:00Z", 8_000),
        ("2026-03-05T20:00:00Z", 7_000),
        ("2026-03-08T08:00:00Z", 5_000),
    ];
    let days = vec![(day("2026-03-05"), 7_000), (day("2026-03-08"), 5_000)];
    for order in orders(&reports) {
        let robin = world.someone().await;
        for (moment, minor) in &order {
            robin.import(statement([checking("A").balance(moment, *minor)])).await;
        }
        let expected = (days.clone(), Some(5_000));
        assert_eq!(balances_of(&world, &robin).await, expected, "{order:?}");
    }
}

#[tokio::test]
async fn of_files_without_a_time_the_one_with_more_rows_of_the_day_is_kept() {
    let files = [
        ofx(&["20260302"], "20260308", "95.50"),
        ofx(&["20260302", "20260308", "20260308"], "20260308", "86.50"),
        ofx(&["20260302", "20260308"], "20260308", "91.00"),
    ];
    assert_any_order(&files, (vec![(day("2026-03-08"), 8_650)], Some(8_650))).await;
}

#[tokio::test]
async fn files_that_contradict_each_other_give_the_same_balance_in_any_order() {
    let files = ["10.00", "30.00", "20.00"].map(|it| ofx(&["20260302"], "20260308", it));
    assert_any_order(&files, (vec![(day("2026-03-08"), 3_000)], Some(3_000))).await;
}

/// A bank has an order: it corrects what it said before.
#[tokio::test]
async fn a_bank_may_correct_the_balance_of_a_moment() {
    let world = World::new().await;
    let robin = world.someone().await;
    for minor in [300, 900, 200] {
        robin.import(statement([checking("A").balance("2026-03-08T08:00:00Z", minor)])).await;
    }
    assert_eq!(balances_of(&world, &robin).await, (vec![(day("2026-03-08"), 200)], Some(200)));
    // A balance beside the rows of another file of that day is less reliable.
    robin.import(statement([checking("A").past_balance("2026-03-08", 999)])).await;
    assert_eq!(balances_of(&world, &robin).await, (vec![(day("2026-03-08"), 200)], Some(200)));
}
