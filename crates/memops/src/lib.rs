//! Unsafe code, because it is assembly: `memcpy`, `memmove`, `memset`, `memcmp` and `bcmp` of the static program on x86-64.
//!
//! musl copies and fills memory with string instructions, which take long to start, and compares byte by byte. These functions use the
//! 16-byte registers that every x86-64 processor has. They replace musl's because the linker searches a library only for
//! symbols that no object defines. On other systems and processors nothing is replaced: their own functions are good.
//!
//! A program uses them by `use memops as _;`. Decision record: `docs/decisions/0034-memory-functions.md`.

#[cfg(target_arch = "x86_64")]
pub mod x86_64;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
