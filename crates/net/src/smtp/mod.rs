//! The SMTP client: sends one message over its own connection, encrypted unless the server is on this machine. Answers of
//! the server are limited in time and size.

mod address;
mod message;
mod replies;
mod session;

use std::net::IpAddr;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::tls::{SetupError, Tls};
use session::{Session, Stream};

pub use address::{EmailAddress, Mailbox};
pub use message::Message;

/// How the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// Plain at first, and encrypted before anything is said. A server that does not offer it is refused.
    StartTls,
    /// Encrypted from the beginning.
    Tls,
    /// Not at all, which is accepted only for a server on this machine.
    None,
}

/// The operator's settings. No `Debug`, so that the password is never logged.
#[derive(Clone)]
pub struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub security: Security,
    pub login: Option<Login>,
    /// The name of this server in its greeting.
    pub own_name: String,
}

#[derive(Clone)]
pub struct Login {
    pub user: String,
    pub password: String,
}

#[derive(Clone)]
pub struct SmtpClient {
    settings: SmtpSettings,
    tls: Tls,
    exchange_max: Duration,
}

const CONNECT_MAX: Duration = Duration::from_secs(15);
/// For a whole exchange. Servers that check for spam take their time.
const EXCHANGE_MAX: Duration = Duration::from_secs(120);

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SmtpError {
    #[error("the mail server's name could not be resolved; check mail.server")]
    Dns,
    #[error("the mail server could not be reached; check mail.server, mail.port and the network")]
    Connect,
    #[error("the mail server did not answer in time")]
    Timeout,
    #[error("the connection to the mail server broke")]
    Broken,
    #[error("the mail server's answer is not SMTP; check mail.port and mail.security")]
    Malformed,
    #[error(
        "the mail server's certificate must be valid for mail.server and come from a trusted authority; set mail.ca_file for your own"
    )]
    Tls,
    #[error(
        "the mail server does not offer STARTTLS; set mail.security to tls, or use another port"
    )]
    NoStartTls,
    #[error("mail.security is none, which is accepted only for a server on this machine")]
    NotLocal,
    #[error("the mail server offers no way to sign in that Evenkeel knows (PLAIN, LOGIN)")]
    NoLogin,
    #[error("the mail server refuses the login ({0}); check mail.user and mail.password")]
    LoginRefused(String),
    #[error("the mail server refuses mail from mail.from ({0})")]
    SenderRefused(String),
    #[error("the mail server refuses the recipient ({0})")]
    RecipientRefused(String),
    #[error("the mail server refuses the message ({0})")]
    MessageRefused(String),
    #[error("the mail server refuses for now ({0})")]
    RefusedForNow(String),
}

impl SmtpError {
    /// The server has refused the message or its recipient for good, so that sending the message again is useless.
    pub fn is_permanent(&self) -> bool {
        matches!(self, SmtpError::RecipientRefused(_) | SmtpError::MessageRefused(_))
    }
}

impl SmtpClient {
    pub fn new(settings: SmtpSettings, extra_ca: Option<&[u8]>) -> Result<SmtpClient, SetupError> {
        Ok(SmtpClient {
            settings,
            tls: Tls::new(extra_ca, Duration::ZERO)?,
            exchange_max: EXCHANGE_MAX,
        })
    }

    /// A shorter limit, for tests.
    pub fn with_exchange_max(self, exchange_max: Duration) -> SmtpClient {
        SmtpClient { exchange_max, ..self }
    }

    /// Sends a message. If the connection breaks after the last byte, the server may have taken it nevertheless.
    pub async fn send(&self, message: &Message) -> Result<(), SmtpError> {
        self.within_limit(async {
            let mut session = self.open().await?;
            session.deliver(message).await?;
            session.quit().await;
            Ok(())
        })
        .await
    }

    /// Connects and signs in, and sends nothing.
    pub async fn check(&self) -> Result<(), SmtpError> {
        self.within_limit(async {
            self.open().await?.quit().await;
            Ok(())
        })
        .await
    }

    async fn within_limit<T>(
        &self,
        exchange: impl Future<Output = Result<T, SmtpError>>,
    ) -> Result<T, SmtpError> {
        timeout(self.exchange_max, exchange).await.map_err(|_| SmtpError::Timeout)?
    }

    /// A session that is encrypted and signed in.
    async fn open(&self) -> Result<Session, SmtpError> {
        let SmtpSettings { security, login, own_name, .. } = &self.settings;
        let stream =
            timeout(CONNECT_MAX, self.connect()).await.map_err(|_| SmtpError::Timeout)??;
        let mut session = match security {
            Security::Tls => Session::new(self.encrypt(stream).await?),
            Security::StartTls | Security::None => Session::new(Stream::Plain(stream)),
        };
        session.greet(own_name).await?;
        if *security == Security::StartTls {
            let stream = session.start_tls().await?;
            session = Session::new(self.encrypt(stream).await?);
            session.say_hello(own_name).await?;
        }
        if let Some(login) = login {
            session.log_in(login).await?;
        }
        Ok(session)
    }

    async fn connect(&self) -> Result<TcpStream, SmtpError> {
        let SmtpSettings { host, port, security, .. } = &self.settings;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let found = lookup_host((host, *port)).await.map_err(|_| SmtpError::Dns)?;
        let found: Vec<_> = found.collect();
        let is_local = found.iter().all(|it| it.ip().to_canonical().is_loopback());
        if *security == Security::None && !is_local {
            return Err(SmtpError::NotLocal);
        }
        TcpStream::connect(&found[..]).await.map_err(|_| SmtpError::Connect)
    }

    async fn encrypt(&self, stream: TcpStream) -> Result<Stream, SmtpError> {
        let host = self.settings.host.trim_start_matches('[').trim_end_matches(']');
        let name = match host.parse::<IpAddr>() {
            Ok(address) => ServerName::IpAddress(address.into()),
            Err(_) => ServerName::try_from(host.to_owned()).map_err(|_| SmtpError::Dns)?,
        };
        let encrypting = timeout(CONNECT_MAX, self.tls.plain.connect(name, stream));
        let stream = encrypting.await.map_err(|_| SmtpError::Timeout)?;
        Ok(Stream::Encrypted(Box::new(stream.map_err(|_| SmtpError::Tls)?)))
    }
}
