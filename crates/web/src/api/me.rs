//! Endpoints of the token's person: profile and summary.

use service::access::users;
use service::{Result, summary};
use wire::v1::{Profile, Scope, Summary};

use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/me",
    tag: "Profile",
    summary: "The token's person",
    description: "The person's profile, without sensitive data.",
    scopes: &[Scope::ProfileRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Profile>("Profile"),
    handle: |call| Box::pin(get(call)),
};

pub(super) const SUMMARY: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/me/summary",
    tag: "Profile",
    summary: "Summary",
    description: "Net worth, cash flow and the main figures of every other area, in the person's base currency. \
        Hidden accounts are excluded.",
    scopes: &summary::SCOPES,
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Summary>("Summary"),
    handle: |call| Box::pin(get_summary(call)),
};

async fn get_summary(call: Call) -> Result<Answer> {
    Answer::data(&summary::get(&call.app, &call.caller).await?)
}

async fn get(call: Call) -> Result<Answer> {
    let user = users::get(&call.app, &call.caller).await?;
    let mut profile = Profile::from(&user);
    // Stored as a path; programs need the full address.
    profile.image = profile.image.map(|path| format!("{}{path}", call.public_url));
    Answer::data(&profile)
}
