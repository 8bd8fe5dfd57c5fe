//! Exports all of a person's data as a zip file of JSON and CSV files, written page by page so that little of it is in memory
//! at any time.

mod datasets;
mod formats;
mod tables;
mod zip;

use std::io;

use base::AttachmentId;

use crate::access::{images, sessions};
use crate::ledger::{accounts, attachments};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

use datasets::{Content, DATASETS, Dataset, Position, Reader};
use formats::{Format, RowWriter};
use zip::ZipWriter;

pub(crate) use tables::STATEMENTS;

/// The least number of bytes that `next` returns, except at the end.
const CHUNK_BYTES: usize = 64 * 1_024;

/// A running export.
pub struct Export {
    reader: Reader,
    zip: ZipWriter,
    step: Step,
    readme: String,
}

/// The next file or page to write.
enum Step {
    Readme,
    Image,
    /// A page of a dataset in one of its formats.
    Page {
        index: usize,
        format: usize,
        position: Position,
        writer: Option<RowWriter>,
    },
    /// The file of the first attachment after one.
    Attachment(Option<AttachmentId>),
    Done,
}

/// Starts an export, and records it in the audit log.
pub async fn start(app: &App, caller: &Caller) -> Result<Export> {
    caller.require_owner("export")?;
    sessions::require_proof(app, caller).await?;
    let (requester, now) = (caller.clone(), app.clock.now());
    let note = move |tx: &mut db::Tx<'_>| {
        let note = Note::new(&requester, "data.export", "Exported all data");
        audit::note(tx, requester.user, now, note)
    };
    app.db.write(note).await?;
    let accounts = accounts::list_all(app, caller).await?;
    let reader = Reader { app: app.clone(), caller: caller.clone(), accounts };
    let readme = readme(&now.strftime("%Y-%m-%d %H:%M UTC").to_string());
    Ok(Export { reader, zip: ZipWriter::new(now), step: Step::Readme, readme })
}

impl Export {
    /// Returns the next bytes of the zip file; none at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        while self.zip.buffered() < CHUNK_BYTES && !matches!(self.step, Step::Done) {
            self.run_step().await?;
        }
        let bytes = self.zip.take();
        Ok(Some(bytes).filter(|it| !it.is_empty()))
    }

    async fn run_step(&mut self) -> Result<()> {
        let step = std::mem::replace(&mut self.step, Step::Done);
        self.step = match step {
            Step::Readme => {
                self.zip.start("README.txt").map_err(write_failed)?;
                self.zip.write(self.readme.as_bytes()).map_err(write_failed)?;
                Step::Image
            }
            Step::Image => {
                if let Some(image) = images::find_own(&self.reader.app, &self.reader.caller).await?
                {
                    let ending = image.media_type.as_str().trim_start_matches("image/");
                    self.zip.start(&format!("profile_image.{ending}")).map_err(write_failed)?;
                    self.zip.write(&image.content).map_err(write_failed)?;
                }
                Step::Page { index: 0, format: 0, position: Position::Start, writer: None }
            }
            Step::Page { index, format, position, writer } => match DATASETS.get(index) {
                Some(dataset) => {
                    self.write_page(dataset, (index, format), position, writer).await?
                }
                None => Step::Attachment(None),
            },
            Step::Attachment(after) => match self.write_attachment(after).await? {
                Some(id) => Step::Attachment(Some(id)),
                None => {
                    self.zip.finish().map_err(write_failed)?;
                    Step::Done
                }
            },
            Step::Done => Step::Done,
        };
        Ok(())
    }

    /// Writes the file of the first attachment after one, and returns its id. None if there is no further one.
    async fn write_attachment(
        &mut self,
        after: Option<AttachmentId>,
    ) -> Result<Option<AttachmentId>> {
        let Reader { app, caller, .. } = &self.reader;
        let Some(attachment) = attachments::find_after(app, caller, after).await? else {
            return Ok(None);
        };
        // The person's name of the file is in the dataset, so that no name can leave the folder of the export.
        let ending = attachment.media_type.ending();
        let name = format!("attachment_{}.{ending}", attachment.id);
        self.zip.start(&name).map_err(write_failed)?;
        let mut part = 0;
        while let Some(bytes) = attachments::read_part(app, caller, &attachment, part).await? {
            self.zip.write(&bytes).map_err(write_failed)?;
            part += 1;
        }
        Ok(Some(attachment.id))
    }

    /// Writes one page of a file, and returns the next step.
    async fn write_page(
        &mut self,
        dataset: &Dataset,
        (index, format): (usize, usize),
        position: Position,
        writer: Option<RowWriter>,
    ) -> Result<Step> {
        let kind = Format::ALL[format];
        if writer.is_none() {
            let name = format!("{}.{}", dataset.name, kind.as_str());
            self.zip.start(&name).map_err(write_failed)?;
        }
        let mut writer = writer.unwrap_or_else(|| RowWriter::new(kind));
        let mut out = Vec::new();
        let next = match self.reader.read(&dataset.rows, position).await? {
            Content::Single(object) => {
                formats::write_single(kind, &object, &mut out)?;
                None
            }
            Content::Rows(rows, next) => {
                rows.iter().try_for_each(|row| writer.write_row(row, &mut out))?;
                if next.is_none() {
                    writer.finish(&mut out);
                }
                next
            }
        };
        self.zip.write(&out).map_err(write_failed)?;
        Ok(match next {
            Some(position) => Step::Page { index, format, position, writer: Some(writer) },
            None => {
                let last = format + 1 == Format::ALL.len();
                let (index, format) = if last { (index + 1, 0) } else { (index, format + 1) };
                Step::Page { index, format, position: Position::Start, writer: None }
            }
        })
    }
}

fn write_failed(error: io::Error) -> Error {
    Error::internal(format!("writing an export failed: {error}"))
}

fn readme(made_at: &str) -> String {
    let mut text = format!(
        "All of your Evenkeel data, as of {made_at}.\r\n\r\n\
         Each dataset is here twice with the same content: as .json for programs, in the API's \
         format,\r\nand as .csv for spreadsheets. An empty dataset has an empty .csv file.\r\n\r\n"
    );
    for dataset in DATASETS {
        text.push_str(&format!("{:20}{}\r\n", dataset.name, dataset.about));
    }
    text.push_str(
        "\r\nAmounts are in the currency of the same row. Dates look like 2026-04-10; times are \
         UTC.\r\nIn .csv files, text that begins like a formula has an apostrophe in front, so \
         that no spreadsheet runs it.\r\n",
    );
    text
}
