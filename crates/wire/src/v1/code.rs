//! The codes of errors, and the HTTP status of each.

/// The error codes of the API. Each has a page under `/docs/errors/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    ValidationError,
    Unauthenticated,
    InsufficientScope,
    ApiKeyRequired,
    NotFound,
    ScoresNotReady,
    MethodNotAllowed,
    Conflict,
    IdempotencyInProgress,
    EndpointLimitReached,
    PayloadTooLarge,
    UnsupportedMediaType,
    IdempotencyKeyReused,
    InsufficientFunds,
    InsufficientShares,
    UnknownSymbol,
    RateLimited,
    ProposalLimitReached,
    Internal,
    Unavailable,
}

struct Facts {
    status: u16,
    name: &'static str,
    meaning: &'static str,
    recovery: &'static str,
}

impl Code {
    pub const ALL: [Code; 20] = [
        Code::ValidationError,
        Code::Unauthenticated,
        Code::InsufficientScope,
        Code::ApiKeyRequired,
        Code::NotFound,
        Code::ScoresNotReady,
        Code::MethodNotAllowed,
        Code::Conflict,
        Code::IdempotencyInProgress,
        Code::EndpointLimitReached,
        Code::PayloadTooLarge,
        Code::UnsupportedMediaType,
        Code::IdempotencyKeyReused,
        Code::InsufficientFunds,
        Code::InsufficientShares,
        Code::UnknownSymbol,
        Code::RateLimited,
        Code::ProposalLimitReached,
        Code::Internal,
        Code::Unavailable,
    ];

    pub fn as_str(self) -> &'static str {
        self.facts().name
    }

    pub fn status(self) -> u16 {
        self.facts().status
    }

    /// The meaning of the error, shown on its page.
    pub fn meaning(self) -> &'static str {
        self.facts().meaning
    }

    /// How to recover from the error, shown on its page.
    pub fn recovery(self) -> &'static str {
        self.facts().recovery
    }

    /// The last path segment of its page.
    pub fn slug(self) -> String {
        self.as_str().to_ascii_lowercase().replace('_', "-")
    }

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }
}

/// In the order of the enum; a test checks that.
const FACTS: [Facts; 20] = [
    Facts {
        status: 400,
        name: "VALIDATION_ERROR",
        meaning: "A query parameter or a member of the body is missing, malformed, repeated or not known here. \
                 A cursor that expired, or that was made for other filters, is one of these.",
        recovery: "Read `message` and `param`: they name the parameter and what it takes. Unknown names are refused \
                 on purpose, because a filter that is silently ignored returns the wrong rows; the message names \
                 the nearest known one. For a cursor, start again without it.",
    },
    Facts {
        status: 401,
        name: "UNAUTHENTICATED",
        meaning: "The request carries no token, or one that is malformed, revoked or expired.",
        recovery: "Send `Authorization: Bearer <token>` with an active API key or access token. A key that was cut off \
                 while copying fails its own checksum and is refused like an unknown one.",
    },
    Facts {
        status: 403,
        name: "INSUFFICIENT_SCOPE",
        meaning: "The token is valid, but lacks a scope. The message names it.",
        recovery: "Create a key with that scope, or ask the person to grant it.",
    },
    Facts {
        status: 403,
        name: "API_KEY_REQUIRED",
        meaning: "Webhook endpoints are managed with an API key. The token belongs to a connected app, which cannot.",
        recovery: "Create an API key with the scope `webhooks:manage` and use it here.",
    },
    Facts {
        status: 404,
        name: "NOT_FOUND",
        meaning: "There is nothing at this address: the route or the id is unknown, or the id belongs to someone \
                 else, which looks the same on purpose.",
        recovery: "Check the path against the reference, and the id against a list that this token can read.",
    },
    Facts {
        status: 404,
        name: "SCORES_NOT_READY",
        meaning: "There is too little data for scores, or imported data is still being analyzed.",
        recovery: "Read `message`: it says what is missing, such as a longer history or a checking account. Scores \
                 are computed shortly after an import and once a day; the event `score.updated` tells when.",
    },
    Facts {
        status: 405,
        name: "METHOD_NOT_ALLOWED",
        meaning: "The address exists, but does not take this method.",
        recovery: "Use one of the methods named in the `Allow` header.",
    },
    Facts {
        status: 409,
        name: "CONFLICT",
        meaning: "The request conflicts with the current state of the resource, which may have changed meanwhile.",
        recovery: "Read the resource again, and repeat the request if it still applies.",
    },
    Facts {
        status: 409,
        name: "IDEMPOTENCY_IN_PROGRESS",
        meaning: "A request with the same Idempotency-Key is still running.",
        recovery: "Wait for the time in `Retry-After` and send the same request again; you will get its answer.",
    },
    Facts {
        status: 409,
        name: "ENDPOINT_LIMIT_REACHED",
        meaning: "The key has five active webhook endpoints, which is as many as it can have.",
        recovery: "Delete or disable one first, or create the endpoint with another key.",
    },
    Facts {
        status: 413,
        name: "PAYLOAD_TOO_LARGE",
        meaning: "The body is larger than 1 MiB.",
        recovery: "Send less in one request.",
    },
    Facts {
        status: 415,
        name: "UNSUPPORTED_MEDIA_TYPE",
        meaning: "The body is not declared as JSON.",
        recovery: "Send `Content-Type: application/json`.",
    },
    Facts {
        status: 422,
        name: "IDEMPOTENCY_KEY_REUSED",
        meaning: "This Idempotency-Key was used within the last 24 hours for a different request.",
        recovery: "Use a new key for a new request; repeat a key only with exactly the same request.",
    },
    Facts {
        status: 422,
        name: "INSUFFICIENT_FUNDS",
        meaning: "The paper account has too little free cash for this order at the current price. Cash that is reserved \
                 for orders that wait for the market to open is not free.",
        recovery: "Read `buying_power` of GET /paper-trading/accounts and propose a smaller order.",
    },
    Facts {
        status: 422,
        name: "INSUFFICIENT_SHARES",
        meaning: "The paper account holds fewer shares than the order sells. Short selling is not supported.",
        recovery: "Read `quantity` of GET /paper-trading/accounts/{id}/holdings and propose to sell at most that.",
    },
    Facts {
        status: 422,
        name: "UNKNOWN_SYMBOL",
        meaning: "There is no price for this symbol.",
        recovery: "Check the ticker. The operator chooses where prices come from; a file of prices has only the symbols in it.",
    },
    Facts {
        status: 429,
        name: "RATE_LIMITED",
        meaning: "The key or app sent more requests than `RateLimit-Policy` allows, or one address sent too many invalid \
                 tokens.",
        recovery: "Wait for the seconds in `Retry-After`. `RateLimit` on every authenticated response says how many \
                 requests are left.",
    },
    Facts {
        status: 429,
        name: "PROPOSAL_LIMIT_REACHED",
        meaning: "The key or app made as many proposals in 24 hours as the person allows. Other requests still work: \
                 `RateLimit` counts requests, not proposals.",
        recovery: "Wait for the seconds in `Retry-After`: then one more proposal is accepted. Withdrawn and decided \
                 proposals count too. The person can raise the limit under Settings, Approvals.",
    },
    Facts {
        status: 500,
        name: "INTERNAL",
        meaning: "Something went wrong in the server, and it was logged under the request's id.",
        recovery: "Try again. If it stays, look in the server's log for the `request_id` of the answer.",
    },
    Facts {
        status: 503,
        name: "UNAVAILABLE",
        meaning: "The server cannot reach or write its database right now.",
        recovery: "Wait for the time in `Retry-After` and try again; with an Idempotency-Key that is always safe.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_facts() {
        for (index, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, index);
            let variant = format!("{code:?}").to_uppercase();
            assert_eq!(code.as_str().replace('_', ""), variant);
        }
    }
}
