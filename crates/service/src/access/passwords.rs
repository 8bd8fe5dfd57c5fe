//! Password hashes (Argon2id).

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Argon2, PasswordHash};

use crate::{App, Error, Result};

pub const LENGTH_MIN: usize = 10;
const LENGTH_MAX: usize = 256;

/// Limits how many hashes are computed at a time. A hash takes much time and memory on purpose, so a flood of sign-ins
/// must wait instead of using up the machine's memory.
pub struct HashingLimit(tokio::sync::Semaphore);

impl Default for HashingLimit {
    fn default() -> HashingLimit {
        HashingLimit(tokio::sync::Semaphore::new(4))
    }
}

impl HashingLimit {
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let failed = |error: &dyn std::error::Error| Error::internal(error.to_string());
        let _permit = self.0.acquire().await.map_err(|error| failed(&error))?;
        tokio::task::spawn_blocking(work).await.map_err(|error| failed(&error))?
    }
}

/// Checks the length of a new password and hashes it with a fresh salt.
pub(crate) async fn hash(app: &App, password: &str) -> Result<String> {
    let length = password.chars().count();
    if !(LENGTH_MIN..=LENGTH_MAX).contains(&length) {
        return Err(Error::invalid(
            "password",
            format!("password must have {LENGTH_MIN} to {LENGTH_MAX} characters"),
        ));
    }
    let salt: [u8; 16] = app.entropy.bytes();
    let password = password.to_owned();
    let hash = move || {
        let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
        hash.map(|it| it.to_string()).map_err(|error| Error::internal(error.to_string()))
    };
    app.hashing.run(hash).await
}

/// Whether the password matches the hash. Without a hash the same work is done and the answer is no.
pub(crate) async fn verify(app: &App, hash: Option<String>, password: &str) -> Result<bool> {
    let (is_known, password) = (hash.is_some(), password.to_owned());
    let hash = hash.unwrap_or_else(|| DUMMY_HASH.to_owned());
    let verify = move || {
        let hash = PasswordHash::new(&hash).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    };
    Ok(app.hashing.run(verify).await? && is_known)
}

/// A hash that no password has, with the same cost as real ones.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZXZlbmtlZWwtbm9ib2R5$\
    3q2+796tvu/erb7v3q2+796tvu/erb7v3q2+796tvu8";
