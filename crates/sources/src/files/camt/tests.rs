//! Tests of the CAMT.053 reader: fixtures, damaged files and laws.

use std::path::PathBuf;
use std::sync::LazyLock;

use base::{Currency, Money};
use proptest::prelude::*;

use super::{looks_like, read};
use crate::files::FileError;
use crate::files::fixtures::{check_folder, damaged, load, options, show};

#[test]
fn fixtures_are_read_as_expected() {
    check_folder("camt", read);
}

#[test]
fn the_format_is_recognized_by_its_beginning() {
    for (path, bytes) in load("camt") {
        assert!(looks_like(&bytes), "{}", path.display());
    }
    let wide: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\">"
                .encode_utf16()
                .flat_map(u16::to_le_bytes),
        )
        .collect();
    assert!(looks_like(&wide));
    for other in
        ["", "<html></html>", "<OFX></OFX>", "date;amount\ncamt.053.", "{\"BkToCstmrStmt\""]
    {
        assert!(!looks_like(other.as_bytes()), "{other}");
    }
}

#[test]
fn hostile_files_are_read_in_bounded_time() {
    let deep = format!("<BkToCstmrStmt>{}", "<a>".repeat(1_000_000));
    let details = "<TxDtls/>".repeat(300_000);
    let many = format!(
        "<D><BkToCstmrStmt><Stmt><Ntry><Amt Ccy=\"EUR\">1</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
         <BookgDt><Dt>2026-01-01</Dt></BookgDt><NtryDtls>{details}</NtryDtls></Ntry></Stmt>\
         </BkToCstmrStmt></D>"
    );
    let empty = format!("<D><Stmt>{}</Stmt></D>", "<Ntry/>".repeat(300_000));
    let statements = format!("<D>{}</D>", "<Stmt/>".repeat(300_000));
    let long = format!("<D><Stmt><Ntry><AddtlNtryInf>{}", "x".repeat(10_000_000));
    assert!(matches!(read(deep.as_bytes(), &options()), Err(FileError::Broken { .. })));
    assert_eq!(read(many.as_bytes(), &options()).unwrap().accounts[0].draft.transactions.len(), 1);
    let empty = read(empty.as_bytes(), &options()).unwrap();
    assert_eq!((empty.rejected.count, empty.rejected.rows.len()), (300_000, 1_000));
    assert!(read(statements.as_bytes(), &options()).unwrap().accounts.is_empty());
    assert!(read(long.as_bytes(), &options()).is_err());
}

#[test]
fn the_number_of_accounts_is_limited() {
    let statement = |it| format!("<Stmt><Acct><Id><IBAN>{it}</IBAN></Id></Acct></Stmt>");
    let text: String = (0..1_002).map(statement).collect();
    let reading = read(format!("<D>{text}</D>").as_bytes(), &options()).unwrap();
    assert_eq!((reading.accounts.len(), reading.rejected.count), (1_000, 2));
}

#[test]
fn reasons_stay_short_for_long_tag_names() {
    let name = "x".repeat(10_000);
    let text = format!("<D><Stmt><Acct><Id><IBAN>1</IBAN></Id></Acct></Stmt><{name}></D>");
    let notes = read(text.as_bytes(), &options()).unwrap().notes;
    assert!(notes.all[0].text.len() < 400);
}

#[test]
fn a_document_type_is_refused_with_a_reason() {
    let bomb =
        load("camt").into_iter().find(|(path, _)| path.ends_with("entity_bomb.xml")).unwrap().1;
    let Err(FileError::Broken { reason, .. }) = read(&bomb, &options()) else {
        panic!("the file was not refused")
    };
    assert!(reason.contains("DOCTYPE"), "{reason}");
}

/// A generated entry: amount, day of March, description, and whether it is pending.
type GeneratedEntry = (i64, u8, String, bool);

fn render(entries: &[GeneratedEntry], is_new: bool) -> String {
    let money = |minor: i64| {
        let text = Money::new(minor.abs(), Currency::EUR).to_string();
        text.trim_end_matches(" EUR").to_owned()
    };
    let indicator = |minor: i64| if minor < 0 { "DBIT" } else { "CRDT" };
    let status = |is_pending: bool| {
        let code = if is_pending { "PDNG" } else { "BOOK" };
        if is_new { format!("<Cd>{code}</Cd>") } else { code.to_owned() }
    };
    let escaped =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace(']', "&#93;");
    let rows: String = entries
        .iter()
        .enumerate()
        .map(|(index, (minor, day, text, is_pending))| {
            format!(
                "<Ntry><Amt Ccy=\"EUR\">{}</Amt><CdtDbtInd>{}</CdtDbtInd><Sts>{}</Sts>\n\
                 <BookgDt><Dt>2026-03-{day:02}</Dt></BookgDt><AcctSvcrRef>R{index}</AcctSvcrRef>\n\
                 <AddtlNtryInf>{}</AddtlNtryInf></Ntry>\n",
                money(*minor),
                indicator(*minor),
                status(*is_pending),
                escaped(text)
            )
        })
        .collect();
    let sum: i64 = entries.iter().filter(|it| !it.3).map(|it| it.0).sum();
    let balance = |code: &str, minor: i64| {
        format!(
            "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">{}</Amt>\
             <CdtDbtInd>{}</CdtDbtInd><Dt><Dt>2026-03-31</Dt></Dt></Bal>\n",
            money(minor),
            indicator(minor)
        )
    };
    format!(
        "<Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id></Acct>\n{}{}{rows}</Stmt>\
         </BkToCstmrStmt></Document>\n",
        balance("OPBD", 700),
        balance("CLBD", 700 + sum)
    )
}

fn any_entries() -> impl Strategy<Value = Vec<GeneratedEntry>> {
    let text = "[A-Za-z<&>\"'\\]äß€][A-Za-z0-9<&>\"'\\] äß€]{0,20}[A-Za-z<&>\\]]";
    proptest::collection::vec((-10_000_000_i64..10_000_000, 1..32_u8, text, any::<bool>()), 0..12)
}

static FIXTURES: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| load("camt"));

proptest! {
    #[test]
    fn a_rendered_file_is_read_back(entries in any_entries(), is_new: bool) {
        let reading = read(render(&entries, is_new).as_bytes(), &options()).unwrap();
        prop_assert_eq!(&reading.rejected.rows, &[]);
        let rows = &reading.accounts[0].draft.transactions;
        let found: Vec<GeneratedEntry> = rows
            .iter()
            .map(|it| {
                let day = u8::try_from(it.posted_on.day()).unwrap();
                (it.amount.minor(), day, it.description.clone(), it.pending)
            })
            .collect();
        prop_assert_eq!(found, entries);
    }

    #[test]
    fn line_endings_do_not_matter(entries in any_entries()) {
        let unix = render(&entries, false);
        let windows = unix.replace('\n', "\r\n");
        let [unix, windows] = [unix, windows].map(|it| show(&read(it.as_bytes(), &options())));
        prop_assert_eq!(unix, windows);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (looks_like(&bytes), read(&bytes, &options()));
    }

    #[test]
    fn damaged_fixtures_never_panic(
        which: prop::sample::Index,
        damages in prop::collection::vec(any::<(u8, usize, usize)>(), 1..6),
    ) {
        let (_, bytes) = which.get(&FIXTURES);
        let _ = read(&damaged(bytes, &damages), &options());
    }
}
