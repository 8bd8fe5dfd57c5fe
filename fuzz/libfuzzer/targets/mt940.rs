//! Fuzzes the MT940 reader.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::mt940(bytes));
