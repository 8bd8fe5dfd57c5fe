//! Tests of price files as people and download pages write them, and of broken ones.

use std::fs::File;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base::Fixed9;
use proptest::prelude::*;
use tempfile::TempDir;

use super::super::{ActionTerms, InstrumentKind};
use super::*;

const NOW: &str = "2026-11-30T12:00:00Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn fixed(text: &str) -> Fixed9 {
    Fixed9::parse(text).unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(&folder, name, text.as_bytes());
    }
    folder
}

/// Writes a file. All files get the same modification time, so that only the test's own change makes one newer.
fn write(folder: &TempDir, name: &str, bytes: &[u8]) {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_700_000);
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

fn market(folder: &TempDir) -> CsvMarket {
    CsvMarket::new(folder.path().to_owned())
}

fn resolve<T>(future: ProviderFuture<'_, T>) -> Result<T, MarketError> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("files are read without waiting"),
    }
}

fn quotes(market: &CsvMarket, symbols: &[&str]) -> Result<Vec<Quote>, MarketError> {
    let symbols = symbols.iter().map(|it| (*it).to_owned()).collect();
    resolve(market.quotes(symbols, at(NOW)))
}

fn quote(market: &CsvMarket, symbol: &str) -> Quote {
    quotes(market, &[symbol]).unwrap().remove(0)
}

/// The price and previous close in a list with one line.
fn read_one(text: &str) -> (Fixed9, Option<Fixed9>) {
    let folder = folder(&[("prices.csv", text)]);
    let market = market(&folder);
    let quote = quote(&market, "ACME");
    assert_eq!(market.warnings(), [""; 0]);
    (quote.price, quote.previous_close)
}

#[test]
fn missing_columns_of_a_list_get_known_names_or_defaults() {
    let folder = folder(&[(
        "prices.csv",
        "Type,Price,Symbol,Previous Close,At,Name\n\
         etf,26.5,fund,26,2026-11-25T15:00:00Z,\"A \"\"fine\"\" fund, Inc.\"\n\
         ,101.000000001,SPY,,2026-11-25,\n\
         ,7,XYZ,,,\n",
    )]);
    let market = market(&folder);
    assert_eq!(
        quote(&market, "FUND"),
        Quote {
            symbol: "FUND".to_owned(),
            name: Some("A \"fine\" fund, Inc.".to_owned()),
            kind: InstrumentKind::Etf,
            price: fixed("26.5"),
            previous_close: Some(fixed("26")),
            at: at("2026-11-25T15:00:00Z"),
        }
    );
    let spy = quote(&market, "SPY");
    assert_eq!((spy.name.as_deref(), spy.kind), (Some("SPDR S&P 500 ETF"), InstrumentKind::Etf));
    assert_eq!((spy.price, spy.at), (fixed("101.000000001"), at("2026-11-25T21:00:00Z")));
    // If there is a time column, each line needs a value in it.
    assert_eq!(quotes(&market, &["XYZ", "xyz", "NOSUCH"]), Ok(Vec::new()));
    assert_eq!(
        market.warnings(),
        ["prices.csv line 4: at must be a day such as 2026-11-25 or an instant with a zone"]
    );
}

#[test]
fn without_a_time_column_a_price_is_as_old_as_its_file() {
    let folder = folder(&[("prices.csv", "symbol,price\nXYZ,7\n")]);
    let quote = quote(&market(&folder), "XYZ");
    assert_eq!(quote.at, Timestamp::from_second(1_795_700_000).unwrap());
    assert_eq!(
        (quote.name, quote.kind, quote.previous_close),
        (None, InstrumentKind::Equity, None)
    );
}

#[test]
fn a_quotation_mark_inside_a_cell_is_literal() {
    let folder = folder(&[("prices.csv", "symbol,name,price\nNAIL,7\" nails,3\n")]);
    assert_eq!(quote(&market(&folder), "NAIL").name.as_deref(), Some("7\" nails"));
}

#[test]
fn separators_quotes_and_line_endings_may_differ() {
    let expected = (fixed("1234.5"), Some(fixed("1200")));
    assert_eq!(read_one("symbol,price,previous_close\nACME,1234.5,1200"), expected);
    assert_eq!(read_one("symbol;price;previous_close\r\nACME;1234,50;1200\r\n"), expected);
    assert_eq!(read_one("\u{feff}symbol\tprice\tprevious-close\n\nacme\t1234.5\t1200\n"), expected);
    assert_eq!(
        read_one("\"SYMBOL\", \"Price\",PREVIOUS_CLOSE\nACME.US, \"1234.5\" ,1200,x"),
        expected
    );
}

#[test]
fn a_downloaded_history_gives_its_last_day_and_the_day_before() {
    let yahoo = "Date,Open,High,Low,Close,Adj Close,Volume\n\
                 2026-11-23,1,1,1,270.10,269,9\n2026-11-24,1,1,1,271.20,270,9\n\
                 2026-11-25,1,1,1,null,null,null\n";
    let stooq = "Date,Open,High,Low,Close,Volume\r\n2026-11-27,1,1,1,70.5,9\r\n\
                 2026-11-25,1,1,1,70.25,9\r\n2026-11-24,1,1,1,69,9\r\n";
    let folder = folder(&[("AAPL.csv", yahoo), ("ko_us_d.CSV", stooq), ("notes.txt", "x")]);
    let market = market(&folder);
    let apple = quote(&market, "AAPL");
    assert_eq!((apple.price, apple.previous_close), (fixed("271.2"), Some(fixed("270.1"))));
    assert_eq!(apple.at, at("2026-11-24T21:00:00Z"));
    assert_eq!(market.warnings(), ["AAPL.csv line 4: close must be a number greater than zero"]);
    let coke = quote(&market, "KO");
    assert_eq!((coke.price, coke.previous_close), (fixed("70.5"), Some(fixed("70.25"))));
    // The session of that Friday ends at 1 p.m.
    assert_eq!(coke.at, at("2026-11-27T18:00:00Z"));
    let alone = CsvMarket::new(folder.path().join("AAPL.csv"));
    assert_eq!(quote(&alone, "AAPL"), apple);
}

#[test]
fn the_latest_price_of_a_day_counts_and_the_day_before_gives_the_previous_close() {
    let lines = "symbol,at,price\nA,2026-11-25T15:00:00Z,12\nA,2026-11-25T14:00:00-05:00,13\n\
                 A,2026-11-24T16:00:00Z,10\nA,2026-11-24T15:00:00Z,9\nA,2026-11-22,8\n\
                 B,2026-11-24,1\nB,2026-11-24,2\n";
    let folder = folder(&[("prices.csv", lines)]);
    let market = market(&folder);
    let moved = quote(&market, "A");
    assert_eq!((moved.price, moved.previous_close), (fixed("13"), Some(fixed("10"))));
    // Of two lines with the same time, the later one counts.
    let corrected = quote(&market, "B");
    assert_eq!((corrected.price, corrected.previous_close), (fixed("2"), None));
}

#[test]
fn a_day_without_a_session_means_the_last_close_and_no_price_is_in_the_future() {
    let lines = "symbol,at,price\nA,2026-11-29,1\nB,2026-11-30,1\n";
    let folder = folder(&[("prices.csv", lines)]);
    let market = market(&folder);
    assert_eq!(quote(&market, "A").at, at("2026-11-27T18:00:00Z"));
    assert_eq!(quote(&market, "B").at, at(NOW));
}

#[test]
fn invalid_lines_are_skipped_with_a_warning() {
    let long = "x".repeat(101);
    let lines = format!(
        "symbol,price,name,type,previous_close\nA,0\nB,-1\nC,1e3\n,5\nTOOLONGNAME,5\nD,\n\
         E,0.0000000001\nF,\"5\nG,5,{long}\nH,5,,bond\nI,5,,,x\nÖ,5\nJ,5\n"
    );
    let folder = folder(&[("prices.csv", &lines)]);
    let market = market(&folder);
    assert_eq!(quotes(&market, &["J"]).map(|it| it.len()), Ok(1));
    let warnings = market.warnings().join("\n").replace("prices.csv line ", "");
    let expected = "2: price must be a number greater than zero\n\
                    3: price must be a number greater than zero\n\
                    4: price must be a number greater than zero\n\
                    5: symbol must be 1 to 10 letters, digits, dots or dashes\n\
                    6: symbol must be 1 to 10 letters, digits, dots or dashes\n\
                    7: price must be a number greater than zero\n\
                    8: price must have at most nine decimals\n\
                    9: a quotation mark is not closed\n\
                    10: name must have at most 100 letters\n\
                    11: type must be equity or etf\n\
                    12: previous_close must be a number greater than zero\n\
                    13: symbol must be 1 to 10 letters, digits, dots or dashes";
    assert_eq!(warnings, expected);
}

#[test]
fn reading_fails_only_if_no_file_can_be_read() {
    let empty = folder(&[]);
    let error_text = |folder: &TempDir| quotes(&market(folder), &["A"]).unwrap_err().0;
    assert!(error_text(&empty).ends_with("nothing could be read: there is no .csv file"));
    let missing = CsvMarket::new(empty.path().join("missing.csv"));
    assert!(quotes(&missing, &["A"]).is_err());
    let bad = folder(&[("a list of prices.csv", "price\n5\n"), ("b.csv", "what\n5\n")]);
    assert!(error_text(&bad).ends_with(
        "a list of prices.csv line 1: there is no column symbol, and the file's name is none"
    ));
    write(&bad, "c.csv", b"symbol,price\nA,5\n");
    assert_eq!(quotes(&market(&bad), &["A"]).map(|it| it.len()), Ok(1));
}

#[test]
fn changed_files_are_read_again_and_unchanged_ones_are_not() {
    let folder = folder(&[("prices.csv", "symbol,price\nA,5\n")]);
    let market = market(&folder);
    assert_eq!(quote(&market, "A").price, fixed("5"));
    // A file with the same size and modification time counts as unchanged.
    write(&folder, "prices.csv", b"symbol,price\nA,6\n");
    assert_eq!(quote(&market, "A").price, fixed("5"));
    write(&folder, "prices.csv", b"symbol,price\nA,6.5\n");
    assert_eq!(quote(&market, "A").price, fixed("6.5"));
    fs::write(folder.path().join("prices.csv"), b"symbol,price\nA,7.5\n").unwrap();
    assert_eq!(quote(&market, "A").price, fixed("7.5"));
    write(&folder, "more.csv", b"symbol,price\nB,1\nC,x\n");
    assert_eq!(quotes(&market, &["A", "B"]).map(|it| it.len()), Ok(2));
    assert_eq!(market.warnings().len(), 1);
    fs::remove_file(folder.path().join("more.csv")).unwrap();
    assert_eq!(quotes(&market, &["A", "B"]).map(|it| it.len()), Ok(1));
    assert_eq!(market.warnings(), [""; 0]);
}

#[test]
fn corporate_actions_have_a_file_of_their_own() {
    let lines = "symbol,ex_on,kind,ratio,amount,pay_on\n\
                 NVDA,2026-06-10,split,10:1,,\nko,2026-03-13,Dividend,,0.53,2026-04-01\n\
                 KO,2026-06-15,dividend,,0.53,2026-06-01\nKO,2026-06-15,dividend,,,2026-07-01\n\
                 GE,2026-06-15,split,1:0,,\nGE,2026-06-15,merger,,,\nGE,soon,split,1:8,,\n\
                 GE,2027-01-04,split,1 : 8,,\n";
    let files = [("Corporate-Actions.csv", lines), ("prices.csv", "symbol,price\nKO,70\n")];
    let folder = folder(&files);
    let market = market(&folder);
    let actions = |from: &str, to: &str| {
        let symbols = ["KO", "NVDA", "GE"].map(str::to_owned).to_vec();
        let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
        resolve(market.corporate_actions(symbols, from, to)).unwrap()
    };
    let dividend = CorporateAction {
        symbol: "KO".to_owned(),
        ex_on: "2026-03-13".parse().unwrap(),
        terms: ActionTerms::Dividend { each: fixed("0.53"), pay_on: "2026-04-01".parse().unwrap() },
    };
    let split = |symbol: &str, ex_on: &str, to, from| CorporateAction {
        symbol: symbol.to_owned(),
        ex_on: ex_on.parse().unwrap(),
        terms: ActionTerms::Split { to, from },
    };
    let (nvidia, general) = (split("NVDA", "2026-06-10", 10, 1), split("GE", "2027-01-04", 1, 8));
    assert_eq!(actions("2026-01-01", "2027-12-31"), [dividend.clone(), nvidia.clone(), general]);
    assert_eq!(actions("2026-03-13", "2026-06-10"), [dividend, nvidia]);
    assert_eq!(actions("2026-03-14", "2026-06-09"), []);
    let warnings = market.warnings().join("\n").replace("Corporate-Actions.csv line ", "");
    let expected = "4: pay_on must not be before ex_on\n\
                    5: amount must be a number greater than zero\n\
                    6: ratio must be like 4:1\n\
                    7: kind must be split or dividend\n\
                    8: ex_on must be a day such as 2026-11-25";
    assert_eq!(warnings, expected);
    assert_eq!(quotes(&market, &["GE"]), Ok(Vec::new()));
}

#[test]
fn hostile_files_are_bounded() {
    let folder = folder(&[("good.csv", "symbol,price\nA,5\n")]);
    write(&folder, "commas.csv", ",".repeat(1_000_000).as_bytes());
    write(&folder, "field.csv", format!("symbol,price\nB,{}", "9".repeat(1_000_000)).as_bytes());
    write(&folder, "huge.csv", &vec![b'x'; MOST_BYTES as usize + 1]);
    let lines: String = (0..30_000).map(|it| format!("S{it},1\n")).collect();
    write(&folder, "lines.csv", format!("symbol,price\n{lines}").as_bytes());
    write(&folder, "mute.csv", &[0, 159, 146, 150, b'\n', 255, b',', 0]);
    let lines = "A,2026-06-10,split,2:1\n".repeat(20_001);
    let actions = format!("symbol,ex_on,kind,ratio\n{lines}");
    write(&folder, ACTIONS, actions.as_bytes());
    let market = market(&folder);
    assert_eq!(quotes(&market, &["A", "S19998", "S19999"]).map(|it| it.len()), Ok(2));
    let warnings = market.warnings();
    assert_eq!(
        warnings[..4],
        [
            "commas.csv line 1: the line is too long",
            "corporate-actions.csv line 20002: only the first 20000 lines are read",
            "field.csv line 2: the line is too long",
            "huge.csv: the file is larger than 16 MiB",
        ]
    );
    assert_eq!(warnings[4], "lines.csv line 20001: only the first 20000 symbols are read");
    assert_eq!((warnings.len(), warnings[100].as_str()), (101, "and 9906 more"));
}

#[test]
fn only_the_first_files_of_a_large_folder_are_read() {
    let folder = folder(&[]);
    for number in 0..=MOST_FILES {
        let text = format!("symbol,price\nS{number},1\n");
        fs::write(folder.path().join(format!("{number:04}.csv")), text).unwrap();
    }
    fs::create_dir(folder.path().join("0000a.csv")).unwrap();
    let market = market(&folder);
    assert_eq!(quotes(&market, &["S0", "S998", "S999", "S1000"]).map(|it| it.len()), Ok(2));
    assert_eq!(market.warnings(), ["only the first 1000 files are read"]);
}

const LETTERS: &[u8] = b"symbol,price\nAt;\t\"1.\r-\xff";
const HEADS: [&str; 4] = ["", "symbol,price\n", "date;close\n", "symbol,ex_on,kind\n"];

proptest! {
    #[test]
    fn arbitrary_text_never_panics(
        bytes in prop::collection::vec(prop::sample::select(LETTERS.to_vec()), 0..200),
        head in prop::sample::select(HEADS.to_vec()),
        name in prop::sample::select(vec!["a.csv", "corporate-actions.csv"]),
    ) {
        let mut warnings = Warnings::default();
        let text = format!("{head}{}", String::from_utf8_lossy(&bytes));
        let modified_at = at(NOW);
        let mut source = SourceFile { name, modified_at, warnings: &mut warnings };
        if let Ok(table) = Table::parse(&text) {
            let _ = actions::read(&table, &mut source);
            let mut prices = Prices::default();
            prices.read(&table, &mut source);
            let lines = text.lines().count();
            prop_assert!(warnings.count <= 2 * lines.max(1));
        }
    }

    #[test]
    fn written_prices_are_read_back(
        price in 1..10_i128.pow(15), previous in 1..10_i128.pow(15),
    ) {
        let (price, previous) =
            (Fixed9::from_billionths(price), Fixed9::from_billionths(previous));
        let text = format!("symbol,price,previous_close\nACME,{price},\"{previous}\"\n");
        let table = Table::parse(&text).unwrap();
        let mut prices = Prices::default();
        let mut warnings = Warnings::default();
        let modified_at = at(NOW);
        prices.read(&table, &mut SourceFile { name: "", modified_at, warnings: &mut warnings });
        let quote = prices.quote("ACME", at(NOW)).unwrap();
        prop_assert_eq!((quote.price, quote.previous_close), (price, Some(previous)));
    }
}
