//! Fuzzes the detection of formats.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::any(bytes));
