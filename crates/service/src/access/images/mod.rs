//! Profile images: small pictures, validated before they are stored, and served at addresses that cannot be guessed.

mod picture;

use db::params;

use crate::access::tokens;
use crate::platform::audit::{self, Note};
use crate::platform::person_lock;
use crate::{App, Caller, Error, Result};

pub use picture::MediaType;

pub const BYTES_MAX: usize = 256 * 1_024;
pub const SIDE_MAX: u32 = 1_024;
const PREFIX: &str = "img_";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub media_type: MediaType,
    pub content: Vec<u8>,
}

/// Stores a picture as the person's image and returns its path. The path is new for every picture, because caches may
/// keep the old one.
pub async fn set(app: &App, caller: &Caller, content: Vec<u8>) -> Result<String> {
    caller.require_owner("image")?;
    let media_type = check(&content)?;
    let address = tokens::make(PREFIX, &app.entropy);
    let path = format!("/images/{address}");
    let (caller, now, shown_at) = (caller.clone(), app.clock.now(), path.clone());
    app.db
        .write(move |tx| {
            let user = caller.user;
            person_lock::lock(tx, user)?;
            tx.execute(SAVE, params![user, &address, media_type.as_str(), &content])?;
            tx.execute(SHOW, params![user, shown_at.as_str(), now])?;
            audit::note(tx, user, now, Note::new(&caller, "image.update", "Changed the picture"))
        })
        .await?;
    Ok(path)
}

pub async fn remove(app: &App, caller: &Caller) -> Result<()> {
    caller.require_owner("image")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            person_lock::lock(tx, caller.user)?;
            if tx.execute(DELETE, params![caller.user])? == 0 {
                return Err(Error::NotFound("image"));
            }
            tx.execute(SHOW, params![caller.user, None::<&str>, now])?;
            let note = Note::new(&caller, "image.delete", "Removed the picture");
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// Finds the picture at an address. The address is all that is needed to see it, because programs that read the profile
/// fetch it without a key.
pub async fn find(app: &App, address: &str) -> Result<Option<Image>> {
    if !tokens::is_well_formed(PREFIX, address) {
        return Ok(None);
    }
    Ok(app.db.first(BY_ADDRESS, params![address], read).await?)
}

/// Finds the caller's own picture.
pub(crate) async fn find_own(app: &App, caller: &Caller) -> Result<Option<Image>> {
    Ok(app.db.first(FIND_OWN, params![caller.user], read).await?)
}

fn check(content: &[u8]) -> Result<MediaType> {
    let wrong = |message: String| Err(Error::invalid("image", message));
    if content.len() > BYTES_MAX {
        return wrong(format!("the picture must be at most {} KB large", BYTES_MAX / 1_024));
    }
    let Some((media_type, width, height)) = picture::detect(content) else {
        return wrong("the picture must be a PNG, JPEG or WebP file".to_owned());
    };
    let fits = |side| (1..=SIDE_MAX).contains(&side);
    if !fits(width) || !fits(height) {
        return wrong(format!(
            "the picture must be at most {SIDE_MAX} pixels wide and high; this one is {width} by {height}"
        ));
    }
    Ok(media_type)
}

fn read(row: &db::Row<'_>) -> db::Result<Image> {
    Ok(Image { media_type: row.get(0)?, content: row.get(1)? })
}

const SAVE: &str = "insert into user_images (user_id, address, media_type, content)
    values ($1, $2, $3, $4) on conflict (user_id) do update set address = excluded.address,
    media_type = excluded.media_type, content = excluded.content";
const SHOW: &str = "update users set image = $2, updated_at = $3 where id = $1";
const DELETE: &str = "delete from user_images where user_id = $1";
const BY_ADDRESS: &str = "select media_type, content from user_images where address = $1";
const FIND_OWN: &str = "select media_type, content from user_images where user_id = $1";

pub(crate) const STATEMENTS: &[&str] = &[SAVE, SHOW, DELETE, BY_ADDRESS, FIND_OWN];
