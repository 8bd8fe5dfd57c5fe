//! The pages of those who are not signed in.

pub(super) mod sign_in;
