//! The names of operations, from which generators name methods. Changing one breaks generated clients.

use crate::api::Endpoint;

/// The operation id of an endpoint. A test checks that every endpoint has one.
pub(super) fn operation_id(endpoint: &Endpoint) -> &'static str {
    match (endpoint.method.as_str(), endpoint.path) {
        ("GET", "/me") => "getProfile",
        ("GET", "/me/summary") => "getSummary",
        ("GET", "/accounts") => "listAccounts",
        ("GET", "/accounts/{id}") => "getAccount",
        ("GET", "/accounts/{id}/balances") => "listBalances",
        ("GET", "/net-worth") => "getNetWorth",
        ("GET", "/transactions") => "listTransactions",
        ("GET", "/transactions/changes") => "listTransactionChanges",
        ("GET", "/transactions/{id}") => "getTransaction",
        ("GET", "/transactions/{id}/attachments") => "listAttachments",
        ("GET", "/transactions/{id}/attachments/{attachmentId}") => "getAttachment",
        ("GET", "/spending") => "getSpending",
        ("GET", "/investments") => "listInvestments",
        ("GET", "/goals") => "listGoals",
        ("GET", "/goals/{id}") => "getGoal",
        ("GET", "/recurring") => "listRecurringStreams",
        ("GET", "/recurring/{id}") => "getRecurringStream",
        ("GET", "/income") => "getIncome",
        ("GET", "/scores") => "getScores",
        ("GET", "/benefits/summary") => "getBenefitSummary",
        ("GET", "/benefits/expiring") => "listExpiringBenefits",
        ("GET", "/paper-trading/accounts") => "listPaperAccounts",
        ("POST", "/paper-trading/accounts") => "proposePaperAccount",
        ("GET", "/paper-trading/accounts/{accountId}/holdings") => "listPaperHoldings",
        ("GET", "/paper-trading/accounts/{accountId}/trades") => "listPaperTrades",
        ("POST", "/paper-trading/accounts/{accountId}/trades") => "proposePaperTrade",
        ("GET", "/paper-trading/accounts/{accountId}/activity") => "listPaperActivity",
        ("POST", "/actions") => "proposeAction",
        ("GET", "/actions") => "listActions",
        ("GET", "/actions/{id}") => "getAction",
        ("POST", "/actions/{id}/cancel") => "cancelAction",
        ("GET", "/approvals/{threadId}") => "getApproval",
        ("POST", "/webhooks/endpoints") => "createWebhookEndpoint",
        ("GET", "/webhooks/endpoints") => "listWebhookEndpoints",
        ("GET", "/webhooks/endpoints/{endpoint_id}") => "getWebhookEndpoint",
        ("PUT", "/webhooks/endpoints/{endpoint_id}") => "updateWebhookEndpoint",
        ("DELETE", "/webhooks/endpoints/{endpoint_id}") => "deleteWebhookEndpoint",
        ("POST", "/webhooks/endpoints/{endpoint_id}/rotate") => "rotateWebhookSecret",
        ("POST", "/webhooks/endpoints/{endpoint_id}/test") => "sendTestEvent",
        ("GET", "/webhooks/events") => "listWebhookEvents",
        ("POST", "/webhooks/events/{event_id}/replay") => "replayWebhookEvent",
        ("GET", "/webhooks/deliveries") => "listWebhookDeliveries",
        ("GET", "/webhooks/portal") => "createPortalLink",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::operation_id;
    use crate::api::ENDPOINTS;

    #[test]
    fn every_endpoint_has_an_operation_id_and_a_described_tag() {
        for it in ENDPOINTS {
            assert!(!operation_id(it).is_empty(), "{} {}", it.method.as_str(), it.path);
            assert!(!super::super::tag_description(it.tag).is_empty(), "{}", it.tag);
        }
    }
}
