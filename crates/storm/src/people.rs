//! The people of a run: their keys, sessions, paper accounts and webhook endpoints, created before the storm.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;

use anyhow::{Context as _, Result};
use base::{KeyId, PaperAccountId, UserId};
use db::params;
use service::access::keys::{self, NewKey};
use service::access::sessions::{self, Method, Visit};
use service::access::users;
use service::actions::{self, ActionPayload, Policy, SeenProposal};
use service::webhooks::{self, NewEndpoint};
use service::{App, Caller, Scopes};

use crate::client::Call;
use crate::history::lock;

/// Keys that are revoked in the storm. A person may have 100 in all.
pub(crate) const REVOKED_KEYS: usize = 50;
/// Keys for the check of the exact limit, each used once. They are created before the storm, because a person who signed in
/// long ago would have to confirm a new key.
pub(crate) const UNUSED_KEYS: usize = 40;

pub(crate) struct Person {
    pub(crate) index: usize,
    pub(crate) user: UserId,
    pub(crate) caller: Caller,
    /// Keys of programs that write, that read, that change webhook endpoints, and that exceed the rate limit.
    pub(crate) writer: String,
    pub(crate) reader: String,
    pub(crate) operator: String,
    pub(crate) flooder: String,
    /// Keys to revoke.
    pub(crate) short_lived: Mutex<Vec<(KeyId, String)>>,
    pub(crate) unused: Vec<String>,
    pub(crate) paper_account: String,
    session: String,
    form_token: String,
    /// Events from before the endpoint was created.
    pub(crate) earlier_events: BTreeSet<String>,
    /// Proposals that wait for a decision.
    pub(crate) undecided: Mutex<VecDeque<Proposed>>,
}

/// A proposal that was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Proposed {
    pub(crate) person: usize,
    pub(crate) action_id: String,
    pub(crate) thread_id: String,
    pub(crate) is_trade: bool,
}

impl Person {
    pub(crate) async fn create(app: &App, index: usize, receiver: &str) -> Result<Person> {
        let user = users::create(app, testkit::new_user(&format!("person{index}@example.com")));
        let user = user.await?;
        let session = sessions::create(app, &user, Method::Password, Visit::default()).await?;
        let found = sessions::find(app, &session, None).await?;
        let (_, caller) = found.context("the session is not found")?;
        let policy = actions::get_policy(app, &caller).await?;
        let policy = Policy { proposals_a_day: 10_000, passkey_from_minor: None, ..policy };
        actions::set_policy(app, &caller, policy).await?;
        let paper_account = open_paper_account(app, &caller).await?.to_string();
        let (writer_id, writer) = create_key(app, &caller, "writer").await?;
        let mut short_lived = Vec::new();
        for number in 0..REVOKED_KEYS {
            short_lived.push(create_key(app, &caller, &format!("short-lived {number}")).await?);
        }
        let mut unused = Vec::new();
        for number in 0..UNUSED_KEYS {
            unused.push(create_key(app, &caller, &format!("unused {number}")).await?.1);
        }
        let read = |row: &db::Row<'_>| row.get::<base::EventId>(0).map(|it| it.to_string());
        let of_person = "select id from events where user_id = $1";
        let events = app.db.all(of_person, params![user.id], read).await?;
        let person = Person {
            index,
            user: user.id,
            writer,
            reader: create_key(app, &caller, "reader").await?.1,
            operator: create_key(app, &caller, "operator").await?.1,
            flooder: create_key(app, &caller, "flooder").await?.1,
            short_lived: Mutex::new(short_lived),
            unused,
            paper_account,
            form_token: sessions::form_token(app, &session),
            session,
            earlier_events: events.into_iter().collect(),
            undecided: Mutex::default(),
            caller,
        };
        person.create_endpoint(app, writer_id, receiver).await?;
        Ok(person)
    }

    /// The endpoint that gets every event throughout the storm.
    async fn create_endpoint(&self, app: &App, key: KeyId, receiver: &str) -> Result<()> {
        let url = format!("{receiver}{}", self.receiver_path());
        let new = NewEndpoint { url, description: None, filter_types: Vec::new() };
        let (mine, caller) = (app.clone(), self.caller.clone());
        let create =
            move |tx: &mut db::Tx<'_>| webhooks::create_for_key(&mine, tx, &caller, key, &new);
        app.db.write(create).await?;
        Ok(())
    }

    /// The path of that endpoint.
    pub(crate) fn receiver_path(&self) -> String {
        format!("/person/{}", self.index)
    }

    /// A request for a page.
    pub(crate) fn page(&self, path: impl Into<String>) -> Call {
        let cookie = format!("evenkeel_session={}", self.session);
        Call { method: "GET", path: path.into(), headers: vec![("cookie", cookie)], body: vec![] }
    }

    /// A form that is sent. The values need no escaping.
    pub(crate) fn form(&self, path: impl Into<String>, fields: &[(&str, &str)]) -> Call {
        let mut call = self.page(path);
        call.method = "POST";
        call.headers.push(("content-type", "application/x-www-form-urlencoded".to_owned()));
        let mut body = format!("form_token={}", self.form_token);
        for (name, value) in fields {
            body.push_str(&format!("&{name}={value}"));
        }
        call.body = body.into_bytes();
        call
    }

    /// A file that is uploaded.
    pub(crate) fn upload(&self, path: &str, name: &str, content: &str) -> Call {
        const BOUNDARY: &str = "storm-boundary";
        let mut call = self.page(path);
        call.method = "POST";
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        call.headers.push(("content-type", kind));
        let disposition = "Content-Disposition: form-data; name=";
        call.body = format!(
            "--{BOUNDARY}\r\n{disposition}\"form_token\"\r\n\r\n{}\r\n--{BOUNDARY}\r\n\
             {disposition}\"file\"; filename=\"{name}\"\r\n\r\n{content}\r\n--{BOUNDARY}--\r\n",
            self.form_token
        )
        .into_bytes();
        call
    }

    pub(crate) fn next_undecided(&self) -> Option<Proposed> {
        lock(&self.undecided).pop_front()
    }
}

async fn create_key(app: &App, caller: &Caller, name: &str) -> Result<(KeyId, String)> {
    let name = name.to_owned();
    let new = NewKey { name, scopes: Scopes::all(), accounts: None, expires_at: None };
    // Only the person may create keys, which a session stands for.
    let (key, secret) = keys::create(app, caller, new).await?;
    Ok((key.id, secret))
}

async fn open_paper_account(app: &App, caller: &Caller) -> Result<PaperAccountId> {
    let name = "Practice".to_owned();
    let payload = ActionPayload::PaperAccount { name, cash_minor: 100_000_000_000 };
    let action = actions::propose(app, caller, payload.into()).await?;
    let seen = SeenProposal::now(app, &action).await?;
    let action = actions::approve(app, caller, action.id, seen, None).await?;
    let result = action.result.context("the paper account was not opened")?;
    let result: serde_json::Value = serde_json::from_str(&result)?;
    let id = result["paper_account_id"].as_str().and_then(|it| PaperAccountId::parse(it).ok());
    id.context("the paper account has no id")
}
