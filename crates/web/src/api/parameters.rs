//! Parameters that several endpoints share.

use crate::query::{Parameter, Takes};
use service::platform::cursors::{LIMIT_DEFAULT, LIMIT_MAX};

pub(super) const CURSOR: Parameter = Parameter {
    name: "cursor",
    takes: Takes::Text { longest: 512 },
    description: "The `next_cursor` of the previous page, unchanged and with the same filters. Valid for 24 \
        hours.",
    example: "",
};

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    takes: Takes::Whole { least: 1, most: LIMIT_MAX as i64, default: LIMIT_DEFAULT as i64 },
    description: "Maximum number of items in a page.",
    example: "50",
};

pub(super) const ACCOUNT_ID: Parameter = Parameter {
    name: "account_id",
    takes: Takes::Id("acc_"),
    description: "Only this account.",
    example: "acc_01kny3v1m8f2x9q4t7r5c6b8de",
};

pub(super) const ACCOUNT_PATH: Parameter = Parameter {
    name: "id",
    takes: Takes::Id("acc_"),
    description: "The account.",
    example: "acc_01kny3v1m8f2x9q4t7r5c6b8de",
};

/// An id in the path that is a plain UUID.
pub(super) const fn uuid(name: &'static str, description: &'static str) -> Parameter {
    let example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77";
    Parameter { name, takes: Takes::Uuid, description, example }
}

pub(super) const fn date(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, takes: Takes::Date, description, example: "2026-04-01" }
}

pub(super) const fn one_of(
    name: &'static str,
    words: &'static [&'static str],
    description: &'static str,
) -> Parameter {
    Parameter { name, takes: Takes::OneOf(words), description, example: "" }
}
