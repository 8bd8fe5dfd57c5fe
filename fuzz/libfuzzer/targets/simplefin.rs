//! Fuzzes the reader of SimpleFIN answers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::simplefin(bytes));
