//! Pages of `/transactions/sync`. A cursor is bound to its item, to where the client started and to a snapshot: if the
//! timeline grows while pages are read, the next page answers with the mutation error.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Change, Item};

/// Where a client is: the start of this update, the end of its snapshot, and how many rows it has read.
struct Cursor {
    start: usize,
    snapshot: usize,
    offset: usize,
}

pub(super) type Refusal = (u16, &'static str, &'static str);

impl Item {
    pub(super) fn page(&mut self, body: &Value) -> Result<Value, Refusal> {
        let count = body["count"].as_u64().unwrap_or(100) as usize;
        let cursor = match body.get("cursor").and_then(Value::as_str) {
            None | Some("") => Cursor { start: 0, snapshot: self.timeline.len(), offset: 0 },
            Some(text) => self.read_cursor(text)?,
        };
        if cursor.offset > 0 && cursor.snapshot != self.timeline.len() {
            let code = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION";
            return Err((400, "TRANSACTIONS_ERROR", code));
        }
        if self.status == "NOT_READY" {
            return Ok(self.render(&[], String::new(), false));
        }
        let snapshot = if cursor.offset == 0 { self.timeline.len() } else { cursor.snapshot };
        let all = coalesced(&self.timeline[cursor.start..snapshot], cursor.start == 0);
        let end = (cursor.offset + count).min(all.len());
        let has_more = end < all.len();
        let next = match has_more {
            true => Cursor { start: cursor.start, snapshot, offset: end },
            false => Cursor { start: snapshot, snapshot, offset: 0 },
        };
        let text = format!("{}:{}:{}:{}", self.id, next.start, next.snapshot, next.offset);
        let page = self.render(&all[cursor.offset..end], STANDARD.encode(text), has_more);
        if has_more {
            self.timeline.append(&mut self.changes_after_page);
        }
        Ok(page)
    }

    fn read_cursor(&self, text: &str) -> Result<Cursor, Refusal> {
        let refused = (400, "INVALID_REQUEST", "INVALID_FIELD");
        let text = STANDARD.decode(text).ok().and_then(|it| String::from_utf8(it).ok());
        let text = text.ok_or(refused)?;
        let mut parts = text.split(':');
        if parts.next() != Some(&self.id) {
            return Err(refused);
        }
        let mut next = || parts.next().and_then(|it| it.parse::<usize>().ok()).ok_or(refused);
        Ok(Cursor { start: next()?, snapshot: next()?, offset: next()? })
    }

    fn render(&self, changes: &[Change], next_cursor: String, has_more: bool) -> Value {
        let (mut added, mut modified, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Added(it) => added.push(it.clone()),
                Change::Modified(it) => modified.push(it.clone()),
                Change::Removed { transaction_id, account_id } => removed
                    .push(json!({ "transaction_id": transaction_id, "account_id": account_id })),
            }
        }
        let has_rows = |it: &&Value| it["type"] != "investment";
        json!({
            "accounts": self.accounts.iter().filter(has_rows).collect::<Vec<_>>(),
            "added": added, "modified": modified, "removed": removed,
            "next_cursor": next_cursor, "has_more": has_more,
            "transactions_update_status": self.status,
        })
    }
}

/// The changes as Plaid sends them: of a full history only what exists.
fn coalesced(changes: &[Change], is_full: bool) -> Vec<Change> {
    if !is_full {
        return changes.to_vec();
    }
    let id = |it: &Value| it["transaction_id"].as_str().unwrap_or_default().to_owned();
    let mut rows: Vec<(String, Change)> = Vec::new();
    for change in changes {
        match change {
            Change::Added(it) => rows.push((id(it), change.clone())),
            Change::Modified(it) => {
                let found = rows.iter_mut().find(|(known, _)| *known == id(it));
                if let Some((_, row)) = found {
                    *row = Change::Added(it.clone());
                }
            }
            Change::Removed { transaction_id, .. } => rows.retain(|(it, _)| it != transaction_id),
        }
    }
    rows.into_iter().map(|(_, it)| it).collect()
}
