//! The OpenAPI document, generated from the list of endpoints and the types in `wire`.

mod bodies;
mod events;
pub(crate) mod examples;
mod ids;
mod operation_ids;
mod values;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use service::access::oauth::grantable_scopes;
use utoipa::PartialSchema as _;
use utoipa::ToSchema as _;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use wire::v1::{API_VERSION, API_VERSIONS, Code, ErrorBody, Meta, Pagination, Scope};

use crate::api::{ENDPOINTS, Endpoint, Paging, Parameter, Takes, Verb};

/// The types of `wire` by name, as JSON Schema.
pub(crate) type Schemas = BTreeMap<String, Value>;

/// Members that are omitted instead of null.
const MAY_BE_ABSENT: [(&str, &str); 2] = [("Pagination", "total_count"), ("ErrorDetail", "param")];
/// Types that have some of their members.
const PARTIAL: [&str; 1] = ["ActionResult"];

/// The document as it is served, with `public_url` as the server's address.
pub fn document(public_url: &str) -> String {
    let schemas = schemas();
    let mut all_schemas = schemas.clone();
    all_schemas.extend(bodies::schemas());
    all_schemas.extend(events::schemas());
    events::refer_to_data(&mut all_schemas);
    all_schemas.extend(ENDPOINTS.iter().map(|it| (envelope_name(it), envelope(it))));
    let paths = json!(paths(&schemas, public_url));
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Evenkeel",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The API over a person's own finances",
            "description": INTRODUCTION,
            "contact": { "name": "Evenkeel", "url": format!("{public_url}/docs") },
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": format!("{public_url}/v1") }],
        "security": [{ "api_key": [] }, { "oauth2": [] }],
        "tags": tags(),
        "paths": paths,
        "webhooks": events::webhooks(),
        "components": {
            "schemas": all_schemas,
            "responses": error_responses(public_url, &paths),
            "headers": headers(),
            "parameters": { "Evenkeel-Version": version_parameter() },
            "securitySchemes": {
                "api_key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, `ek_` and 38 letters and digits, sent as \
                                    `Authorization: Bearer ek_...`. Each key has scopes; each operation names the \
                                    ones it needs in `x-required-scopes`.",
                },
                "oauth2": {
                    "type": "oauth2",
                    "description": "Authorization code with PKCE (S256). Webhooks need an API key.",
                    "flows": { "authorizationCode": {
                        "authorizationUrl": format!("{public_url}/oauth/authorize"),
                        "tokenUrl": format!("{public_url}/oauth/token"),
                        "refreshUrl": format!("{public_url}/oauth/token"),
                        "scopes": oauth_scopes(),
                    } },
                },
            },
        },
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

const INTRODUCTION: &str = "Programs and assistants can read and propose; only the person decides.\n\n\
    Every response is JSON with `data` (or `error`) and `meta`. Amounts are exact decimal numbers; money going out is \
    negative; unknown values are `null`. Unknown parameters are refused. A GET answers an `ETag` and takes \
    `If-None-Match`. At most 100 requests a minute per key unless the operator says otherwise; every answer says \
    how many are left. Changes take an `Idempotency-Key`.";

fn tags() -> Vec<Value> {
    let mut names: Vec<&str> = ENDPOINTS.iter().map(|it| it.tag).collect();
    names.dedup();
    let tag = |name: &str| json!({ "name": name, "description": tag_description(name) });
    names.into_iter().map(tag).collect()
}

fn tag_description(name: &str) -> &'static str {
    match name {
        "Profile" => "The person, and the main figures of every area.",
        "Accounts" => "Linked and manual accounts, their balances, and net worth.",
        "Transactions" => "Transactions, and a feed of their changes.",
        "Spending" => "Spending by category, merchant, account or month.",
        "Investments" => "Holdings with their prices and gains.",
        "Goals" => "Amounts that the person saves or pays off.",
        "Insights" => "Recurring payments, income, scores and card benefits.",
        "Paper trading" => "Virtual accounts and trades, which the person approves.",
        "Actions" => "Proposals that only the person decides.",
        "Webhooks" => "Endpoints that receive events, and their deliveries.",
        _ => "",
    }
}

fn paths(schemas: &Schemas, public_url: &str) -> BTreeMap<&'static str, BTreeMap<String, Value>> {
    let mut paths: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
    for endpoint in ENDPOINTS {
        let method = endpoint.method.as_str().to_ascii_lowercase();
        paths
            .entry(endpoint.path)
            .or_default()
            .insert(method, operation(endpoint, schemas, public_url));
    }
    paths
}

fn operation(endpoint: &Endpoint, schemas: &Schemas, public_url: &str) -> Value {
    let path = endpoint.path_parameters.iter().map(|it| parameter(it, "path"));
    let query = endpoint.query.iter().map(|it| parameter(it, "query"));
    let mut parameters: Vec<Value> = path.chain(query).collect();
    parameters.push(json!({ "$ref": "#/components/parameters/Evenkeel-Version" }));
    let mut responses = BTreeMap::from([("200".to_owned(), success(endpoint, schemas))]);
    if endpoint.method == Verb::Get {
        let unchanged = json!({ "description": "Nothing changed since the given `ETag`." });
        responses.insert("304".to_owned(), unchanged);
    } else {
        parameters.push(bodies::idempotency_key());
    }
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in errors_of(endpoint) {
        by_status.entry(code.status()).or_default().push(code);
    }
    for (status, codes) in by_status {
        responses.insert(status.to_string(), refusals(&codes, public_url));
    }
    let mut operation = json!({
        "operationId": operation_ids::operation_id(endpoint),
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "description": endpoint.description,
        "x-required-scopes": endpoint.scopes.iter().map(|it| it.as_str()).collect::<Vec<_>>(),
        "parameters": parameters,
        "responses": responses,
    });
    operation["security"] = security(endpoint);
    if endpoint.answer.paging != Paging::None {
        operation["x-pagination"] = json!("cursor");
    }
    if let Some(body) = &endpoint.body {
        operation["requestBody"] = bodies::request(body);
    }
    operation
}

/// The credentials that an endpoint accepts: an API key, or a token with its scopes.
fn security(endpoint: &Endpoint) -> Value {
    let scopes: Vec<&str> = endpoint.scopes.iter().map(|it| it.as_str()).collect();
    if endpoint.scopes.contains(&Scope::WebhooksManage) {
        return json!([{ "api_key": [] }]);
    }
    json!([{ "api_key": [] }, { "oauth2": scopes }])
}

fn oauth_scopes() -> BTreeMap<&'static str, &'static str> {
    grantable_scopes().iter().map(|it| (it.as_str(), it.describe())).collect()
}

/// The response of a status: a reference if it has one error code, otherwise an example of each code.
fn refusals(codes: &[Code], public_url: &str) -> Value {
    if let [code] = codes {
        return json!({ "$ref": format!("#/components/responses/{}", code.as_str()) });
    }
    let meanings: Vec<&str> = codes.iter().map(|it| it.meaning()).collect();
    let example = |code: &Code| {
        let value =
            json!({ "summary": code.meaning(), "value": examples::error(*code, public_url) });
        (code.as_str(), value)
    };
    let examples: BTreeMap<&str, Value> = codes.iter().map(example).collect();
    let schema = json!({ "$ref": "#/components/schemas/ApiError" });
    json!({
        "description": meanings.join(" Or: "),
        "headers": { "X-Request-Id": { "$ref": "#/components/headers/X-Request-Id" } },
        "content": { "application/json": { "schema": schema, "examples": examples } },
    })
}

/// The error codes that an endpoint can return.
pub(crate) fn errors_of(endpoint: &Endpoint) -> impl Iterator<Item = Code> {
    Code::ALL.into_iter().filter(move |it| applies(*it, endpoint))
}

fn applies(code: Code, endpoint: &Endpoint) -> bool {
    let reads = endpoint.method == Verb::Get;
    // Endpoints that propose a paper trade.
    let trades = !reads && (endpoint.path == "/actions" || endpoint.path.ends_with("/trades"));
    let proposes = trades || (!reads && endpoint.path == "/paper-trading/accounts");
    match code {
        Code::MethodNotAllowed => false,
        Code::ScoresNotReady => endpoint.path == "/scores",
        // Creating or re-enabling an endpoint.
        Code::EndpointLimitReached => {
            matches!(endpoint.method, Verb::Post | Verb::Put)
                && matches!(
                    endpoint.path,
                    "/webhooks/endpoints" | "/webhooks/endpoints/{endpoint_id}"
                )
        }
        Code::ApiKeyRequired => endpoint.scopes.contains(&Scope::WebhooksManage),
        Code::ProposalLimitReached => proposes,
        Code::InsufficientFunds | Code::InsufficientShares | Code::UnknownSymbol => trades,
        Code::NotFound => {
            trades
                || !endpoint.path_parameters.is_empty()
                || endpoint.query.iter().any(|it| matches!(it.takes, Takes::Id(_)))
        }
        Code::Conflict
        | Code::IdempotencyInProgress
        | Code::IdempotencyKeyReused
        | Code::PayloadTooLarge
        | Code::UnsupportedMediaType => !reads,
        _ => true,
    }
}

fn parameter(parameter: &Parameter, location: &str) -> Value {
    let mut value = json!({
        "name": parameter.name,
        "in": location,
        "required": location == "path",
        "description": parameter.description,
        "schema": taken(parameter.takes),
    });
    if !parameter.example.is_empty() {
        value["example"] = match parameter.takes {
            Takes::Bool => json!(parameter.example == "true"),
            Takes::Whole { .. } => serde_json::from_str(parameter.example).unwrap_or_default(),
            _ => json!(parameter.example),
        };
    }
    value
}

fn taken(takes: Takes) -> Value {
    match takes {
        // No null character, which no database stores.
        Takes::Text { longest } => json!({
            "type": "string", "minLength": 1, "maxLength": longest, "pattern": "^[^\\u0000]+$",
        }),
        Takes::Id(prefix) => {
            json!({ "type": "string", "pattern": ids::pattern(prefix) })
        }
        Takes::Uuid => json!({ "type": "string", "format": "uuid" }),
        Takes::Date => json!({ "type": "string", "format": "date" }),
        Takes::Instant => json!({ "type": "string", "format": "date-time" }),
        Takes::Bool => json!({ "type": "boolean" }),
        Takes::Whole { least, most, default } => {
            json!({ "type": "integer", "minimum": least, "maximum": most, "default": default })
        }
        Takes::OneOf(words) => json!({ "type": "string", "enum": words }),
        Takes::Category => json!({ "type": "string", "enum": primary_categories() }),
    }
}

pub(crate) fn primary_categories() -> Vec<&'static str> {
    let mut words: Vec<&str> =
        base::category::Category::ALL.iter().map(|it| it.primary()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The name of an endpoint's response, such as `TransactionPage`.
fn envelope_name(endpoint: &Endpoint) -> String {
    let name = endpoint.answer.name;
    match endpoint.answer.paging {
        Paging::None => format!("{name}Response"),
        Paging::Within | Paging::WithinObject => format!("{name}Page"),
        Paging::Beside => format!("{name}History"),
    }
}

/// A response with its `data`, `meta` and paging members.
fn envelope(endpoint: &Endpoint) -> Value {
    let shape = json!({ "$ref": format!("#/components/schemas/{}", endpoint.answer.name) });
    let meta = json!({ "$ref": "#/components/schemas/Meta" });
    let mut properties = json!({ "meta": meta });
    let mut required = vec!["data", "meta"];
    match endpoint.answer.paging {
        Paging::None => properties["data"] = shape,
        Paging::Within => {
            properties["data"] = json!({ "type": "array", "items": shape });
            properties["pagination"] = json!({ "$ref": "#/components/schemas/Pagination" });
            required.push("pagination");
        }
        Paging::WithinObject => {
            properties["data"] = shape;
            properties["pagination"] = json!({ "$ref": "#/components/schemas/Pagination" });
            required.push("pagination");
        }
        Paging::Beside => {
            properties["data"] = json!({ "type": "array", "items": shape });
            for (name, schema) in beside() {
                properties[name] = schema;
                required.push(name);
            }
        }
    }
    json!({ "type": "object", "required": required, "properties": properties })
}

fn success(endpoint: &Endpoint, schemas: &Schemas) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{}", envelope_name(endpoint)) });
    let own = if endpoint.method == Verb::Get { "ETag" } else { "Idempotent-Replayed" };
    let named = [own, "Evenkeel-Version", "X-Request-Id", "RateLimit", "RateLimit-Policy"];
    let headers: BTreeMap<&str, Value> = named
        .into_iter()
        .map(|it| (it, json!({ "$ref": format!("#/components/headers/{it}") })))
        .collect();
    json!({
        "description": endpoint.summary,
        "headers": headers,
        "content": {
            "application/json": { "schema": schema, "example": examples::answer(endpoint, schemas) },
        },
    })
}

/// The paging members beside `data` of lists without `pagination`.
pub(crate) fn beside() -> [(&'static str, Value); 3] {
    [
        ("has_more", json!({ "type": "boolean" })),
        (
            "cursor",
            json!({
                "type": ["string", "null"],
                "description": "Send it as `cursor` to get the next page; null on the last page.",
            }),
        ),
        ("count", json!({ "type": "integer", "description": "Number of items in `data`." })),
    ]
}

pub(crate) fn schemas() -> Schemas {
    let mut all: Vec<(String, RefOr<Schema>)> = vec![
        ("Meta".to_owned(), Meta::schema()),
        ("Pagination".to_owned(), Pagination::schema()),
        ("ApiError".to_owned(), ErrorBody::schema()),
    ];
    ErrorBody::schemas(&mut all);
    for endpoint in ENDPOINTS {
        (endpoint.answer.schemas)(&mut all);
    }
    let mut schemas: Schemas =
        all.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    join_parts(&mut schemas);
    for (name, schema) in &mut schemas {
        require_all(name, schema);
        open_free_form(schema);
    }
    values::add(&mut schemas);
    ids::add_forms(&mut schemas);
    examples::add_numbers(&mut schemas);
    examples::add_filled(&mut schemas);
    schemas
}

/// Merges the parts that utoipa makes of a flattened member into one object, and removes parts that nothing else
/// references.
fn join_parts(schemas: &mut Schemas) {
    let whole = schemas.clone();
    for schema in schemas.values_mut() {
        let Some(parts) = schema["allOf"].as_array().cloned() else { continue };
        let mut properties = serde_json::Map::new();
        for part in &parts {
            let part = reference(part).and_then(|it| whole.get(it)).unwrap_or(part);
            properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        }
        let description = schema["description"].take();
        *schema = json!({ "type": "object", "properties": properties });
        if !description.is_null() {
            schema["description"] = description;
        }
    }
    let written = json!(schemas).to_string();
    for schema in whole.values() {
        let parts = schema["allOf"].as_array().into_iter().flatten().filter_map(reference);
        for part in parts {
            let pointed = written.contains(&format!("\"#/components/schemas/{part}\""));
            if !pointed && ENDPOINTS.iter().all(|it| it.answer.name != part) {
                schemas.remove(part);
            }
        }
    }
}

/// Says of members whose content we do not know that they hold any members.
fn open_free_form(schema: &mut Value) {
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for member in members.into_iter().flat_map(|it| it.values_mut()) {
        let is_object = member["type"] == "object"
            || member["type"].as_array().is_some_and(|it| it.contains(&json!("object")));
        let is_known = ["properties", "additionalProperties", "propertyNames"];
        if is_object && is_known.iter().all(|it| member.get(it).is_none()) {
            member["additionalProperties"] = json!(true);
        }
    }
}

/// Marks nullable members as required: the API sends null, never omits them, while utoipa treats them as optional.
fn require_all(name: &str, schema: &mut Value) {
    let choices = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    choices.into_iter().flatten().for_each(|it| require_all(name, it));
    let Some(members) = schema["properties"].as_object() else { return };
    if PARTIAL.contains(&name) {
        schema.as_object_mut().map(|it| it.remove("required"));
        return;
    }
    let kept = |member: &&String| !MAY_BE_ABSENT.contains(&(name, member.as_str()));
    schema["required"] = members.keys().filter(kept).cloned().collect();
}

/// The name of the type that a schema references.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

pub(crate) fn is_nullable(schema: &Value) -> bool {
    let null = |it: &Value| it == "null" || it["type"] == "null";
    [&schema["type"], &schema["oneOf"]]
        .into_iter()
        .filter_map(Value::as_array)
        .any(|choices| choices.iter().any(null))
}

/// The error responses that an operation references.
fn error_responses(public_url: &str, paths: &Value) -> BTreeMap<&'static str, Value> {
    let written = paths.to_string();
    let is_used =
        |code: &&Code| written.contains(&format!("\"#/components/responses/{}\"", code.as_str()));
    let response = |code: &Code| {
        let example = examples::error(*code, public_url);
        let schema = json!({ "$ref": "#/components/schemas/ApiError" });
        json!({
            "description": code.meaning(),
            "headers": { "X-Request-Id": { "$ref": "#/components/headers/X-Request-Id" } },
            "content": { "application/json": { "schema": schema, "example": example } },
        })
    };
    Code::ALL.iter().filter(is_used).map(|code| (code.as_str(), response(code))).collect()
}

fn version_parameter() -> Value {
    json!({
        "name": "Evenkeel-Version",
        "in": "header",
        "required": false,
        "description": "The version of the API, which fixes the shape of responses and events. Without it, the oldest.",
        "schema": { "type": "string", "enum": API_VERSIONS },
        "example": API_VERSION,
    })
}

fn headers() -> Value {
    let header = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    json!({
        "ETag": header("The version of the data; send it as `If-None-Match`.", "W/\"9f2c\""),
        "Idempotent-Replayed": header(
            "`true` if this is the stored response of an earlier request.",
            "true",
        ),
        "Evenkeel-Version": header("The version of the API that this response has.", API_VERSION),
        "X-Request-Id": header(
            "The same as `meta.request_id`.",
            "req_01kny3v1m8f2x9q4t7r5c6b8de",
        ),
        "RateLimit": header(
            "Requests left, and the seconds until one more is available.",
            "\"default\";r=57;t=23",
        ),
        "RateLimit-Policy": header(
            "The number of requests accepted in a window of seconds.",
            "\"default\";q=100;w=60",
        ),
    })
}
