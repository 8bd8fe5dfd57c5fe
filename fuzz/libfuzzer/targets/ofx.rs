//! Fuzzes the OFX reader.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::ofx(bytes));
