//! Every form of the site is on one of two lists: those that need confirmation, and those that don't.

use super::{Proof, Sensitive};

/// Sensitive changes and downloads: they outlast the session, give someone access, export data or loosen a security
/// rule.
pub const SENSITIVE: &[Sensitive] = &[
    Sensitive {
        path: "/settings/approvals",
        proof: Proof::Fresh,
        about: "change approval settings",
        back: "/settings/approvals",
    },
    Sensitive {
        path: "/settings/keys",
        proof: Proof::Fresh,
        about: "create an API key",
        back: "/settings/keys",
    },
    Sensitive {
        path: "/settings/people",
        proof: Proof::Fresh,
        about: "invite someone",
        back: "/settings/people",
    },
    Sensitive {
        path: "/settings/data/download",
        proof: Proof::Fresh,
        about: "download your data",
        back: "/settings/data",
    },
    Sensitive {
        path: "/settings/webhooks",
        proof: Proof::Fresh,
        about: "create a webhook endpoint",
        back: "/settings/webhooks",
    },
    Sensitive {
        path: "/settings/webhooks/{id}",
        proof: Proof::Fresh,
        about: "edit a webhook endpoint",
        back: "/settings/webhooks",
    },
    Sensitive {
        path: "/settings/webhooks/{id}/rotate",
        proof: Proof::Fresh,
        about: "rotate the signing secret",
        back: "/settings/webhooks",
    },
    Sensitive {
        path: "/oauth/authorize",
        proof: Proof::FreshIf { field: "decision", value: "allow" },
        about: "allow this app",
        back: "/settings/apps",
    },
    Sensitive {
        path: "/settings/security/second-step",
        proof: Proof::Fresh,
        about: "change two-step sign-in",
        back: "/settings/security",
    },
    Sensitive {
        path: "/settings/security/recovery-codes",
        proof: Proof::Fresh,
        about: "create new recovery codes",
        back: "/settings/security",
    },
    Sensitive {
        path: "/settings/security/passkeys/{id}/remove",
        proof: Proof::Fresh,
        about: "remove a passkey",
        back: "/settings/security",
    },
    Sensitive {
        path: "/settings/security/email",
        proof: Proof::PasswordInForm,
        about: "change your email",
        back: "/settings/security",
    },
    Sensitive {
        path: "/settings/security/password",
        proof: Proof::PasswordInForm,
        about: "change your password",
        back: "/settings/security",
    },
    Sensitive {
        path: "/settings/security/delete",
        proof: Proof::PasswordInForm,
        about: "delete your account",
        back: "/settings/security",
    },
    Sensitive {
        path: "/passkeys/register/start",
        proof: Proof::Script,
        about: "add a passkey",
        back: "/settings/security",
    },
    Sensitive {
        path: "/transactions.csv",
        proof: Proof::Download,
        about: "download transactions",
        back: "/transactions",
    },
    Sensitive {
        path: "/transactions.json",
        proof: Proof::Download,
        about: "download transactions",
        back: "/transactions",
    },
];

const NOT_SIGNED_IN: &str = "nobody is signed in yet, and the form itself authenticates";
const PORTAL: &str =
    "the portal has no session: it acts for one API key, which may do the same through the API";
const OWN_DATA: &str = "changes the person's own records and can be reverted";
const ENDS_ACCESS: &str = "only revokes access, which must be quick in an emergency";
const DATA_IN: &str = "adds data and reveals none";
const SENDS_KNOWN: &str = "sends only to an address that was confirmed before";
const APPROVAL: &str = "approvals have a passkey rule of their own";
const PAPER: &str = "simulated money";
const LOOK: &str = "display settings";
const PROVES: &str = "this form is the confirmation";

/// Every other form, and why it needs no confirmation.
pub const NO_PROOF: &[(&str, &str)] = &[
    ("/view", LOOK),
    ("/settings", LOOK),
    ("/settings/image", LOOK),
    ("/settings/image/remove", LOOK),
    ("/settings/security/passkeys/{id}/rename", LOOK),
    ("/sign-in", NOT_SIGNED_IN),
    ("/sign-in/second", NOT_SIGNED_IN),
    ("/setup", NOT_SIGNED_IN),
    ("/sign-up", NOT_SIGNED_IN),
    ("/invite/{token}", NOT_SIGNED_IN),
    ("/passkeys/sign-in/start", NOT_SIGNED_IN),
    ("/passkeys/sign-in/finish", NOT_SIGNED_IN),
    ("/passkeys/second/start", NOT_SIGNED_IN),
    ("/passkeys/second/finish", NOT_SIGNED_IN),
    ("/settings/security/confirm", PROVES),
    ("/passkeys/prove/start", PROVES),
    ("/passkeys/prove/finish", PROVES),
    (
        "/passkeys/register/finish",
        "completes a registration that was started with confirmation in the last five minutes",
    ),
    ("/sign-out", ENDS_ACCESS),
    ("/settings/keys/{id}/revoke", ENDS_ACCESS),
    ("/settings/apps/{id}/revoke", ENDS_ACCESS),
    ("/settings/people/{id}/withdraw", ENDS_ACCESS),
    ("/settings/security/sessions/{id}/revoke", ENDS_ACCESS),
    ("/settings/security/sessions/revoke-others", ENDS_ACCESS),
    ("/settings/webhooks/{id}/disable", ENDS_ACCESS),
    ("/settings/webhooks/{id}/delete", ENDS_ACCESS),
    ("/settings/webhooks/{id}/enable", SENDS_KNOWN),
    ("/settings/webhooks/{id}/test", SENDS_KNOWN),
    ("/settings/webhooks/events/{id}/replay", SENDS_KNOWN),
    ("/settings/webhooks/failed/send", SENDS_KNOWN),
    ("/settings/webhooks/failed/replay", SENDS_KNOWN),
    ("/portal/{token}", PORTAL),
    ("/portal/webhooks", PORTAL),
    ("/portal/webhooks/leave", PORTAL),
    ("/portal/webhooks/{id}", PORTAL),
    ("/portal/webhooks/{id}/test", PORTAL),
    ("/portal/webhooks/{id}/enable", PORTAL),
    ("/portal/webhooks/{id}/disable", PORTAL),
    ("/portal/webhooks/{id}/rotate", PORTAL),
    ("/portal/webhooks/{id}/delete", PORTAL),
    ("/portal/webhooks/events/{id}/replay", PORTAL),
    ("/portal/webhooks/failed/send", PORTAL),
    ("/portal/webhooks/failed/replay", PORTAL),
    ("/approvals/{thread}/decide", APPROVAL),
    ("/approvals/{thread}/confirm", APPROVAL),
    ("/approvals/{thread}/undo", APPROVAL),
    ("/passkeys/approve/start", APPROVAL),
    ("/passkeys/approve/finish", APPROVAL),
    ("/paper", PAPER),
    ("/paper/{id}/order", PAPER),
    ("/connections", DATA_IN),
    ("/connections/{connection}/accounts", DATA_IN),
    ("/connections/{connection}/sync", DATA_IN),
    ("/connections/{connection}/access", DATA_IN),
    ("/connections/{connection}/disconnect", ENDS_ACCESS),
    ("/import", DATA_IN),
    ("/import/all", DATA_IN),
    ("/import/{file}", DATA_IN),
    ("/import/{file}/commit", DATA_IN),
    ("/import/{file}/discard", OWN_DATA),
    ("/imports/{import}/undo", OWN_DATA),
    ("/accounts/new", OWN_DATA),
    ("/accounts/{id}/balance", OWN_DATA),
    ("/accounts/{id}/transactions", OWN_DATA),
    ("/accounts/{id}/name", OWN_DATA),
    ("/accounts/{id}/hide", OWN_DATA),
    ("/accounts/{id}/close", OWN_DATA),
    ("/accounts/{id}/reopen", OWN_DATA),
    ("/accounts/{id}/card", OWN_DATA),
    ("/goals/new", OWN_DATA),
    ("/goals/{id}", OWN_DATA),
    ("/goals/{id}/status", OWN_DATA),
    ("/benefits/{id}", OWN_DATA),
    ("/transactions/recategorise", OWN_DATA),
    ("/transactions/{id}", OWN_DATA),
    ("/transactions/{id}/edit", OWN_DATA),
    ("/transactions/{id}/delete", OWN_DATA),
    ("/transactions/{id}/hide", OWN_DATA),
    ("/transactions/{id}/undo", OWN_DATA),
    ("/transactions/{id}/transfer", OWN_DATA),
    ("/settings/rules/{id}", OWN_DATA),
    ("/settings/rules/{id}/apply", OWN_DATA),
    ("/settings/rules/{id}/delete", OWN_DATA),
];
