//! A client of S3-compatible stores: objects are written in parts, read in ranges, listed and deleted. Memory is bounded
//! whatever their size, and nothing that a server answers is trusted.

mod address;
mod download;
mod error;
mod listing;
mod signature;
mod store;
mod upload;
mod xml;

pub use address::{Addressing, Location};
pub use download::Download;
pub use error::Error;
pub use listing::{Object, UnfinishedUpload};
pub use store::{Pace, Settings, Store};
pub use upload::{UploadParts, UploadWriter, Uploaded, upload_channel};

pub type Result<T, E = Error> = std::result::Result<T, E>;
