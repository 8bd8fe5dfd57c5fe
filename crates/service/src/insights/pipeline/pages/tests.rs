use base::category::Category;
use base::{AccountId, TransactionId};
use calc::ledger::{Signs, TransferKind};
use proptest::prelude::*;

use super::packing::{Page, unpack};
use crate::insights::pipeline::lines::Line;

/// A line without its key, which is borrowed, and the key.
fn any_line() -> impl Strategy<Value = (Line<'static>, String)> {
    let codes = (
        prop::option::of(prop::sample::select(&Category::ALL[..])),
        prop::option::of(prop::sample::select(TransferKind::ALL)),
    );
    let signs = any::<[bool; 5]>().prop_map(|[refund, person, payroll, gig, benefit]| Signs {
        refund,
        person,
        payroll,
        gig,
        benefit,
    });
    let ids = (any::<[u8; 16]>(), any::<[u8; 16]>());
    // Few keys, so that some are used twice, and any at all.
    let key = prop_oneof!["[A-C]{0,1}", ".{0,9}"];
    (ids, any::<i64>(), any::<i64>(), codes, key, signs).prop_map(
        |((id, account), on_days, amount_minor, (category, transfer), key, signs)| {
            let line = Line {
                id: TransactionId::from_bytes(id),
                account: AccountId::from_bytes(account),
                on_days,
                amount_minor,
                category,
                key: "",
                transfer,
                signs,
            };
            (line, key)
        },
    )
}

fn packed(lines: &[(Line<'static>, String)]) -> Vec<u8> {
    let mut page = Page::default();
    lines.iter().for_each(|(line, key)| page.add(&Line { key, ..*line }));
    page.packed()
}

fn unpacked(bytes: &[u8]) -> (Option<()>, Vec<(Line<'static>, String)>) {
    let mut lines = Vec::new();
    let whole = unpack(bytes, |it| {
        let Line { id, account, on_days, amount_minor, category, transfer, signs, .. } = *it;
        let line = Line { id, account, on_days, amount_minor, category, key: "", transfer, signs };
        lines.push((line, it.key.to_owned()));
    });
    (whole, lines)
}

proptest! {
    #[test]
    fn what_was_packed_comes_back_as_it_was(lines in prop::collection::vec(any_line(), 0..20)) {
        prop_assert_eq!(unpacked(&packed(&lines)), (Some(()), lines));
    }

    #[test]
    fn a_page_that_was_cut_off_is_noticed_or_ends_with_a_line(
        lines in prop::collection::vec(any_line(), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = packed(&lines);
        let (whole, found) = unpacked(&bytes[..cut.index(bytes.len())]);
        prop_assert!(lines.starts_with(&found));
        prop_assert!(found.len() < lines.len() || whole.is_none());
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = unpacked(&bytes);
    }
}
