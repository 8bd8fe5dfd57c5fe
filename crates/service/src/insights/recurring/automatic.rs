//! The name and the type of a stream that the person did not change.

use base::category::Category;
use calc::enrich;

use super::{Kind, Stream};
use crate::ledger::Direction;

/// The name of a stream that the person did not rename.
pub(super) fn automatic_name(stream: &Stream) -> String {
    stream.counterparty.clone().unwrap_or_else(|| enrich::display_name(&stream.merchant_key))
}

/// The type of a stream that the person did not mark.
pub(super) fn automatic_kind(stream: &Stream) -> Kind {
    kind(stream.direction, stream.category, is_service(&stream.merchant_key))
}

fn kind(direction: Direction, category: Option<Category>, known_service: bool) -> Kind {
    let primary = category.map_or("", Category::primary);
    match (direction, primary) {
        (_, "TRANSFER_IN" | "TRANSFER_OUT") => Kind::Transfer,
        (Direction::Inflow, "INCOME") => Kind::Income,
        (Direction::Inflow, _) => Kind::Other,
        (_, "RENT_AND_UTILITIES" | "LOAN_PAYMENTS" | "BANK_FEES" | "GOVERNMENT_AND_NON_PROFIT") => {
            Kind::Bill
        }
        _ if category.is_some_and(|it| it.detailed() == "GENERAL_SERVICES_INSURANCE") => Kind::Bill,
        (_, "ENTERTAINMENT") => Kind::Subscription,
        _ if known_service => Kind::Subscription,
        _ => Kind::Other,
    }
}

pub(super) fn is_service(merchant_key: &str) -> bool {
    enrich::merchant(merchant_key).is_some_and(|it| it.is(enrich::Flag::Service))
}
