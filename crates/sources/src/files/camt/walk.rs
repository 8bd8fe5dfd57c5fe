//! From tags to statements: a stack of names, the text of the tag that is open, and nothing else of the document.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::book::Book;
use super::broken;
use super::statement::Statement;
use crate::files::{FileError, Hints, Reading};

const REASON_CHARS: usize = 200;
/// Statements are some fifteen tags deep.
const DEEPEST: usize = 64;

/// Every tag that means something here; others are nameless on the stack.
const NAMES: [&str; 62] = [
    "AccptncDtTm",
    "Acct",
    "AcctSvcrRef",
    "AddtlNtryInf",
    "AddtlTxInf",
    "Amt",
    "AmtDtls",
    "BIC",
    "BICFI",
    "BICOrBEI",
    "AnyBIC",
    "Bal",
    "BkToCstmrAcctRpt",
    "BkToCstmrDbtCdtNtfctn",
    "BkToCstmrStmt",
    "BookgDt",
    "Ccy",
    "Cd",
    "CdOrPrtry",
    "Cdtr",
    "CdtrRefInf",
    "CdtDbtInd",
    "ChqNb",
    "Dbtr",
    "Dt",
    "DtTm",
    "EndToEndId",
    "FinInstnId",
    "IBAN",
    "Id",
    "InstdAmt",
    "Nm",
    "Ntfctn",
    "Ntry",
    "NtryDtls",
    "NtryRef",
    "Othr",
    "Ownr",
    "Prtry",
    "Pty",
    "Ref",
    "Refs",
    "RltdDts",
    "RltdPties",
    "RmtInf",
    "Rpt",
    "RvslInd",
    "Stmt",
    "Strd",
    "Sts",
    "SubTp",
    "Svcr",
    "Tp",
    "TxAmt",
    "TxDtTm",
    "TxDtls",
    "TxId",
    "UETR",
    "UltmtCdtr",
    "UltmtDbtr",
    "Ustrd",
    "ValDt",
];

pub(super) fn read(text: &str, hints: &Hints) -> Result<Reading, FileError> {
    let mut walk = Walk::new(text, hints);
    match walk.run() {
        Ok(()) => {}
        Err(End::Refused(error)) => return Err(error),
        Err(End::Malformed(reason)) => {
            let line = walk.line();
            if let Some(mut statement) = walk.statement.take() {
                statement.sums.is_partial = true;
                walk.book.close(statement);
            }
            if walk.book.is_empty() {
                return Err(broken(format!("the XML breaks off in line {line}: {reason}")));
            }
            let reason = format!("the XML breaks off here ({reason}); what came before is kept");
            walk.book.rejected.add(line, reason);
        }
    }
    walk.book.finish()
}

enum End {
    Refused(FileError),
    Malformed(String),
}

struct Walk<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    stack: Vec<&'static str>,
    /// Where in the stack the open statement is.
    base: usize,
    statement: Option<Statement>,
    /// Of the tag that is open.
    content: String,
    currency: Option<String>,
    book: Book<'a>,
    /// Lines are counted as far as anybody asked.
    counted: (usize, usize),
}

impl<'a> Walk<'a> {
    fn new(text: &'a str, hints: &'a Hints) -> Walk<'a> {
        let text = text.trim_start_matches('\u{FEFF}');
        let mut reader = Reader::from_str(text);
        // Banks forget to escape the sign in `Miller & Sons`.
        reader.config_mut().allow_dangling_amp = true;
        Walk {
            text,
            reader,
            stack: Vec::new(),
            base: 0,
            statement: None,
            content: String::new(),
            currency: None,
            book: Book::new(hints),
            counted: (0, 1),
        }
    }

    fn line(&mut self) -> usize {
        let at = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        let at = at.clamp(self.counted.0, self.text.len());
        let passed = &self.text.as_bytes()[self.counted.0..at];
        self.counted.1 += passed.iter().filter(|it| **it == b'\n').count();
        self.counted.0 = at;
        self.counted.1
    }

    fn run(&mut self) -> Result<(), End> {
        loop {
            let event = self.reader.read_event();
            // It may quote a tag, however long that is.
            let malformed = |it: String| End::Malformed(it.chars().take(REASON_CHARS).collect());
            match event.map_err(|error| malformed(error.to_string()))? {
                Event::Start(tag) => self.open(&tag)?,
                Event::Empty(tag) => {
                    self.open(&tag)?;
                    self.close();
                }
                Event::End(_) => self.close(),
                Event::Text(text) => self.content.push_str(&text),
                Event::CData(text) => self.content.push_str(&text),
                Event::GeneralRef(reference) => self.refer(&reference),
                Event::DocType(_) => {
                    return Err(End::Refused(broken(
                        "it has a document type (DOCTYPE), which no bank statement needs and which \
                         can be used for attacks. Download the file from the bank again",
                    )));
                }
                Event::Eof if self.stack.is_empty() => return Ok(()),
                Event::Eof => return Err(End::Malformed("a tag is never closed".to_owned())),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), End> {
        if self.stack.len() >= DEEPEST {
            return Err(End::Refused(broken(format!(
                "its tags are nested more than {DEEPEST} deep, as no bank statement's are"
            ))));
        }
        let name = tag.local_name();
        let name: &str = name.as_ref();
        let known = NAMES.iter().find(|it| **it == name).copied().unwrap_or_default();
        self.stack.push(known);
        self.content.clear();
        self.currency = None;
        match known {
            "Stmt" | "Rpt" | "Ntfctn" if self.statement.is_none() => {
                let line = self.line();
                self.statement = Some(Statement::new(line));
                self.base = self.stack.len();
            }
            "Ntry" if self.statement.is_some() && self.stack.len() == self.base + 1 => {
                let line = self.line();
                if let Some(statement) = &mut self.statement {
                    statement.open_entry(line);
                }
            }
            _ => {
                if let Some(statement) = &mut self.statement {
                    statement.open(&self.stack[self.base..]);
                }
            }
        }
        if known == "Amt" {
            let found = tag.try_get_attribute("Ccy").ok().flatten();
            self.currency = found.map(|it| it.value.trim().to_owned());
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(statement) = &mut self.statement {
            if self.stack.len() == self.base {
                if let Some(statement) = self.statement.take() {
                    self.book.close(statement);
                }
            } else {
                let path = &self.stack[self.base..];
                statement.leaf(path, self.content.trim(), self.currency.as_deref());
                if path == ["Ntry"] {
                    self.book.enter(statement);
                }
            }
        }
        self.stack.pop();
        self.content.clear();
        self.currency = None;
    }

    fn refer(&mut self, reference: &BytesRef<'_>) {
        let name: &str = reference;
        match reference.resolve_char_ref() {
            Ok(Some(it)) => self.content.push(it),
            _ => match resolve_predefined_entity(name) {
                Some(it) => self.content.push_str(it),
                // Nothing defines it, so it is what it looks like.
                None => self.content.extend(["&", name, ";"]),
            },
        }
    }
}
