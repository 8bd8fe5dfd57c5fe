//! The person's profile.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::Moment;

/// The person who owns the token. Contains no sensitive data.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Profile {
    #[schema(example = "usr_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "robin@example.com")]
    pub email: String,
    /// When the first account was linked; null if none is.
    pub connected_at: Option<Moment>,
    #[schema(example = "Robin")]
    pub preferred_name: Option<String>,
    /// The URL of a profile picture.
    pub image: Option<String>,
    /// The IANA name of the person's time zone, which decides their dates: today, months and due dates.
    #[schema(example = "America/New_York")]
    pub timezone: &'static str,
    pub created_at: Moment,
}
