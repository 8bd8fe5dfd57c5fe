use service::access::users;
use service::{Result, summary};
use wire::v1::{Profile, Scope, Summary};

use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/me",
    tag: "Profile",
    summary: "Who this token belongs to",
    description: "The person's profile; nothing sensitive.",
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
    summary: "The household at a glance",
    description: "Worth, flow, and the headline of every other part, in the person's base currency. Hidden accounts \
                  are left out.",
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
    // Within this installation a path says it all; to a program only the whole address does.
    profile.image = profile.image.map(|path| format!("{}{path}", call.public_url));
    Answer::data(&profile)
}
