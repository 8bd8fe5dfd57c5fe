//! The endpoint of scores.

use service::Result;
use service::insights::scores;
use wire::v1::{Scope, Scores};

use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/scores",
    tag: "Insights",
    summary: "Financial health scores",
    description: "The latest scores; one set is stored each day. With too little data the response is 404 with \
        the code SCORES_NOT_READY, and the message says what is missing. The method is described in \
        docs/scores.md.",
    scopes: &[Scope::ScoresRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Scores>("Scores"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let observed = scores::get(&call.app, &call.caller).await?;
    Answer::data(&Scores::from(&observed))
}
