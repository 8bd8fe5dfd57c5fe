//! Laws of the packed months of a household ledger: unpacking gives what was packed.

use base::category::Category;
use base::{AccountId, TransactionId};
use calc::ledger::{EntryFlags, TransferKind};
use proptest::prelude::*;

use super::packing::{PackedMonth, unpack};
use crate::insights::household_ledger::entries::LedgerEntry;

/// An entry without its texts, and its merchant key and counterparty: entries only borrow theirs.
fn any_entry() -> impl Strategy<Value = (LedgerEntry<'static>, [String; 2])> {
    let codes = (
        prop::option::of(prop::sample::select(&Category::ALL[..])),
        prop::option::of(prop::sample::select(TransferKind::ALL)),
    );
    let signs = any::<[bool; 5]>().prop_map(|[refund, person, payroll, gig, benefit]| EntryFlags {
        refund,
        person,
        payroll,
        gig,
        benefit,
    });
    let ids = (any::<[u8; 16]>(), any::<[u8; 16]>());
    // Few keys, so that some repeat, and arbitrary ones.
    let text = || prop_oneof!["[A-C]{0,1}", ".{0,9}"];
    (ids, any::<i64>(), any::<i64>(), codes, [text(), text()], signs).prop_map(
        |((id, account), on_days, amount_minor, (category, transfer), texts, signs)| {
            let entry = LedgerEntry {
                id: TransactionId::from_bytes(id),
                account: AccountId::from_bytes(account),
                on_days,
                amount_minor,
                category,
                merchant_key: "",
                counterparty: "",
                transfer,
                signs,
            };
            (entry, texts)
        },
    )
}

fn packed(entries: &[(LedgerEntry<'static>, [String; 2])]) -> Vec<u8> {
    let mut month = PackedMonth::default();
    for (entry, [merchant_key, counterparty]) in entries {
        month.add(&LedgerEntry { merchant_key, counterparty, ..*entry });
    }
    month.to_bytes()
}

fn unpacked(bytes: &[u8]) -> (Option<()>, Vec<(LedgerEntry<'static>, [String; 2])>) {
    let mut entries = Vec::new();
    let whole = unpack(bytes, |it| {
        let LedgerEntry { id, account, on_days, amount_minor, category, transfer, signs, .. } = *it;
        let entry = LedgerEntry {
            id,
            account,
            on_days,
            amount_minor,
            category,
            merchant_key: "",
            counterparty: "",
            transfer,
            signs,
        };
        entries.push((entry, [it.merchant_key.to_owned(), it.counterparty.to_owned()]));
    });
    (whole, entries)
}

proptest! {
    #[test]
    fn a_packed_month_unpacks_to_the_same_entries(
        entries in prop::collection::vec(any_entry(), 0..20),
    ) {
        prop_assert_eq!(unpacked(&packed(&entries)), (Some(()), entries));
    }

    #[test]
    fn a_truncated_month_is_detected_or_ends_with_a_complete_entry(
        entries in prop::collection::vec(any_entry(), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = packed(&entries);
        let (whole, found) = unpacked(&bytes[..cut.index(bytes.len())]);
        prop_assert!(entries.starts_with(&found));
        prop_assert!(found.len() < entries.len() || whole.is_none());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = unpacked(&bytes);
    }
}

#[test]
fn an_unknown_code_is_an_error() {
    let known = packed(&[]);
    let mut bytes = Vec::new();
    // One code that is neither a category nor a transfer kind, one empty merchant key and counterparty, and one entry.
    for part in [&1_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"???"] {
        bytes.extend_from_slice(part);
    }
    for part in [1_u32, 0, 1, 0] {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    bytes.extend_from_slice(&[0; 16 + 16 + 8 + 8]);
    for index in [0_u32, u32::MAX, 0, 0] {
        bytes.extend_from_slice(&index.to_le_bytes());
    }
    bytes.push(0);
    assert_eq!(unpacked(&bytes), (None, Vec::new()));
    assert_eq!(unpacked(&known), (Some(()), Vec::new()));
}
