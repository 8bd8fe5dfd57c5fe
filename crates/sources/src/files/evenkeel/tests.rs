//! Tests of the reader of Evenkeel's own exports.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::{looks_like, read};
use crate::files::{FileError, Limits, ParseOptions, fixtures};

const ROW: &str = "[\n{\"id\":\"txn_1\",\"account_id\":\"acc_1\",\"account_name\":\"Everyday\",\
    \"amount\":-42.10,\"amount_absolute\":42.10,\"currency\":\"USD\",\"cash_flow_direction\":\"outflow\",\
    \"date_posted\":\"2026-03-01\",\"date_authorized\":null,\"pending\":false,\"category_label\":null,\
    \"category_tier1\":null,\"category_tier2\":null,\"counterparty_name\":\"Kroger\",\
    \"counterparty_logo_url\":null,\"original_description\":\"KROGER \\\"#339\\\"\",\
    \"is_internal_transfer\":false,\"updated_at\":\"2026-03-01T00:00:00Z\"}\n]\n";

#[test]
fn fixtures_are_read_as_expected() {
    fixtures::check_folder("evenkeel", read);
}

#[test]
fn a_list_of_transactions_alone_is_read() {
    assert!(looks_like(ROW.as_bytes()));
    let reading = read(ROW.as_bytes(), &fixtures::options()).unwrap();
    let row = &reading.accounts[0].draft.transactions[0];
    assert_eq!((row.amount.minor(), row.description.as_str()), (-4_210, "KROGER \"#339\""));
}

#[test]
fn invalid_rows_are_rejected_with_their_line() {
    for (from, to) in [
        ("-42.10", "-42.105"),
        ("-42.10", "1e400"),
        ("2026-03-01\"", "2026-02-30\""),
        ("\"USD\"", "\"XXQ\""),
    ] {
        let text = ROW.replacen(from, to, 1);
        let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
        assert_eq!((reading.rejected.count, reading.rejected.rows[0].line), (1, 2), "{to}");
    }
}

#[test]
fn truncated_exports_and_other_files_are_refused() {
    for bytes in [&b"[1]"[..], b"[{}]", b"PK\x03\x04", b"PK\x03\x04PK\x05\x06", b"["] {
        assert!(matches!(read(bytes, &fixtures::options()), Err(FileError::Broken { .. })));
    }
    for end in 0..ROW.len() - 2 {
        assert!(read(&ROW.as_bytes()[..end], &fixtures::options()).is_err(), "{end}");
    }
}

/// A zip file with these parts, each stating an unpacked size of `stated` bytes, or its real one.
fn zipped(parts: &[(&str, &[u8])], stated: Option<u32>) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).unwrap();
        let packed = packed.finish().unwrap();
        let stated = stated.unwrap_or(content.len() as u32);
        let starts_at = out.len() as u32;
        let head = |out: &mut Vec<u8>| {
            out.extend_from_slice(&[20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [packed.len() as u32, stated] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend_from_slice(&[0, 0]);
        };
        out.extend_from_slice(b"PK\x03\x04");
        head(&mut out);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
        list.extend_from_slice(b"PK\x01\x02\x14\x00");
        head(&mut list);
        list.extend_from_slice(&[0; 10]);
        list.extend_from_slice(&starts_at.to_le_bytes());
        list.extend_from_slice(name.as_bytes());
    }
    let starts_at = out.len() as u32;
    out.extend_from_slice(&list);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&[(parts.len() as u16).to_le_bytes(); 2].concat());
    out.extend_from_slice(&(list.len() as u32).to_le_bytes());
    out.extend_from_slice(&starts_at.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out
}

/// An export with this part, and empty lists for the others.
fn export(name: &str, content: &[u8], stated: Option<u32>) -> Vec<u8> {
    let names = ["accounts.json", "balances.json", "transactions.json", "investments.json"];
    let parts = names.map(|it| (it, if it == name { content } else { b"[]" }));
    zipped(&parts, stated)
}

fn row() -> &'static str {
    ROW.trim_start_matches("[\n").trim_end_matches("\n]\n")
}

/// Rows with a total size of about `bytes`.
fn rows_of(bytes: usize) -> Vec<u8> {
    let row = format!("{},\n", row());
    format!("[\n{}{}\n]\n", row.repeat(bytes / row.len()), self::row()).into_bytes()
}

#[test]
fn an_export_is_read_from_its_zip_file() {
    let bytes = export("transactions.json", ROW.as_bytes(), None);
    assert!(looks_like(&bytes));
    assert_eq!(read(&bytes, &fixtures::options()).unwrap().accounts[0].draft.transactions.len(), 1);
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_refused_whatever_size_it_states() {
    let most_bytes = 1 << 20;
    let limits = Limits { unpacked_bytes: most_bytes, ..Limits::DEFAULT };
    let options = ParseOptions { limits, ..fixtures::options() };
    let refusal = FileError::UnpacksTooLarge { most_bytes };
    for name in ["accounts.json", "balances.json", "transactions.json", "investments.json"] {
        // Spaces between rows, and an endless string: neither is a row that could be counted.
        let blanks = [b"[".as_slice(), &b" ".repeat(2 << 20), b"]"].concat();
        let text = [b"[\"".as_slice(), &b"x".repeat(2 << 20), b"\"]"].concat();
        for content in [&blanks, &text, &rows_of(2 << 20)] {
            for stated in [None, Some(1)] {
                let bytes = export(name, content, stated);
                assert!(bytes.len() < 1 << 18, "{}", bytes.len());
                let read = read(&bytes, &options).unwrap_err();
                // An invalid row may end the parsing before the limit does.
                let is_broken = matches!(read, FileError::Broken { .. });
                let may_break = content != &blanks && name != "transactions.json";
                assert!(read == refusal || (stated.is_some() && may_break && is_broken), "{read}");
            }
        }
    }
    let fitting = export("transactions.json", &rows_of(1 << 19), None);
    assert!(read(&fitting, &options).is_ok());
    let message = refusal.to_string();
    assert!(
        message.contains("unpacks to more than 1 MiB; export fewer years at a time"),
        "{message}"
    );
}

#[test]
fn the_number_of_rows_is_limited_in_every_part() {
    let limits = Limits { rows: 10, ..Limits::DEFAULT };
    let options = ParseOptions { limits, ..fixtures::options() };
    let refusal = FileError::TooManyRows { most: 10 };
    let balance = "{\"account_id\":\"a\",\"date\":\"2026-01-01\",\"balance_current\":1}";
    let held = "{\"account_id\":\"a\",\"security_id\":\"s\",\"name\":\"n\",\"security_type\":\"x\",\
        \"asset_class\":\"x\",\"currency\":\"USD\",\"quantity\":1}";
    let account = "{\"id\":\"a\",\"name\":\"A\",\"type\":\"other\",\"status\":\"open\",\
        \"currency\":\"USD\",\"updated_at\":\"2026-01-01T00:00:00Z\"}";
    for (name, row) in [
        ("accounts.json", account),
        ("balances.json", balance),
        ("transactions.json", row()),
        ("investments.json", held),
    ] {
        let list = |count: usize| format!("[{}]", vec![row; count].join(","));
        assert!(read(&export(name, list(10).as_bytes(), None), &options).is_ok(), "{name}");
        let refused = read(&export(name, list(11).as_bytes(), None), &options).unwrap_err();
        assert_eq!(refused, refusal, "{name}");
    }
    assert!(refusal.to_string().contains("more than 10 rows; download a shorter period"));
}

#[test]
fn the_number_of_accounts_is_limited_even_if_only_transactions_name_them() {
    let rows: Vec<String> =
        (0..1_001).map(|it| row().replace("acc_1", &format!("acc_{it}"))).collect();
    let text = format!("[{}]", rows[..1_000].join(","));
    assert_eq!(read(text.as_bytes(), &fixtures::options()).unwrap().accounts.len(), 1_000);
    let text = format!("[{}]", rows.join(","));
    assert!(read(text.as_bytes(), &fixtures::options()).is_err());
}
