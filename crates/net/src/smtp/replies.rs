//! Replies of a server: a code of three digits and lines of text, bounded in number and length.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use super::SmtpError;

/// The longest line and the most lines of a reply. Servers may send 512 bytes a line.
const LINE_MAX: u64 = 2_048;
const LINES_MAX: usize = 64;
/// Text of a server that is shown: at most so many characters.
const SHOWN_CHARS: usize = 160;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) lines: Vec<String>,
}

impl Reply {
    /// Code and text in one line, without characters that would control a terminal.
    pub(super) fn shown(&self) -> String {
        let text = format!("{} {}", self.code, self.lines.join(" "));
        let plain = |it: char| if it.is_control() { ' ' } else { it };
        text.chars().take(SHOWN_CHARS).map(plain).collect()
    }

    /// Codes from 400 to 499 are temporary refusals: the server may accept the same command later.
    pub(super) fn is_temporary(&self) -> bool {
        (400..500).contains(&self.code)
    }
}

pub(super) async fn read<S: AsyncRead + Unpin>(
    stream: &mut BufReader<S>,
) -> Result<Reply, SmtpError> {
    let mut reply: Option<Reply> = None;
    for _ in 0..LINES_MAX {
        let mut line = Vec::new();
        let read = (&mut *stream).take(LINE_MAX).read_until(b'\n', &mut line).await;
        read.map_err(|_| SmtpError::Broken)?;
        if line.is_empty() {
            return Err(SmtpError::Broken);
        }
        let (code, is_last, text) = parse(&line).ok_or(SmtpError::Malformed)?;
        let reply = reply.get_or_insert_with(|| Reply { code, lines: Vec::new() });
        if reply.code != code {
            return Err(SmtpError::Malformed);
        }
        reply.lines.push(text);
        if is_last {
            return Ok(reply.clone());
        }
    }
    Err(SmtpError::Malformed)
}

/// The code, whether the line is the last of its reply, and the text.
fn parse(line: &[u8]) -> Option<(u16, bool, String)> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?.trim_end_matches('\r');
    let code = line.get(..3).filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    let code = code.parse().ok().filter(|it| (200..600).contains(it))?;
    match line.as_bytes().get(3) {
        None => Some((code, true, String::new())),
        Some(b' ') => Some((code, true, line[4..].to_owned())),
        Some(b'-') => Some((code, false, line[4..].to_owned())),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_code_and_says_whether_more_follow() {
        assert_eq!(parse(b"250 Ok\r\n"), Some((250, true, "Ok".to_owned())));
        assert_eq!(parse(b"250-SIZE 1\n"), Some((250, false, "SIZE 1".to_owned())));
        assert_eq!(parse(b"354\r\n"), Some((354, true, String::new())));
        for bad in [
            &b"250 cut off"[..],
            b"99 x\n",
            b"999 x\n",
            b"25x x\n",
            b"250x\n",
            b"\n",
            b"\xff\xff\xff\n",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
