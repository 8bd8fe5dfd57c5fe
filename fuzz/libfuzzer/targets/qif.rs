//! Fuzzes the QIF reader.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::qif(bytes));
