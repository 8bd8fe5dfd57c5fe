//! Fuzzes the check of signed tokens.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::jws(bytes));
