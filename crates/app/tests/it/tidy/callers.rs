//! Public functions over a person's data take a `Caller`.

use super::source::Source;
use super::{assert_no_breaches, files};

/// Functions without a `Caller`, by file and name, under the reason that they need none. Worker steps (`*_once`) need no
/// entry: they work for all people.
const WITHOUT_CALLER: &[(&str, &[&str])] = &[
    (
        "identifies the caller by a secret",
        &[
            "access/invitations.rs::find",
            "access/keys.rs::authenticate",
            "access/oauth/access_tokens.rs::authenticate",
            "access/oauth/access_tokens.rs::authenticate_for",
            "access/oauth/clients.rs::authenticate",
            "access/oauth/codes.rs::exchange",
            "access/oauth/introspection.rs::introspect",
            "access/oauth/introspection.rs::revoke",
            "access/oauth/token_pairs.rs::refresh",
            "access/oidc/start.rs::start_sign_in",
            "access/password_resets.rs::finish",
            "access/password_resets.rs::is_valid",
            "access/password_resets.rs::request",
            "access/passkeys/mod.rs::finish",
            "access/passkeys/mod.rs::start",
            "access/sessions.rs::find",
            "access/sign_ins/mod.rs::by_passkey",
            "access/sign_ins/mod.rs::by_password",
            "access/sign_ins/mod.rs::find_second_step",
            "access/sign_ins/mod.rs::remember_device",
            "access/sign_ins/mod.rs::second_by_passkey",
            "access/sign_ins/mod.rs::second_by_recovery_code",
            "access/sign_ins/mod.rs::start_passkey",
            "access/sign_ins/mod.rs::start_second_step",
            "access/sign_ins/registration.rs::accept_invitation",
            "access/sign_ins/registration.rs::create_first",
            "access/sign_ins/registration.rs::sign_up",
            "access/users.rs::check_password",
            "ingest/connections/provider_webhooks.rs::receive_webhook",
            "insights/recurring/feed.rs::list_feed_events",
            "webhooks/portal.rs::end_session",
            "webhooks/portal.rs::find_session",
            "webhooks/portal.rs::is_link_valid",
            "webhooks/portal.rs::redeem_link",
        ],
    ),
    (
        "creates the session of a person who has just been identified, or its form tokens",
        &[
            "access/sessions.rs::create",
            "access/sessions.rs::form_token",
            "access/sessions.rs::is_form_token",
            "access/sessions.rs::visit_token",
        ],
    ),
    (
        "is public: anyone may register an app, ask for it, or fetch a picture by its secret address",
        &[
            "access/images/mod.rs::find",
            "access/oauth/clients.rs::find",
            "access/oauth/clients.rs::register",
            "access/oauth/requests.rs::check",
            "access/sign_ins/registration.rs::is_first_run",
        ],
    ),
    (
        "is for the operator, at the command line or in a health check",
        &[
            "access/password_resets.rs::is_offered",
            "access/profiles.rs::reset_password",
            "access/sign_ins/registration.rs::setup_code",
            "access/users.rs::create",
            "access/users.rs::delete",
            "access/users.rs::find_by_email",
            "access/users.rs::has_password",
            "access/users.rs::list",
            "backup/mod.rs::write",
            "backup/restore.rs::must_be_empty",
            "backup/restore.rs::restore",
            "ledger/reference_rates.rs::import",
            "ledger/reference_rates.rs::newest_day",
            "metrics.rs::collect",
            "chains.rs::anchor_missing",
            "insights/pipeline/mod.rs::queue_outdated",
            "insights/pipeline/mod.rs::run_all",
            "insights/pipeline/mod.rs::run_for",
            "key_rotation.rs::rotate",
            "platform/dirty_queue.rs::request_recompute",
            "platform/health.rs::connections",
            "platform/health.rs::count_miscounted_accounts",
            "platform/health.rs::find_damage",
            "platform/health.rs::get",
            "platform/health.rs::unsafe_settings",
            "platform/installation.rs::claim",
            "platform/installation.rs::is_bound_to",
            "platform/readiness.rs::begin_stop",
            "platform/readiness.rs::check",
            "schema.rs::migrate",
            "schema.rs::shard",
            "schema.rs::state",
        ],
    ),
    (
        "counts requests before their caller is known",
        &[
            "platform/limits/mod.rs::count_failure",
            "platform/limits/mod.rs::count_registration",
            "platform/limits/mod.rs::count_request",
            "platform/limits/mod.rs::store_policy",
        ],
    ),
    (
        "works on an action or an audit entry whose caller has been checked",
        &[
            "actions/decide.rs::now",
            "actions/describe.rs::timing_now",
            "actions/propose.rs::save",
            "platform/audit.rs::note",
        ],
    ),
    (
        "reads no person's data",
        &[
            "actions/changes.rs::end_waits",
            "actions/changes.rs::waiting_count",
            "actions/changes.rs::notify_changed",
            "ingest/connections/revocation.rs::revocation_queued",
            "ledger/quotes.rs::find",
            "ledger/quotes.rs::find_many",
            "ledger/quotes.rs::hours",
            "platform/processes.rs::leave",
            "platform/processes.rs::register",
            "webhooks/mod.rs::check_url",
        ],
    ),
    (
        "reports the progress of an import by an id that only its caller was given",
        &["ingest/imports/files/commit.rs::progress"],
    ),
];

#[test]
fn public_functions_over_a_persons_data_take_a_caller() {
    let listed: Vec<&str> =
        WITHOUT_CALLER.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut found = Vec::new();
    for file in files("crates/service/src", ".rs") {
        let code = &Source::parse(&file.text).code;
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        let path = file.path.trim_start_matches("crates/service/src/");
        found.extend(functions_without_caller(code).iter().map(|name| format!("{path}::{name}")));
    }
    let is_listed = |name: &String| listed.contains(&name.as_str());
    let breaches: Vec<String> = found.iter().filter(|it| !is_listed(it)).cloned().collect();
    assert_no_breaches("Take a `&Caller`, or add the function to WITHOUT_CALLER.", &breaches);
    let unused = listed.iter().filter(|it| !found.iter().any(|name| name == *it));
    let unused: Vec<String> = unused.map(|it| (*it).to_owned()).collect();
    assert_no_breaches("Remove these entries of WITHOUT_CALLER: nothing needs them.", &unused);
}

/// The public functions that take the application or a transaction, but no caller.
fn functions_without_caller(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["pub fn ", "pub async fn "] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            let parameters = parameters(rest);
            let reads = ["&App", "Tx<", "&Db"].iter().any(|it| parameters.contains(it));
            if reads && !parameters.contains("Caller") && !name.ends_with("_once") {
                found.push(name.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The text between the parentheses of a function's parameters.
fn parameters(function: &str) -> &str {
    let open = function.find('(').unwrap_or(function.len());
    let mut depth = 0;
    for (at, letter) in function[open..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &function[open..open + at];
        }
    }
    ""
}

#[test]
fn functions_without_a_caller_are_found() {
    let code = "pub async fn list(app: &App, user: UserId) {}\npub(crate) fn inner(tx: &mut Tx<'_>) {}\n\
        pub fn get(app: &App, caller: &Caller, visit: impl FnMut(i64)) {}\n\
        pub async fn send_once(app: &App) {}\npub fn add<T>(tx: &mut Tx<'_>, f: fn(T)) {}\npub fn sum(a: i64) {}";
    assert_eq!(functions_without_caller(code), ["add", "list"]);
}
