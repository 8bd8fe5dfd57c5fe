//! The texts of messages.

use crate::access::{invitations, password_resets};
use crate::platform::mail_queue::{ClaimedMail, MailKind, Mailer};
use crate::{App, Result};

pub(super) struct Text {
    pub(super) subject: String,
    pub(super) body: String,
}

/// The text of a queued message; none if its reason is gone, such as a link that was used or withdrawn.
pub(super) async fn compose(
    app: &App,
    mailer: &Mailer,
    mail: &ClaimedMail,
) -> Result<Option<Text>> {
    let (url, about) = (&mailer.public_url, mail.about.unwrap_or_default());
    let at = mail.created_at.strftime("%-d %B %Y, %H:%M UTC").to_string();
    let notice = |subject: &str, change: &str| Some(security_notice(url, &at, subject, change));
    Ok(match mail.kind {
        MailKind::PasswordReset => {
            password_resets::find_token(app, about).await?.map(|token| password_reset(url, &token))
        }
        MailKind::Invitation => {
            let token = invitations::find_token(app, mail.user, about).await?;
            token.map(|token| invitation(url, &token))
        }
        MailKind::PasswordChanged => notice(
            "Your password was changed",
            "the password was changed, and all other sessions were signed out",
        ),
        MailKind::EmailChanged => notice(
            "Your email address was changed",
            "the email address was changed. Messages go to the new one from now on",
        ),
        MailKind::PasskeyAdded => {
            notice("A passkey was added", "a passkey was added, which can be used to sign in")
        }
        MailKind::PasskeyRemoved => notice("A passkey was removed", "a passkey was removed"),
        MailKind::SecondStepChanged => {
            notice("Two-step sign-in was changed", "two-step sign-in was turned on or off")
        }
        MailKind::RecoveryCodesCreated => notice(
            "New recovery codes were created",
            "new recovery codes were created, and the old ones no longer work",
        ),
        MailKind::BackupLate => Some(backup_late(url)),
        MailKind::ConnectionNeedsAttention => Some(connection_needs_attention(url)),
    })
}

fn password_reset(url: &str, token: &str) -> Text {
    let minutes = password_resets::LIFE_MINUTES;
    text(
        "Reset your password",
        format!(
            "Someone asked to reset the password of your Evenkeel account. To choose a new password, open this link \
             within {minutes} minutes:\n\n{url}/reset-password/{token}\n\nThe link works once. If you didn't ask for it, \
             ignore this message: your password stays as it is."
        ),
    )
}

fn invitation(url: &str, token: &str) -> Text {
    text(
        "You're invited to Evenkeel",
        format!(
            "You are invited to create an account at {url}. Only you will see your data.\n\nOpen this link within a \
             week:\n\n{url}/invite/{token}\n\nThe link works once. If you don't know what this is about, ignore this \
             message."
        ),
    )
}

/// A message about a change to how the person signs in.
fn security_notice(url: &str, at: &str, subject: &str, change: &str) -> Text {
    text(
        subject,
        format!(
            "On {at}, {change}. This is about your Evenkeel account at {url}.\n\nIf this was you, there is nothing to do. \
             If it wasn't, reset your password at {url}/sign-in, check {url}/settings/security and {url}/settings/audit, \
             and tell your administrator."
        ),
    )
}

fn backup_late(url: &str) -> Text {
    text(
        "A backup is late",
        format!(
            "The server at {url} has not written a backup when it should have. See {url}/settings/backups for the \
             reason, and run `evenkeel doctor` on the server."
        ),
    )
}

fn connection_needs_attention(url: &str) -> Text {
    text(
        "A connection needs your attention",
        format!(
            "One of your connections no longer gets new data, and only you can fix that: usually you have to sign in to \
             it again. See {url}/connections"
        ),
    )
}

pub(super) fn test(mailer: &Mailer) -> Text {
    text(
        "A test from Evenkeel",
        format!("The server at {} can send email to you.", mailer.public_url),
    )
}

fn text(subject: &str, body: String) -> Text {
    let body = format!("Hello,\n\n{body}\n\nEvenkeel sent this message automatically.\n");
    Text { subject: subject.to_owned(), body }
}
