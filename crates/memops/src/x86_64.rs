//! The functions for x86-64 Linux, in assembly so that the compiler cannot turn a loop into a call of the function itself.
//!
//! Up to 128 bytes, everything is read before anything is written, as pieces from both ends that overlap in the middle. So no
//! length needs a loop over single bytes, and overlapping areas need no care. Every function reads and writes only inside the
//! areas that it was given. Arguments are in rdi, rsi and rdx, results in rax; no register is used that a caller keeps.

use core::arch::naked_asm;
use core::ffi::c_int;

/// The body of `memcpy` and `memmove`: rdx bytes from rsi to rdi.
macro_rules! copy {
    () => {
        naked_asm!(
            "mov rax, rdi",
            "cmp rdx, 16",
            "jb 20f",
            "cmp rdx, 32",
            "ja 30f",
            // 16 to 32 bytes.
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + rdx - 16]",
            "movups [rdi], xmm0",
            "movups [rdi + rdx - 16], xmm1",
            "ret",
            // Less than 16 bytes.
            "20:",
            "cmp edx, 8",
            "jb 21f",
            "mov rcx, [rsi]",
            "mov r8, [rsi + rdx - 8]",
            "mov [rdi], rcx",
            "mov [rdi + rdx - 8], r8",
            "ret",
            "21:",
            "cmp edx, 4",
            "jb 22f",
            "mov ecx, [rsi]",
            "mov r8d, [rsi + rdx - 4]",
            "mov [rdi], ecx",
            "mov [rdi + rdx - 4], r8d",
            "ret",
            "22:",
            "cmp edx, 2",
            "jb 23f",
            "movzx ecx, word ptr [rsi]",
            "movzx r8d, word ptr [rsi + rdx - 2]",
            "mov [rdi], cx",
            "mov [rdi + rdx - 2], r8w",
            "ret",
            "23:",
            "test edx, edx",
            "jz 24f",
            "movzx ecx, byte ptr [rsi]",
            "mov [rdi], cl",
            "24:",
            "ret",
            // 33 to 64 bytes.
            "30:",
            "cmp rdx, 64",
            "ja 31f",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + 16]",
            "movups xmm2, [rsi + rdx - 32]",
            "movups xmm3, [rsi + rdx - 16]",
            "movups [rdi], xmm0",
            "movups [rdi + 16], xmm1",
            "movups [rdi + rdx - 32], xmm2",
            "movups [rdi + rdx - 16], xmm3",
            "ret",
            // 65 bytes and more: the last 64 are read now and written at the end.
            "31:",
            "movups xmm4, [rsi + rdx - 64]",
            "movups xmm5, [rsi + rdx - 48]",
            "movups xmm6, [rsi + rdx - 32]",
            "movups xmm7, [rsi + rdx - 16]",
            "cmp rdx, 128",
            "ja 40f",
            "movups xmm0, [rsi]",
            "movups xmm1, [rsi + 16]",
            "movups xmm2, [rsi + 32]",
            "movups xmm3, [rsi + 48]",
            "movups [rdi], xmm0",
            "movups [rdi + 16], xmm1",
            "movups [rdi + 32], xmm2",
            "movups [rdi + 48], xmm3",
            "32:",
            "movups [rdi + rdx - 64], xmm4",
            "movups [rdi + rdx - 48], xmm5",
            "movups [rdi + rdx - 32], xmm6",
            "movups [rdi + rdx - 16], xmm7",
            "ret",
            // More than 128 bytes. Backward if the target begins inside the source.
            "40:",
            "mov rcx, rdi",
            "sub rcx, rsi",
            "cmp rcx, rdx",
            "jb 50f",
            // Forward: the first 16 bytes are written at the end, the loop begins at the next multiple of 16 of the target.
            "movups xmm8, [rsi]",
            "lea r8, [rdi + rdx - 64]",
            "mov rcx, rdi",
            "and rcx, -16",
            "add rcx, 16",
            "sub rsi, rdi",
            ".p2align 4",
            "41:",
            "movups xmm0, [rsi + rcx]",
            "movups xmm1, [rsi + rcx + 16]",
            "movups xmm2, [rsi + rcx + 32]",
            "movups xmm3, [rsi + rcx + 48]",
            "movaps [rcx], xmm0",
            "movaps [rcx + 16], xmm1",
            "movaps [rcx + 32], xmm2",
            "movaps [rcx + 48], xmm3",
            "add rcx, 64",
            "cmp rcx, r8",
            "jb 41b",
            "movups [rdi], xmm8",
            "jmp 32b",
            // Backward: the first 64 bytes are written at the end, the loop begins at the last multiple of 16 of the target.
            "50:",
            "movups xmm8, [rsi]",
            "movups xmm9, [rsi + 16]",
            "movups xmm10, [rsi + 32]",
            "movups xmm11, [rsi + 48]",
            "lea r8, [rdi + 64]",
            "lea rcx, [rdi + rdx]",
            "and rcx, -16",
            "sub rsi, rdi",
            ".p2align 4",
            "51:",
            "movups xmm0, [rsi + rcx - 16]",
            "movups xmm1, [rsi + rcx - 32]",
            "movups xmm2, [rsi + rcx - 48]",
            "movups xmm3, [rsi + rcx - 64]",
            "movaps [rcx - 16], xmm0",
            "movaps [rcx - 32], xmm1",
            "movaps [rcx - 48], xmm2",
            "movaps [rcx - 64], xmm3",
            "sub rcx, 64",
            "cmp rcx, r8",
            "ja 51b",
            "movups [rdi], xmm8",
            "movups [rdi + 16], xmm9",
            "movups [rdi + 32], xmm10",
            "movups [rdi + 48], xmm11",
            "jmp 32b",
        )
    };
}

/// The body of `memcmp` and `bcmp`: rdx bytes at rdi and at rsi, as unsigned numbers.
macro_rules! compare {
    () => {
        naked_asm!(
            "cmp rdx, 16",
            "jb 20f",
            // 16 bytes at a time, and at last the 16 bytes at the end. rcx counts from the start.
            "lea r8, [rdx - 16]",
            "xor ecx, ecx",
            ".p2align 4",
            "2:",
            "movdqu xmm0, [rdi + rcx]",
            "movdqu xmm1, [rsi + rcx]",
            "pcmpeqb xmm0, xmm1",
            "pmovmskb eax, xmm0",
            "xor eax, 0xffff",
            "jnz 3f",
            "cmp rcx, r8",
            "jae 4f",
            "add rcx, 16",
            "cmp rcx, r8",
            "cmova rcx, r8",
            "jmp 2b",
            // The first bit that is set tells the first byte that differs.
            "3:",
            "bsf eax, eax",
            "add rcx, rax",
            "movzx eax, byte ptr [rdi + rcx]",
            "movzx edx, byte ptr [rsi + rcx]",
            "sub eax, edx",
            "4:",
            "ret",
            // Less than 16 bytes: two numbers whose first byte is made the highest.
            "20:",
            "cmp edx, 8",
            "jb 21f",
            "mov rax, [rdi]",
            "mov rcx, [rsi]",
            "cmp rax, rcx",
            "jne 22f",
            "mov rax, [rdi + rdx - 8]",
            "mov rcx, [rsi + rdx - 8]",
            "cmp rax, rcx",
            "jne 22f",
            "xor eax, eax",
            "ret",
            "22:",
            "bswap rax",
            "bswap rcx",
            "cmp rax, rcx",
            "sbb eax, eax",
            "or eax, 1",
            "ret",
            "21:",
            "cmp edx, 4",
            "jb 23f",
            "mov eax, [rdi]",
            "mov ecx, [rsi]",
            "cmp eax, ecx",
            "jne 24f",
            "mov eax, [rdi + rdx - 4]",
            "mov ecx, [rsi + rdx - 4]",
            "cmp eax, ecx",
            "jne 24f",
            "xor eax, eax",
            "ret",
            "24:",
            "bswap eax",
            "bswap ecx",
            "cmp eax, ecx",
            "sbb eax, eax",
            "or eax, 1",
            "ret",
            // Less than 4 bytes: the first, the middle and the last, which may be the same.
            "23:",
            "xor eax, eax",
            "test edx, edx",
            "jz 25f",
            "movzx eax, byte ptr [rdi]",
            "movzx ecx, byte ptr [rsi]",
            "sub eax, ecx",
            "jnz 25f",
            "mov r8d, edx",
            "shr r8d",
            "movzx eax, byte ptr [rdi + r8]",
            "movzx ecx, byte ptr [rsi + r8]",
            "sub eax, ecx",
            "jnz 25f",
            "movzx eax, byte ptr [rdi + rdx - 1]",
            "movzx ecx, byte ptr [rsi + rdx - 1]",
            "sub eax, ecx",
            "25:",
            "ret",
        )
    };
}

/// `memcpy`, which is also right if the areas overlap.
///
/// # Safety
///
/// `length` bytes must be readable at `from` and writable at `to`.
#[cfg_attr(target_env = "musl", unsafe(export_name = "memcpy"))]
#[unsafe(naked)]
pub unsafe extern "C" fn copy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    copy!()
}

/// `memmove`.
///
/// # Safety
///
/// `length` bytes must be readable at `from` and writable at `to`.
#[cfg_attr(target_env = "musl", unsafe(export_name = "memmove"))]
#[unsafe(naked)]
pub unsafe extern "C" fn copy_overlapping(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    copy!()
}

/// `memcmp`: negative if the first difference is a smaller byte in `a`, positive if it is a larger one, 0 without a difference.
///
/// # Safety
///
/// `length` bytes must be readable at `a` and at `b`.
#[cfg_attr(target_env = "musl", unsafe(export_name = "memcmp"))]
#[unsafe(naked)]
pub unsafe extern "C" fn compare(a: *const u8, b: *const u8, length: usize) -> c_int {
    compare!()
}

/// `bcmp`: 0 if all bytes are equal.
///
/// # Safety
///
/// `length` bytes must be readable at `a` and at `b`.
#[cfg_attr(target_env = "musl", unsafe(export_name = "bcmp"))]
#[unsafe(naked)]
pub unsafe extern "C" fn differs(a: *const u8, b: *const u8, length: usize) -> c_int {
    compare!()
}

/// `memset`: writes the lowest byte of `byte` over `length` bytes.
///
/// # Safety
///
/// `length` bytes must be writable at `to`.
#[cfg_attr(target_env = "musl", unsafe(export_name = "memset"))]
#[unsafe(naked)]
pub unsafe extern "C" fn fill(to: *mut u8, byte: c_int, length: usize) -> *mut u8 {
    naked_asm!(
        "mov rax, rdi",
        // The byte eight times in rsi.
        "movzx esi, sil",
        "mov rcx, 0x0101010101010101",
        "imul rsi, rcx",
        "cmp rdx, 16",
        "jb 20f",
        "movq xmm0, rsi",
        "punpcklqdq xmm0, xmm0",
        "movups [rdi], xmm0",
        "movups [rdi + rdx - 16], xmm0",
        "cmp rdx, 32",
        "jbe 2f",
        "movups [rdi + 16], xmm0",
        "movups [rdi + rdx - 32], xmm0",
        "cmp rdx, 64",
        "jbe 2f",
        "movups [rdi + rdx - 48], xmm0",
        "movups [rdi + rdx - 64], xmm0",
        // More than 64 bytes: the first and the last are written, the loop writes between them.
        "lea r8, [rdi + rdx - 64]",
        "and rdi, -16",
        "add rdi, 16",
        "cmp rdi, r8",
        "jae 2f",
        ".p2align 4",
        "3:",
        "movaps [rdi], xmm0",
        "movaps [rdi + 16], xmm0",
        "movaps [rdi + 32], xmm0",
        "movaps [rdi + 48], xmm0",
        "add rdi, 64",
        "cmp rdi, r8",
        "jb 3b",
        "2:",
        "ret",
        "20:",
        "cmp edx, 8",
        "jb 21f",
        "mov [rdi], rsi",
        "mov [rdi + rdx - 8], rsi",
        "ret",
        "21:",
        "cmp edx, 4",
        "jb 22f",
        "mov [rdi], esi",
        "mov [rdi + rdx - 4], esi",
        "ret",
        "22:",
        "cmp edx, 2",
        "jb 23f",
        "mov [rdi], si",
        "mov [rdi + rdx - 2], si",
        "ret",
        "23:",
        "test edx, edx",
        "jz 24f",
        "mov [rdi], sil",
        "24:",
        "ret",
    )
}
