use service::{Result, users};
use wire::v1::{Profile, Scope};

use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/me",
    tag: "Profile",
    summary: "Who this token belongs to",
    description: "The person's profile; nothing sensitive.",
    scope: Some(Scope::ProfileRead),
    query: &[],
    path_parameters: &[],
    answer: Shape::of::<Profile>("Profile"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let user = users::get(&call.app, &call.caller).await?;
    Answer::data(&Profile::from(&user))
}
