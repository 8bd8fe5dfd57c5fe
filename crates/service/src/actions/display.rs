//! The details of a proposal as the person is shown them, and their JSON form in the database.

use serde::{Deserialize, Serialize};
use wire::v1::{ActionDetails, TradeDetails};

use crate::{Error, Result};

/// Details of a trade, or of any other action. Exactly one of the two is present.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProposalDetails {
    pub trade: Option<TradeDetails>,
    pub plain: Option<ActionDetails>,
}

impl ProposalDetails {
    /// Parses stored JSON. Invalid JSON gives details without content, so that the action can still be listed.
    pub(super) fn parse(text: &str) -> ProposalDetails {
        serde_json::from_str(text).unwrap_or(ProposalDetails { trade: None, plain: None })
    }

    pub(super) fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// A short title.
    pub fn title(&self) -> String {
        match (&self.trade, &self.plain) {
            (Some(trade), _) => trade.primary_action_label.clone(),
            (None, Some(plain)) => plain.title.clone(),
            (None, None) => "A proposal that cannot be displayed".to_owned(),
        }
    }

    /// The title in the audit trail, where a paper trade must not look like a real one.
    pub(super) fn audit_title(&self) -> String {
        match &self.trade {
            Some(_) => format!("{} (paper trade)", self.title()),
            None => self.title(),
        }
    }
}
