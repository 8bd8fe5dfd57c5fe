//! Walks over the XML events of a CAMT file with a stack of tag names and the text of the current tag, without
//! building a tree.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::broken;
use super::builder::AccountsBuilder;
use super::statement::Statement;
use crate::files::{FileContents, FileError, NoteKind, ParseOptions};

const REASON_CHARS: usize = 200;
/// Real statements are about fifteen tags deep.
const DEEPEST: usize = 64;

/// All tags that are used; others are nameless on the stack.
const NAMES: [&str; 81] = [
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
    "CcyXchg",
    "CntrValAmt",
    "CreDtTm",
    "CdtDbtInd",
    "ChqNb",
    "Dbtr",
    "Dt",
    "DtTm",
    "EndToEndId",
    "FinInstnId",
    "FrToDt",
    "IBAN",
    "Id",
    "InstdAmt",
    "LastPgInd",
    "NbOfNtries",
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
    "RptPgntn",
    "SrcCcy",
    "StmtPgntn",
    "RltdPties",
    "RmtInf",
    "Rpt",
    "RvslInd",
    "Stmt",
    "Strd",
    "Sts",
    "SubTp",
    "Sum",
    "Svcr",
    "ToDt",
    "ToDtTm",
    "Tp",
    "TrgtCcy",
    "TtlCdtNtries",
    "TtlDbtNtries",
    "TtlNtries",
    "TxAmt",
    "TxDtTm",
    "TxDtls",
    "TxId",
    "TxsSummry",
    "UETR",
    "UltmtCdtr",
    "UnitCcy",
    "UltmtDbtr",
    "Ustrd",
    "ValDt",
    "XchgRate",
];

pub(super) fn read(text: &str, options: &ParseOptions) -> Result<FileContents, FileError> {
    let mut walk = Walk::new(text, options);
    match walk.run() {
        Ok(()) => {}
        Err(ReadError::Refused(error)) => return Err(error),
        Err(ReadError::Malformed(reason)) => {
            let line = walk.line();
            if let Some(mut statement) = walk.statement.take() {
                statement.sums.is_partial = true;
                walk.builder.close(statement);
            }
            if walk.builder.is_empty() {
                return Err(broken(format!("the XML breaks off in line {line}: {reason}")));
            }
            let text = format!("the XML breaks off here ({reason}), so rows may be missing");
            walk.builder.notes.warn(NoteKind::CutOff, line, text);
        }
    }
    walk.builder.finish()
}

enum ReadError {
    Refused(FileError),
    Malformed(String),
}

struct Walk<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    stack: Vec<&'static str>,
    /// The stack depth of the current statement.
    base: usize,
    statement: Option<Statement>,
    /// The text of the current tag.
    content: String,
    currency: Option<String>,
    builder: AccountsBuilder<'a>,
    /// The byte position up to which lines were counted, and their number.
    counted: (usize, usize),
}

impl<'a> Walk<'a> {
    fn new(text: &'a str, options: &'a ParseOptions) -> Walk<'a> {
        let text = text.trim_start_matches('\u{FEFF}');
        let mut reader = Reader::from_str(text);
        // Banks forget to escape the ampersand in names such as `Miller & Sons`.
        reader.config_mut().allow_dangling_amp = true;
        Walk {
            text,
            reader,
            stack: Vec::new(),
            base: 0,
            statement: None,
            content: String::new(),
            currency: None,
            builder: AccountsBuilder::new(options),
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

    fn run(&mut self) -> Result<(), ReadError> {
        loop {
            let event = self.reader.read_event();
            // The parser's message may quote a tag of any length, so it is cut.
            let malformed =
                |it: String| ReadError::Malformed(it.chars().take(REASON_CHARS).collect());
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
                    return Err(ReadError::Refused(broken(
                        "it has a document type (DOCTYPE), which no bank statement needs and which \
                         can be used for attacks. Download the file from the bank again",
                    )));
                }
                Event::Eof if self.stack.is_empty() => return Ok(()),
                Event::Eof => return Err(ReadError::Malformed("a tag is never closed".to_owned())),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        if self.stack.len() >= DEEPEST {
            return Err(ReadError::Refused(broken(format!(
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
                    self.builder.close(statement);
                }
            } else {
                let path = &self.stack[self.base..];
                statement.leaf(path, self.content.trim(), self.currency.as_deref());
                if path == ["Ntry"] {
                    self.builder.enter(statement);
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
                // An undefined entity is kept as it is written.
                None => self.content.extend(["&", name, ";"]),
            },
        }
    }
}
