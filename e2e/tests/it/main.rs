//! The pages as a person meets them: in a browser, with the program as it is shipped.

mod audits;
mod looks;
mod sign_in;
