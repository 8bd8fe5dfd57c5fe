//! A household and an assistant that is connected to it.

use mcp::{Headers, MODERN_VERSION, Reply, Request, Settings};
use serde_json::{Value, json};
use service::access::keys::NewKey;
use service::{Caller, Scopes};
use testkit::draft::{brokerage, checking, position, statement, txn};
use testkit::{Person, World, new_key};

pub(crate) const PUBLIC_URL: &str = "https://money.example";

pub(crate) struct Assistant {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) caller: Caller,
    pub(crate) settings: Settings,
}

impl Assistant {
    /// An assistant with all scopes, of a person with a few accounts.
    pub(crate) async fn new() -> Assistant {
        let world = World::new().await;
        world.market.set("AAPL", "187.10", Some("185.00"));
        let person = world.person("robin@example.com").await;
        let everyday = checking("Everyday")
            .with(txn("2026-03-01", 250_000, "ACME PAYROLL").id("p1"))
            .with(
                txn("2026-03-08", -720, "CORNER CAFE 12")
                    .id("c1")
                    .category("FOOD_AND_DRINK_COFFEE"),
            )
            .with(
                txn("2026-03-09", -4_210, "KROGER 339")
                    .id("c2")
                    .category("FOOD_AND_DRINK_GROCERIES"),
            )
            .with(txn("2026-03-10", -500, "PARKING").id("c3").pending())
            .balance("2026-03-10T12:00:00Z", 512_345);
        let yen =
            checking("Tokyo").in_currency("JPY").with(txn("2026-03-05", -720, "RAMEN").id("j1"));
        let broker = brokerage("Broker")
            .holding([position("AAPL", "123456789.123456789").priced("1.5", "1.25").cost(100)]);
        person.import(statement([everyday, yen, broker, checking("Nest egg")])).await;
        let caller = person.key(new_key()).await.caller;
        let public_url = PUBLIC_URL.to_owned();
        let settings = Settings { public_url, read_only: false, surface: &mcp::Household };
        Assistant { world, person, caller, settings }
    }

    /// A caller with a key that has only these scopes.
    pub(crate) async fn with_scopes(&self, words: &str) -> Caller {
        let scopes = Scopes::parse(words).unwrap();
        self.person.key(NewKey { scopes, ..new_key() }).await.caller
    }

    pub(crate) async fn send(&self, caller: &Caller, method: &str, params: Value) -> Reply {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let headers = Headers {
            protocol_version: Some(MODERN_VERSION),
            method: Some(method),
            name: name.as_deref(),
        };
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let body = body.to_string();
        let request = Request {
            body: body.as_bytes(),
            headers: Some(headers),
            session: None,
            stream: None,
            before_waiting: &|_| {},
        };
        mcp::handle(&self.world.app, &self.settings, caller, request).await
    }

    /// The response as text.
    pub(crate) async fn text(&self, method: &str, params: Value) -> String {
        match self.send(&self.caller, method, params).await {
            Reply::Response { body, .. } => String::from_utf8(body).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let text = self.text(method, params).await;
        let response: Value = serde_json::from_str(&text).unwrap();
        assert!(response["result"].is_object(), "{response}");
        response["result"].clone()
    }

    /// The structured answer of a tool. Checks that the text block says the same.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        let result =
            self.result("tools/call", json!({ "name": name, "arguments": arguments })).await;
        assert_eq!(result["isError"], false, "{name}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert!(text.len() <= mcp::BYTES_MAX, "{name} answers with {} bytes", text.len());
        result["structuredContent"].clone()
    }

    /// The sentence of a tool that could not do what it was asked for.
    pub(crate) async fn refusal(&self, name: &str, arguments: Value) -> String {
        let result =
            self.result("tools/call", json!({ "name": name, "arguments": arguments })).await;
        assert_eq!(result["isError"], true, "{name}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The error of the protocol, as its code and its sentence.
    pub(crate) async fn error(&self, method: &str, params: Value) -> String {
        let text = self.text(method, params).await;
        let response: Value = serde_json::from_str(&text).unwrap();
        let error = &response["error"];
        format!("{} {}", error["code"], error["message"].as_str().unwrap_or(&text))
    }
}
