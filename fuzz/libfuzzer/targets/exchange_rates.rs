//! Fuzzes the reader of exchange rates.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::exchange_rates(bytes));
