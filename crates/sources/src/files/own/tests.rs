use super::{looks_like, read};
use crate::files::{FileError, golden};

const ROW: &str = "[\n{\"id\":\"txn_1\",\"account_id\":\"acc_1\",\"account_name\":\"Everyday\",\
    \"amount\":-42.10,\"amount_absolute\":42.10,\"currency\":\"USD\",\"cash_flow_direction\":\"outflow\",\
    \"date_posted\":\"2026-03-01\",\"date_authorized\":null,\"pending\":false,\"category_label\":null,\
    \"category_tier1\":null,\"category_tier2\":null,\"counterparty_name\":\"Kroger\",\
    \"counterparty_logo_url\":null,\"original_description\":\"KROGER \\\"#339\\\"\",\
    \"is_internal_transfer\":false,\"updated_at\":\"2026-03-01T00:00:00Z\"}\n]\n";

#[test]
fn fixtures_are_read_as_expected() {
    golden::hold("evenkeel", read);
}

#[test]
fn a_list_of_transactions_alone_is_read() {
    assert!(looks_like(ROW.as_bytes()));
    let reading = read(ROW.as_bytes(), &golden::hints()).unwrap();
    let row = &reading.accounts[0].draft.transactions[0];
    assert_eq!((row.amount.minor(), row.description.as_str()), (-4_210, "KROGER \"#339\""));
}

#[test]
fn rows_that_make_no_sense_are_rejected_with_their_line() {
    for (from, to) in [
        ("-42.10", "-42.105"),
        ("-42.10", "1e400"),
        ("2026-03-01\"", "2026-02-30\""),
        ("\"USD\"", "\"XXQ\""),
    ] {
        let text = ROW.replacen(from, to, 1);
        let reading = read(text.as_bytes(), &golden::hints()).unwrap();
        assert_eq!((reading.rejected.count, reading.rejected.rows[0].line), (1, 2), "{to}");
    }
}

#[test]
fn what_is_cut_or_no_export_is_told_so() {
    for bytes in [&b"[1]"[..], b"[{}]", b"PK\x03\x04", b"PK\x03\x04PK\x05\x06", b"["] {
        assert!(matches!(read(bytes, &golden::hints()), Err(FileError::Broken { .. })));
    }
    for end in 0..ROW.len() - 2 {
        assert!(read(&ROW.as_bytes()[..end], &golden::hints()).is_err(), "{end}");
    }
}
