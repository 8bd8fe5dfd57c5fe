//! Everything of a person's in one zip file, as JSON and as CSV, written page by page so that little of it is ever in
//! memory.

mod parts;
mod sheet;
mod tables;
mod zip;

use std::io;

use crate::access::{images, sessions};
use crate::ledger::accounts;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

use parts::{Content, PARTS, Part, Place, Source};
use sheet::{Format, Sheet};
use zip::Zip;

pub(crate) use tables::STATEMENTS;

/// What is handed on in one go, at least.
const CHUNK: usize = 64 * 1_024;

/// An export under way.
pub struct Export {
    source: Source,
    zip: Zip,
    at: Step,
    readme: String,
}

/// Which file is being written, and how far it is.
enum Step {
    Readme,
    Image,
    /// A part, a format of it, and within that a place.
    Part {
        index: usize,
        format: usize,
        place: Place,
        sheet: Option<Sheet>,
    },
    Done,
}

/// Begins an export, and notes that it was asked for.
pub async fn start(app: &App, caller: &Caller) -> Result<Export> {
    caller.require_owner("export")?;
    sessions::require_proof(app, caller).await?;
    let (asked, now) = (caller.clone(), app.clock.now());
    let note = move |tx: &mut db::Tx<'_>| {
        let note = Note::new(&asked, "data.export", "Downloaded everything");
        audit::note(tx, asked.user, now, note)
    };
    app.db.write(note).await?;
    let accounts = accounts::all(app, caller).await?;
    let source = Source { app: app.clone(), caller: caller.clone(), accounts };
    let readme = readme(&now.strftime("%Y-%m-%d %H:%M UTC").to_string());
    Ok(Export { source, zip: Zip::new(now), at: Step::Readme, readme })
}

impl Export {
    /// The next bytes of the file; none at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        while self.zip.waiting() < CHUNK && !matches!(self.at, Step::Done) {
            self.step().await?;
        }
        let bytes = self.zip.take();
        Ok(Some(bytes).filter(|it| !it.is_empty()))
    }

    async fn step(&mut self) -> Result<()> {
        let done = std::mem::replace(&mut self.at, Step::Done);
        self.at = match done {
            Step::Readme => {
                self.zip.start("README.txt").map_err(unwritable)?;
                self.zip.write(self.readme.as_bytes()).map_err(unwritable)?;
                Step::Image
            }
            Step::Image => {
                if let Some(image) = images::own(&self.source.app, &self.source.caller).await? {
                    let ending = image.media_type.as_str().trim_start_matches("image/");
                    self.zip.start(&format!("profile_image.{ending}")).map_err(unwritable)?;
                    self.zip.write(&image.content).map_err(unwritable)?;
                }
                Step::Part { index: 0, format: 0, place: Place::Start, sheet: None }
            }
            Step::Part { index, format, place, sheet } => match PARTS.get(index) {
                Some(part) => self.page(part, (index, format), place, sheet).await?,
                None => {
                    self.zip.finish().map_err(unwritable)?;
                    Step::Done
                }
            },
            Step::Done => Step::Done,
        };
        Ok(())
    }

    /// Writes one page of a file, and says where to go on.
    async fn page(
        &mut self,
        part: &Part,
        (index, format): (usize, usize),
        place: Place,
        sheet: Option<Sheet>,
    ) -> Result<Step> {
        let kind = Format::ALL[format];
        if sheet.is_none() {
            let name = format!("{}.{}", part.name, kind.as_str());
            self.zip.start(&name).map_err(unwritable)?;
        }
        let mut sheet = sheet.unwrap_or_else(|| Sheet::new(kind));
        let mut out = Vec::new();
        let next = match self.source.read(&part.rows, place).await? {
            Content::Single(object) => {
                sheet::single(kind, &object, &mut out)?;
                None
            }
            Content::Rows(rows, next) => {
                rows.iter().try_for_each(|row| sheet.row(row, &mut out))?;
                if next.is_none() {
                    sheet.end(&mut out);
                }
                next
            }
        };
        self.zip.write(&out).map_err(unwritable)?;
        Ok(match next {
            Some(place) => Step::Part { index, format, place, sheet: Some(sheet) },
            None => {
                let last = format + 1 == Format::ALL.len();
                let (index, format) = if last { (index + 1, 0) } else { (index, format + 1) };
                Step::Part { index, format, place: Place::Start, sheet: None }
            }
        })
    }
}

fn unwritable(error: io::Error) -> Error {
    Error::internal(format!("an export: {error}"))
}

fn readme(made_at: &str) -> String {
    let mut text = format!(
        "Everything that Evenkeel keeps of you, as of {made_at}.\r\n\r\n\
         Each part is here twice with the same content: as .json for programs, written as the API \
         writes it,\r\nand as .csv for spreadsheets. A part without anything in it has an empty \
         .csv.\r\n\r\n"
    );
    for part in PARTS {
        text.push_str(&format!("{:20}{}\r\n", part.name, part.about));
    }
    text.push_str(
        "\r\nAmounts are in the currency beside them. Days are written 2026-04-10, moments are \
         UTC.\r\nIn .csv files, text that begins like a formula has an apostrophe in front, so \
         that no spreadsheet runs it.\r\n",
    );
    text
}
