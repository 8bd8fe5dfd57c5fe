//! The SMTP client against servers that are wrong, slow or hostile.

use std::time::Duration;

use net::{EmailAddress, Login, Mailbox, Message, Security, SmtpClient, SmtpError, SmtpSettings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A server that answers each line with the next of its replies, and reports what it received. The first reply is the
/// greeting; after the last one it hangs.
async fn server(replies: Vec<Vec<u8>>) -> (u16, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 65_536];
        for reply in replies {
            if stream.write_all(&reply).await.is_err() {
                return;
            }
            match stream.read(&mut buffer).await {
                Ok(read) if read > 0 => {
                    let _ = sender.send(String::from_utf8_lossy(&buffer[..read]).into_owned());
                }
                _ => return,
            }
        }
        std::future::pending::<()>().await;
    });
    (port, received)
}

/// A client that waits longer than a busy machine takes.
fn client(port: u16, security: Security, login: Option<Login>) -> SmtpClient {
    client_waiting(Duration::from_secs(60), port, security, login)
}

fn client_waiting(
    exchange_max: Duration,
    port: u16,
    security: Security,
    login: Option<Login>,
) -> SmtpClient {
    let own_name = "money.example.com".to_owned();
    let host = "127.0.0.1".to_owned();
    let settings = SmtpSettings { host, port, security, login, own_name };
    SmtpClient::new(settings, None).unwrap().with_exchange_max(exchange_max)
}

fn message() -> Message {
    Message {
        from: Mailbox::parse("Evenkeel <money@example.com>").unwrap(),
        to: EmailAddress::parse("robin@example.com").unwrap(),
        subject: "Hello".to_owned(),
        text: "One\n.\nTwo\n".to_owned(),
        id: "1".to_owned(),
        date: "Tue, 17 Nov 2026 16:00:00 +0000".to_owned(),
    }
}

fn lines(replies: &[&str]) -> Vec<Vec<u8>> {
    replies.iter().map(|it| format!("{it}\r\n").into_bytes()).collect()
}

async fn send(replies: &[&str]) -> Result<(), SmtpError> {
    let (port, _received) = server(lines(replies)).await;
    client(port, Security::None, None).send(&message()).await
}

const GOOD: [&str; 6] = ["220 a", "250-b\r\n250 SIZE", "250 c", "250 d", "354 e", "250 f"];

#[tokio::test]
async fn a_message_is_sent_whole_and_no_line_of_it_ends_it() {
    let (port, mut received) = server(lines(&GOOD)).await;
    client(port, Security::None, None).send(&message()).await.unwrap();
    let mut all = String::new();
    while let Ok(line) = received.try_recv() {
        all += &line;
    }
    let start = "EHLO money.example.com\r\nMAIL FROM:<money@example.com>\r\nRCPT TO:<robin@example.com>\r\nDATA\r\nFrom: ";
    assert!(all.starts_with(start), "{all}");
    assert!(all.contains("\r\n\r\nOne\r\n..\r\nTwo\r\n.\r\n"), "{all}");
}

#[tokio::test]
async fn what_a_server_refuses_is_named_and_said_to_be_for_now_or_for_good() {
    let with = |at: usize, reply: &'static str| {
        let mut replies = GOOD;
        replies[at] = reply;
        replies
    };
    for (at, reply, is_permanent, text) in [
        (0, "421 busy", false, "for now (421 busy)"),
        (0, "554 no", false, "for now (554 no)"),
        (2, "550 not you", false, "mail from mail.from (550 not you)"),
        (3, "450 later", false, "for now (450 later)"),
        (3, "550 unknown", true, "the recipient (550 unknown)"),
        (5, "554 spam", true, "the message (554 spam)"),
        (5, "452 full", false, "for now (452 full)"),
        (3, "550-one\r\n550 \x1b[31mtwo", true, "550 one  [31mtwo"),
    ] {
        let error = send(&with(at, reply)).await.unwrap_err();
        assert_eq!(error.is_permanent(), is_permanent, "{reply}");
        assert!(error.to_string().contains(text), "{reply}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_smtp_is_refused_in_bounded_time_and_space() {
    let endless = vec![b'x'; 1 << 20];
    let many = "250-again\r\n".repeat(1_000).into_bytes();
    for reply in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\xff\xff\xff\r\n",
        b"220x\r\n",
        b"999 high\r\n",
        b"220-one\r\n250 two\r\n",
        &endless,
        &many,
    ] {
        let (port, _received) = server(vec![reply.to_vec()]).await;
        let sent = client(port, Security::None, None).check().await;
        assert_eq!(sent, Err(SmtpError::Malformed), "{}", String::from_utf8_lossy(&reply[..8]));
    }
    // Nothing, and a line that never ends.
    for reply in [&b""[..], b"220 begin"] {
        let (port, _received) = server(vec![reply.to_vec()]).await;
        let client = client_waiting(Duration::from_millis(200), port, Security::None, None);
        assert_eq!(client.check().await, Err(SmtpError::Timeout));
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    assert_eq!(client(port, Security::None, None).check().await, Err(SmtpError::Connect));
}

#[tokio::test]
async fn nothing_is_said_before_the_connection_is_encrypted() {
    let login = Some(Login { user: "robin".to_owned(), password: "secret".to_owned() });
    // A server, or somebody in between, that hides that it can encrypt.
    let (port, mut received) = server(lines(&["220 a", "250 AUTH PLAIN", "235 fine"])).await;
    let sent = client(port, Security::StartTls, login.clone()).send(&message()).await;
    assert_eq!(sent, Err(SmtpError::NoStartTls));
    assert_eq!(received.recv().await.unwrap(), "EHLO money.example.com\r\n");
    assert!(received.try_recv().is_err());
    // Somebody in between who adds a reply that would count after the encryption began.
    let injected = ["220 a", "250-b\r\n250 STARTTLS", "220 go\r\n250 injected"];
    let (port, _received) = server(lines(&injected)).await;
    let sent = client(port, Security::StartTls, login.clone()).send(&message()).await;
    assert_eq!(sent, Err(SmtpError::Malformed));
    // A certificate that is none.
    let (port, _received) =
        server(lines(&["220 a", "250-b\r\n250 STARTTLS", "220 go", "no"])).await;
    let sent = client(port, Security::StartTls, login).send(&message()).await;
    assert_eq!(sent, Err(SmtpError::Tls));
}

#[tokio::test]
async fn a_login_that_is_refused_or_not_offered_is_named() {
    let login = || Some(Login { user: "robin".to_owned(), password: "secret".to_owned() });
    let check = async |replies: &[&str]| {
        let (port, mut received) = server(lines(replies)).await;
        let checked = client(port, Security::None, login()).check().await;
        let mut said = Vec::new();
        while let Ok(line) = received.try_recv() {
            said.push(line);
        }
        (checked, said)
    };
    let (checked, said) =
        check(&["220 a", "250-b\r\n250 AUTH LOGIN PLAIN", "235 ok", "221 bye"]).await;
    assert_eq!(checked, Ok(()));
    assert_eq!(said[1], "AUTH PLAIN AHJvYmluAHNlY3JldA==\r\n");
    let (checked, said) =
        check(&["220 a", "250-b\r\n250 AUTH LOGIN", "334 u", "334 p", "235 ok", "221 bye"]).await;
    assert_eq!(checked, Ok(()));
    assert_eq!(said[2..4], ["cm9iaW4=\r\n", "c2VjcmV0\r\n"]);
    let (checked, _) = check(&["220 a", "250-b\r\n250 AUTH PLAIN", "535 wrong"]).await;
    assert_eq!(checked, Err(SmtpError::LoginRefused("535 wrong".to_owned())));
    let (checked, _) = check(&["220 a", "250 b"]).await;
    assert_eq!(checked, Err(SmtpError::NoLogin));
}
