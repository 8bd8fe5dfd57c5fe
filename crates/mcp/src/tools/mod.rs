//! The tools of the server, in the order in which clients see them.

mod accounts;
mod actions;
mod insights;
mod investments;
mod overview;
mod proposals;
mod spending;
mod transactions;

use std::sync::LazyLock;

use service::access::oauth::grantable_scopes;
use service::{Caller, Scopes};
use wire::v1::Scope;

use crate::tool::{Kind, Tool};

pub(crate) use actions::{shown as shown_action, wait_for_decision};

/// Every tool. The order is fixed, because clients cache the list together with the conversation.
pub(crate) static TOOLS: [&Tool; 18] = [
    &overview::GET_OVERVIEW,
    &accounts::LIST_ACCOUNTS,
    &accounts::GET_BALANCE_HISTORY,
    &transactions::SEARCH_TRANSACTIONS,
    &spending::SUMMARIZE_SPENDING,
    &investments::LIST_HOLDINGS,
    &insights::LIST_RECURRING,
    &insights::GET_INCOME,
    &insights::GET_SCORES,
    &insights::LIST_GOALS,
    &insights::LIST_BENEFITS,
    &investments::LIST_PAPER_ACCOUNTS,
    &actions::LIST_ACTIONS,
    &actions::GET_ACTION,
    &proposals::PROPOSE_CORRECTIONS,
    &proposals::PROPOSE_PAPER_TRADE,
    &proposals::PROPOSE_TRANSFER,
    &proposals::PROPOSE_CUSTOM,
];

/// The definitions as JSON, in the order of `TOOLS`.
static DEFINITIONS: LazyLock<Vec<String>> =
    LazyLock::new(|| TOOLS.iter().map(|it| it.definition().to_string()).collect());

/// The definitions of all tools as one JSON list, for measuring them.
pub fn definitions() -> String {
    format!("[{}]", DEFINITIONS.join(","))
}

/// The tools that a caller may use, as a JSON list.
pub(crate) fn list(caller: &Caller, read_only: bool) -> String {
    let allowed = TOOLS
        .iter()
        .zip(DEFINITIONS.iter())
        .filter(|(tool, _)| tool.is_allowed(caller) && !(read_only && tool.kind == Kind::Proposes));
    let definitions: Vec<&str> = allowed.map(|(_, it)| it.as_str()).collect();
    format!("[{}]", definitions.join(","))
}

pub(crate) fn find(name: &str, read_only: bool) -> Option<&'static Tool> {
    let is_shown = |it: &&&'static Tool| !(read_only && it.kind == Kind::Proposes);
    TOOLS.iter().filter(is_shown).find(|it| it.name == name).copied()
}

/// The scopes that a client should ask for first: reading, without what only proposals take.
pub fn minimal_scopes() -> Scopes {
    let reading = |it: &Scope| it.is_read_only() && *it != Scope::ProfileRead;
    grantable_scopes().iter().filter(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_clients_need_to_know() {
        for tool in TOOLS {
            let definition = tool.definition();
            assert!(
                tool.name.len() <= 64 && !tool.title.is_empty() && !tool.description.is_empty()
            );
            assert!(tool.description.len() <= 400, "{} is described at length", tool.name);
            assert_eq!(definition["inputSchema"]["additionalProperties"], false, "{}", tool.name);
            assert_eq!(definition["outputSchema"]["additionalProperties"], false, "{}", tool.name);
            let hints = &definition["annotations"];
            let is_read = !tool.name.starts_with("propose_");
            assert_eq!(hints["readOnlyHint"], is_read, "{}", tool.name);
            assert_eq!(tool.kind == Kind::Reads, is_read, "{}", tool.name);
            for hint in ["destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(hints[hint].is_boolean(), "{} {hint}", tool.name);
            }
        }
    }

    #[test]
    fn no_tool_decides_deletes_or_moves_money() {
        for tool in TOOLS {
            let verb = tool.name.split('_').next().unwrap();
            assert!(
                ["get", "list", "search", "summarize", "propose"].contains(&verb),
                "{}",
                tool.name
            );
        }
    }

    /// A token is about four bytes of such JSON; docs/mcp.md has the measured number.
    #[test]
    fn all_definitions_together_are_short() {
        let length = definitions().len();
        assert!(length < 22_000, "the definitions have {length} bytes");
    }
}
