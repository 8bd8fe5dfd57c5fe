//! Fuzzes the reader of Evenkeel's exports.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::evenkeel(bytes));
