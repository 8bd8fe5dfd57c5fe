//! Laws of packed cash flows: unpacking gives what was packed.

use base::AccountId;
use base::category::Category;
use proptest::prelude::*;

use super::packing::{FlowKind, PackedFlow, PackedMonth, unpack};

/// A flow without its counterparty, and the counterparty: flows only borrow theirs.
fn any_flow() -> impl Strategy<Value = (PackedFlow<'static>, String)> {
    let kinds = [FlowKind::Income, FlowKind::Spending, FlowKind::Unclassified];
    let category = prop::option::of(prop::sample::select(&Category::ALL[..]));
    // Few accounts and names, so that some repeat, and arbitrary ones.
    let account = prop_oneof![(0..3_u8).prop_map(|it| [it; 16]), any::<[u8; 16]>()];
    let counterparty = prop_oneof!["[A-C]{0,1}", ".{0,9}"];
    let amount = any::<(i64, bool)>();
    (1..=31_i8, prop::sample::select(kinds.to_vec()), account, category, counterparty, amount)
        .prop_map(|(day, kind, account, category, name, (amount_minor, is_further_part))| {
            let account = AccountId::from_bytes(account);
            let counterparty = "";
            let flow = PackedFlow {
                day,
                kind,
                account,
                category,
                counterparty,
                amount_minor,
                is_further_part,
            };
            (flow, name)
        })
}

fn packed(flows: &[(PackedFlow<'static>, String)]) -> Vec<u8> {
    let mut month = PackedMonth::default();
    flows.iter().for_each(|(it, name)| month.add(&PackedFlow { counterparty: name, ..*it }));
    month.to_bytes()
}

fn unpacked(bytes: &[u8]) -> Option<Vec<(PackedFlow<'static>, String)>> {
    let month = unpack(bytes)?;
    let flow = |it: super::IndexedFlow| {
        let flow = PackedFlow {
            day: it.day,
            kind: it.kind,
            account: month.accounts[it.account],
            category: month.categories[it.category],
            counterparty: "",
            amount_minor: it.amount_minor,
            is_further_part: it.is_further_part,
        };
        (flow, month.counterparties[it.counterparty].to_owned())
    };
    Some(month.flows().map(flow).collect())
}

proptest! {
    #[test]
    fn a_packed_month_unpacks_to_the_same_flows(flows in prop::collection::vec(any_flow(), 0..20)) {
        prop_assert_eq!(unpacked(&packed(&flows)), Some(flows));
    }

    #[test]
    fn a_truncated_month_is_detected_or_ends_with_a_complete_flow(
        flows in prop::collection::vec(any_flow(), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = packed(&flows);
        let found = unpacked(&bytes[..cut.index(bytes.len())]);
        prop_assert!(found.is_none_or(|it| it.len() < flows.len() && flows.starts_with(&it)));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = unpacked(&bytes);
    }
}
