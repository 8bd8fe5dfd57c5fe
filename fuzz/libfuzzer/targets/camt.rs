//! Fuzzes the CAMT.053 reader.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::camt(bytes));
