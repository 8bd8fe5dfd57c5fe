//! A server for the conformance suite of the Model Context Protocol: the product's HTTP endpoint and protocol layer, with
//! the tools, resources and prompts that the suite asks for instead of a household. `cargo xtask test` runs the suite
//! against it. It is not shipped.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for tests")]

mod catalog;
mod inputs;
mod prompts;
mod requests;
mod tools;

use std::collections::BTreeMap;

use mcp::{Answering, ClientCapabilities, Context, Era, List, Outcome, Surface, ToolCall};
use serde_json::{Value, json};
use service::Caller;
use service::platform::limits::Policy;
use testkit::{World, new_key};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() {
    let world = World::with_policy(Policy { requests: 1_000_000, window_seconds: 60 }).await;
    let key = world.someone().await.key(new_key()).await.secret;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let public_url = format!("http://{}", listener.local_addr().unwrap());
    let surface: &'static dyn Surface = &Fixtures;
    let settings = web::Settings {
        public_url: public_url.clone(),
        mcp_surface: Some(surface),
        ..web::Settings::default()
    };
    println!("{}", json!({ "url": format!("{public_url}/mcp"), "key": key }));
    let router = web::routers(world.app.clone(), settings).main;
    let limits = web::ServerLimits::default();
    web::serve(listener, router, limits, std::future::pending()).await.unwrap();
}

/// What the suite asks for.
#[derive(Debug)]
struct Fixtures;

impl Surface for Fixtures {
    fn instructions(&self) -> &str {
        "A server for tests."
    }

    fn capabilities(&self, era: Era) -> Value {
        match era {
            Era::Modern => {
                json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} })
            }
            Era::Legacy => json!({
                "tools": {}, "resources": { "subscribe": true }, "prompts": {}, "completions": {}, "logging": {},
            }),
        }
    }

    fn uses(&self, client: ClientCapabilities) -> bool {
        client != ClientCapabilities::default()
    }

    fn list(&self, context: &Context<'_>, list: List) -> String {
        match list {
            List::Tools => catalog::tools(context.era).to_string(),
            List::Resources => catalog::resources().to_string(),
            List::ResourceTemplates => catalog::templates().to_string(),
            List::Prompts => prompts::list().to_string(),
        }
    }

    fn call_tool<'a>(&'a self, context: &'a Context<'a>, call: ToolCall<'a>) -> Answering<'a> {
        Box::pin(tools::call(context, call))
    }

    fn read_resource<'a>(&'a self, context: &'a Context<'a>, uri: &'a str) -> Answering<'a> {
        Box::pin(async move {
            let Some(content) = catalog::read(uri) else { return Outcome::no_resource(uri) };
            let hints = context.cache_hints(60_000);
            Outcome::Result(format!("{{\"contents\":[{content}]{hints}}}"))
        })
    }

    fn get_prompt(
        &self,
        context: &Context<'_>,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Outcome {
        prompts::get(context, name, arguments)
    }

    fn complete(&self, _prompt: &str, _argument: &str, typed: &str) -> Vec<&'static str> {
        ["paris", "park", "party"].into_iter().filter(|it| it.starts_with(typed)).collect()
    }

    fn other(&self, context: &Context<'_>, method: &str) -> Option<Outcome> {
        let known = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
        let is_known = context.era == Era::Legacy && known.contains(&method);
        is_known.then(|| Outcome::Result("{}".to_owned()))
    }

    fn take_answer(&self, _caller: &Caller, id: &str, result: Option<&str>) {
        requests::take_answer(id, result);
    }
}
