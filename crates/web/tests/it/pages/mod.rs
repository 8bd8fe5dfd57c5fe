//! The pages over the real router: what a person sees, sends, and is refused.

mod plans;
