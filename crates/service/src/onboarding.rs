//! The first steps of a new person, for the checklist on the overview.

use base::Timestamp;
use db::params;

use crate::{App, Caller, Error, Result};

/// The steps that a person has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Onboarding {
    /// When the person was created.
    pub since: Timestamp,
    pub has_account: bool,
    /// Whether the person has corrected a transaction or created a rule.
    pub has_correction: bool,
    pub has_passkey: bool,
    /// Whether the person has an API key or has connected an app.
    pub has_program: bool,
}

impl Onboarding {
    pub fn is_complete(&self) -> bool {
        self.has_account && self.has_correction && self.has_passkey && self.has_program
    }
}

pub async fn get(app: &App, caller: &Caller) -> Result<Onboarding> {
    caller.require_owner("user")?;
    let read = |row: &db::Row<'_>| {
        let has = |column: usize| row.get::<i64>(column).map(|count| count > 0);
        Ok(Onboarding {
            since: row.get(0)?,
            has_account: has(1)?,
            has_correction: has(2)?,
            has_passkey: has(3)?,
            has_program: has(4)?,
        })
    };
    let found = app.db.first(STEPS, params![caller.user], read).await?;
    found.ok_or(Error::NotFound("user"))
}

/// Each count is 0 or 1, or a sum of two such counts.
const STEPS: &str = "select u.created_at,
    (select count(*) from (select a.id from accounts a where a.user_id = $1 limit 1) a),
    (select count(*) from (select f.transaction_id from transaction_fixes f where f.user_id = $1 limit 1) f)
    + (select count(*) from (select r.id from rules r where r.user_id = $1 limit 1) r),
    (select count(*) from (select p.id from passkeys p where p.user_id = $1 limit 1) p),
    (select count(*) from (select k.id from api_keys k where k.user_id = $1 and k.revoked_at is null limit 1) k)
    + (select count(*) from (select g.id from oauth_grants g where g.user_id = $1 and g.revoked_at is null limit 1) g)
    from users u where u.id = $1";

pub(crate) const STATEMENTS: &[&str] = &[STEPS];
