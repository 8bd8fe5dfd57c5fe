//! Password hashes (Argon2id).

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, PasswordHash, Version};

use crate::{App, Error, Result};

pub const LENGTH_MIN: usize = 10;
const LENGTH_MAX: usize = 256;

/// How much memory and time a hash takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashCost {
    memory_kib: u32,
    passes: u32,
}

impl HashCost {
    /// The cost that makes guessing passwords expensive.
    pub const SAFE: HashCost =
        HashCost { memory_kib: Params::DEFAULT_M_COST, passes: Params::DEFAULT_T_COST };
    /// The lowest cost there is, for tests: they hash thousands of passwords that are no secrets.
    pub const LOWEST: HashCost =
        HashCost { memory_kib: Params::MIN_M_COST, passes: Params::MIN_T_COST };

    fn hasher(self) -> Result<Argon2<'static>> {
        let params = Params::new(self.memory_kib, self.passes, Params::DEFAULT_P_COST, None)
            .map_err(|error| Error::internal(error.to_string()))?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// A hash that no password has, with the same cost as real ones.
    fn hash_of_nobody(self) -> String {
        let HashCost { memory_kib, passes } = self;
        format!(
            "$argon2id$v=19$m={memory_kib},t={passes},p=1$ZXZlbmtlZWwtbm9ib2R5$\
             3q2+796tvu/erb7v3q2+796tvu/erb7v3q2+796tvu8"
        )
    }
}

/// Computes hashes, a few at a time. A hash takes much time and memory on purpose, so a flood of sign-ins must wait
/// instead of using up the machine's memory.
pub(crate) struct Hashing {
    cost: HashCost,
    permits: tokio::sync::Semaphore,
}

impl Hashing {
    pub(crate) fn new(cost: HashCost) -> Hashing {
        Hashing { cost, permits: tokio::sync::Semaphore::new(4) }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let failed = |error: &dyn std::error::Error| Error::internal(error.to_string());
        let _permit = self.permits.acquire().await.map_err(|error| failed(&error))?;
        tokio::task::spawn_blocking(work).await.map_err(|error| failed(&error))?
    }
}

/// Checks the length of a new password.
pub fn check(password: &str) -> Result<()> {
    if (LENGTH_MIN..=LENGTH_MAX).contains(&password.chars().count()) {
        return Ok(());
    }
    let message = format!("password must have {LENGTH_MIN} to {LENGTH_MAX} characters");
    Err(Error::invalid("password", message))
}

/// Checks the length of a new password and hashes it with a fresh salt.
pub(crate) async fn hash(app: &App, password: &str) -> Result<String> {
    check(password)?;
    let salt: [u8; 16] = app.entropy.bytes();
    let password = password.to_owned();
    let cost = app.hashing.cost;
    let hash = move || {
        let hash = cost.hasher()?.hash_password_with_salt(password.as_bytes(), &salt);
        hash.map(|it| it.to_string()).map_err(|error| Error::internal(error.to_string()))
    };
    app.hashing.run(hash).await
}

/// Whether the password matches the hash. Without a hash the same work is done and the answer is no.
pub(crate) async fn verify(app: &App, hash: Option<String>, password: &str) -> Result<bool> {
    let (is_known, password) = (hash.is_some(), password.to_owned());
    let hash = hash.unwrap_or_else(|| app.hashing.cost.hash_of_nobody());
    let verify = move || {
        let hash = PasswordHash::new(&hash).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    };
    Ok(app.hashing.run(verify).await? && is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_names_its_cost_and_matches_its_password_only() {
        for (cost, named) in
            [(HashCost::SAFE, "m=19456,t=2,p=1"), (HashCost::LOWEST, "m=8,t=1,p=1")]
        {
            let hasher = cost.hasher().unwrap();
            let hash =
                hasher.hash_password_with_salt(b"correct horse", b"salt of 16 bytes").unwrap();
            assert!(hash.to_string().contains(named), "{hash}");
            let nobody = cost.hash_of_nobody();
            assert!(nobody.contains(named), "{nobody}");
            let verify = |hash: &str, password: &[u8]| {
                let hash = PasswordHash::new(hash).unwrap();
                Argon2::default().verify_password(password, &hash).is_ok()
            };
            assert!(verify(&hash.to_string(), b"correct horse"));
            assert!(!verify(&hash.to_string(), b"wrong horse"));
            assert!(!verify(&nobody, b"correct horse"));
        }
    }
}
