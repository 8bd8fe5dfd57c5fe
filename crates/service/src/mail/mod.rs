//! Email: sends what is queued, and tells people about states that last. No message contains an amount, the name of an
//! account or a bank: mailboxes are read by others more often than this installation is.

mod alerts;
mod texts;

use net::{EmailAddress, Message, SmtpError};

use crate::platform::mail_queue::{self, ClaimedMail, Mailer};
use crate::{App, Error, Result};
use texts::Text;

pub use alerts::alert_once;

/// Messages that one step sends.
const PER_STEP: usize = 20;

pub(crate) const STATEMENTS: &[&str] = alerts::STATEMENTS;

/// Sends messages that are due. A background step.
pub async fn send_once(app: &App) -> Result<usize> {
    let Some(mailer) = &app.mail else { return Ok(0) };
    let mut sent = 0;
    while sent < PER_STEP {
        let Some(mail) = mail_queue::claim(app).await? else { break };
        let text = texts::compose(app, mailer, &mail).await?;
        let message = text.and_then(|it| message(mailer, &mail, it));
        // A link that was used or withdrawn meanwhile is not sent.
        let Some(message) = message else {
            mail_queue::finish(app, &mail).await?;
            continue;
        };
        match mailer.client.send(&message).await {
            Ok(()) => {
                mail_queue::finish(app, &mail).await?;
                app.meters.count_email("sent");
            }
            Err(error) if error.is_permanent() => {
                tracing::warn!(kind = mail.kind.as_str(), %error, "email refused; it is not sent again");
                mail_queue::finish(app, &mail).await?;
                app.meters.count_email("refused");
            }
            Err(error) => {
                let is_kept = mail_queue::retry_later(app, &mail).await?;
                app.meters.count_email(if is_kept { "retrying" } else { "dropped" });
                tracing::warn!(kind = mail.kind.as_str(), is_kept, %error, "email not sent");
                // The next message would fare no better now.
                return Ok(sent);
            }
        }
        sent += 1;
    }
    Ok(sent)
}

/// Sends a message to try the settings out.
pub async fn send_test(mailer: &Mailer, to: &str, now: base::Timestamp) -> Result<()> {
    let to = EmailAddress::parse(to)
        .ok_or_else(|| Error::invalid("address", "the address must look like robin@example.com"))?;
    let Text { subject, body } = texts::test(mailer);
    let id = format!("test-{}", now.as_microsecond());
    let from = mailer.from.clone();
    let message = Message { from, to, subject, text: body, id, date: date(now) };
    mailer
        .client
        .send(&message)
        .await
        .map_err(|error: SmtpError| Error::Invalid { param: None, message: error.to_string() })
}

fn message(mailer: &Mailer, mail: &ClaimedMail, text: Text) -> Option<Message> {
    Some(Message {
        from: mailer.from.clone(),
        to: EmailAddress::parse(&mail.recipient)?,
        subject: text.subject,
        text: text.body,
        id: mail.id.iter().map(|it| format!("{it:02x}")).collect(),
        date: date(mail.created_at),
    })
}

/// A time as email has it.
fn date(at: base::Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}
