//! Alerts for lasting problems, each sent once per occurrence.

use base::{ConnectionId, UserId};

use crate::platform::mail_queue::{self, MailKind};
use crate::{App, Error, Result, Tx, backup};

/// The subject of alerts about the whole installation, in place of the id of a connection.
const INSTALLATION: [u8; 16] = [0; 16];

/// A person to alert, and the subject: the id of a connection, or `INSTALLATION`.
struct Alert {
    user: UserId,
    email: String,
    about: [u8; 16],
}

/// Queues messages about late backups and about connections that need their person. A background step.
pub async fn alert_once(app: &App) -> Result<usize> {
    if app.mail.is_none() {
        return Ok(0);
    }
    let forget = |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET_CONNECTIONS, &[])?);
    app.db.write(forget).await?;
    let needing = app
        .db
        .all(CONNECTIONS, &[], |row| {
            let about = *row.get::<ConnectionId>(1)?.as_bytes();
            Ok(Alert { user: row.get(0)?, email: row.get(2)?, about })
        })
        .await?;
    let queued = queue_alerts(app, MailKind::ConnectionNeedsAttention, needing).await?;
    match backup::is_late(app).await {
        Some(true) => {
            let admin = |row: &db::Row<'_>| {
                Ok(Alert { user: row.get(0)?, email: row.get(1)?, about: INSTALLATION })
            };
            let admins = app.db.all(ADMINS, &[], admin).await?;
            Ok(queued + queue_alerts(app, MailKind::BackupLate, admins).await?)
        }
        Some(false) => {
            let forget = |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET_BACKUPS, &[])?);
            app.db.write(forget).await?;
            Ok(queued)
        }
        None => Ok(queued),
    }
}

async fn queue_alerts(app: &App, kind: MailKind, alerts: Vec<Alert>) -> Result<usize> {
    let mut queued = 0;
    for alert in alerts {
        let app_in_transaction = app.clone();
        let queue_alert = move |tx: &mut Tx<'_>| {
            let Alert { user, email, about } = &alert;
            let is_new = mail_queue::record_alert_once(tx, *user, kind, *about)?;
            if is_new {
                mail_queue::queue(tx, &app_in_transaction, (*user, kind), email, Some(*about))?;
            }
            Ok::<_, Error>(usize::from(is_new))
        };
        queued += app.db.write(queue_alert).await?;
    }
    Ok(queued)
}

const CONNECTIONS: &str = "select c.user_id, c.id, u.email from connections c
    join users u on u.id = c.user_id where c.status = 'needs_attention'
    and not exists (select 1 from mail_alerts a where a.user_id = c.user_id
        and a.kind = 'connection_needs_attention' and a.about = c.id)
    order by c.user_id, c.id limit 100";
const FORGET_CONNECTIONS: &str = "delete from mail_alerts
    where kind = 'connection_needs_attention' and not exists (select 1 from connections c
        where c.user_id = mail_alerts.user_id and c.id = mail_alerts.about
        and c.status = 'needs_attention')";
const ADMINS: &str = "select id, email from users where role = 'admin' order by id limit 20";
const FORGET_BACKUPS: &str = "delete from mail_alerts where kind = 'backup_late'";

pub(super) const STATEMENTS: &[&str] = &[CONNECTIONS, FORGET_CONNECTIONS, ADMINS, FORGET_BACKUPS];
