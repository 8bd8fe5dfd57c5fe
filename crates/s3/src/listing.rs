//! Lists of objects and of uploads that were never finished.

use crate::store::Request;
use crate::xml::{self, Element};
use crate::{Error, Result, Store};

/// Pages of at most 1,000 objects that are read. A server that always has one more is not followed for ever.
const PAGES_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The key without the store's prefix.
    pub name: String,
    pub bytes: u64,
}

/// An upload in parts that was begun and neither finished nor given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedUpload {
    /// The key without the store's prefix.
    pub name: String,
    pub(crate) id: String,
}

const LIST: &str = "list the bucket";
const LIST_UPLOADS: &str = "list uploads";

impl Store {
    /// All objects whose names begin with this.
    pub async fn list(&self, beginning: &str) -> Result<Vec<Object>> {
        let prefix = self.key(beginning);
        let mut found = Vec::new();
        let mut token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let mut query = vec![("list-type", "2"), ("prefix", &prefix)];
            if let Some(token) = &token {
                query.push(("continuation-token", token));
            }
            let root = self.document(LIST, &query).await?;
            if root.name != "ListBucketResult" {
                return Err(Error::Malformed { action: LIST });
            }
            for element in root.children("Contents") {
                let object = self.object(element).ok_or(Error::Malformed { action: LIST })?;
                found.extend(object.filter(|it| it.name.starts_with(beginning)));
            }
            if root.text_of("IsTruncated") != Some("true") {
                return Ok(found);
            }
            // A list that has more and does not say where must not pass for a whole one.
            let next = root.text_of("NextContinuationToken").filter(|it| !it.is_empty());
            let next = next.ok_or(Error::Malformed { action: LIST })?.to_owned();
            if token.as_ref() == Some(&next) {
                return Err(Error::EndlessList);
            }
            token = Some(next);
        }
        Err(Error::EndlessList)
    }

    /// The object that a list names; the inner `None` if it is outside of the store's prefix.
    fn object(&self, element: &Element) -> Option<Option<Object>> {
        let bytes = element.text_of("Size")?.parse().ok()?;
        let name = element.text_of("Key")?.strip_prefix(self.prefix());
        Some(name.map(|name| Object { name: name.to_owned(), bytes }))
    }

    /// Unfinished uploads of objects whose names begin with this: the first 1,000.
    pub async fn list_unfinished(&self, beginning: &str) -> Result<Vec<UnfinishedUpload>> {
        let prefix = self.key(beginning);
        let root = self.document(LIST_UPLOADS, &[("uploads", ""), ("prefix", &prefix)]).await?;
        let uploads = root.children("Upload").filter_map(|it| {
            let name = it.text_of("Key")?.strip_prefix(self.prefix())?;
            let upload =
                UnfinishedUpload { name: name.to_owned(), id: it.text_of("UploadId")?.to_owned() };
            name.starts_with(beginning).then_some(upload)
        });
        Ok(uploads.collect())
    }

    async fn document(&self, action: &'static str, query: &[(&str, &str)]) -> Result<Element> {
        let response = self.send(Request { action, query, ..Request::default() }).await?;
        xml::parse(&response.body).ok_or(Error::Malformed { action })
    }
}
