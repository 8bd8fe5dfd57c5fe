//! Compares the functions with plain loops, for every length around their limits, and checks the bytes around the areas.

use proptest::prelude::*;

use crate::x86_64::{compare, copy, copy_overlapping, differs, fill};

/// Alignments of an area that matter for registers of 16 bytes.
const OFFSETS: [usize; 6] = [0, 1, 7, 8, 9, 15];
const SHORT_MAX: usize = 300;
/// Longer areas: around whole turns of the loops, and around pages.
const LONG: [usize; 10] = [383, 384, 511, 513, 1_023, 1_025, 4_095, 4_096, 4_097, 20_000];

fn lengths() -> impl Iterator<Item = usize> {
    (0..=SHORT_MAX).chain(LONG)
}

/// Bytes of which no two neighbors of the same distance are equal for long.
fn sample(length: usize) -> Vec<u8> {
    let bytes = (0..length as u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8);
    bytes.collect()
}

/// Moves bytes inside a buffer one by one, in the direction that overlapping areas need.
fn move_by_bytes(buffer: &mut [u8], from: usize, to: usize, length: usize) {
    if to < from {
        (0..length).for_each(|it| buffer[to + it] = buffer[from + it]);
    } else {
        (0..length).rev().for_each(|it| buffer[to + it] = buffer[from + it]);
    }
}

/// Moves bytes with both functions and by a loop, and compares the whole buffers.
fn assert_moves(buffer: &[u8], from: usize, to: usize, length: usize) {
    let mut expected = buffer.to_vec();
    move_by_bytes(&mut expected, from, to, length);
    assert!(from.max(to) + length <= buffer.len());
    for function in [copy, copy_overlapping] {
        let mut moved = buffer.to_vec();
        let start = moved.as_mut_ptr();
        // SAFETY: both areas end inside the buffer, as asserted above.
        let returned = unsafe { function(start.add(to), start.add(from), length) };
        assert_eq!(returned, start.wrapping_add(to));
        assert!(moved == expected, "{length} bytes from {from} to {to}");
    }
}

#[test]
fn copies_between_separate_areas() {
    for length in lengths() {
        let buffer = sample(2 * length + 64);
        for from in OFFSETS {
            for to in OFFSETS {
                assert_moves(&buffer, from, length + 32 + to, length);
            }
        }
    }
}

#[test]
fn moves_between_overlapping_areas_in_both_directions() {
    for length in lengths() {
        let buffer = sample(length + 1_072);
        for distance in [0, 1, 2, 7, 8, 15, 16, 17, 33, 63, 64, 65, 127, 129, 255, 1_024] {
            for offset in [0, 1, 15] {
                assert_moves(&buffer, 16 + offset, 16 + offset + distance, length);
                assert_moves(&buffer, 16 + offset + distance, 16 + offset, length);
            }
        }
    }
}

#[test]
fn fills_only_the_area() {
    for length in lengths() {
        for offset in OFFSETS {
            // Only the lowest byte counts.
            for byte in [0, 1, 0x7f, 0x80, 0xff, 0x1234] {
                let mut filled = sample(length + 48);
                let mut expected = filled.clone();
                expected[16 + offset..][..length].iter_mut().for_each(|it| *it = byte as u8);
                let start = filled[16 + offset..].as_mut_ptr();
                // SAFETY: the area ends inside the buffer, by the slice of `expected`.
                let returned = unsafe { fill(start, byte, length) };
                assert_eq!(returned, start);
                assert!(filled == expected, "{length} bytes at {offset}");
            }
        }
    }
}

/// Compares two slices of the same length with both functions and in order.
fn assert_compares(a: &[u8], b: &[u8]) {
    assert_eq!(a.len(), b.len());
    let by_bytes = a.iter().zip(b).find(|(a, b)| a != b);
    let expected = by_bytes.map_or(0, |(a, b)| (i32::from(*a) - i32::from(*b)).signum());
    // SAFETY: both slices have this length.
    let (ordered, different) = unsafe {
        (compare(a.as_ptr(), b.as_ptr(), a.len()), differs(a.as_ptr(), b.as_ptr(), a.len()))
    };
    assert_eq!(ordered.signum(), expected, "{} bytes", a.len());
    assert_eq!(different != 0, expected != 0, "{} bytes", a.len());
}

#[test]
fn compares_by_the_first_difference() {
    for length in lengths() {
        let bytes = sample(length + 64);
        for (a_offset, b_offset) in [(0, 0), (1, 0), (0, 15), (7, 9)] {
            let a = &bytes[a_offset..][..length];
            let mut other = vec![0; b_offset + length + 16];
            other[b_offset..][..length].copy_from_slice(a);
            // Bytes behind the area differ, and must not count.
            assert_compares(a, &other[b_offset..][..length]);
            let step = if length > SHORT_MAX { 211 } else { 1 + length / 40 };
            for at in (0..length).step_by(step) {
                for change in [1, 0x80, 0xff] {
                    let kept = other[b_offset + at];
                    other[b_offset + at] ^= change;
                    // A later difference in the other direction must not count either.
                    let last = b_offset + length - 1;
                    let kept_last = other[last];
                    if b_offset + at < last {
                        other[last] = !kept_last;
                    }
                    assert_compares(a, &other[b_offset..][..length]);
                    other[last] = kept_last;
                    other[b_offset + at] = kept;
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_move_inside_a_buffer_is_right(
        bytes in prop::collection::vec(any::<u8>(), 0..6_000),
        places in (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let (from, to) = (places.0.index(bytes.len() + 1), places.1.index(bytes.len() + 1));
        let length = places.2.index(bytes.len() - from.max(to) + 1);
        assert_moves(&bytes, from, to, length);
    }

    #[test]
    fn any_two_texts_compare_as_slices_do(
        a in prop::collection::vec(0..3_u8, 0..70),
        b in prop::collection::vec(0..3_u8, 0..70),
    ) {
        let length = a.len().min(b.len());
        assert_compares(&a[..length], &b[..length]);
    }
}

/// In the static program, the names that compilers and libraries call are these functions.
#[test]
#[cfg(target_env = "musl")]
fn the_functions_of_the_c_library_are_replaced() {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn memcpy(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void;
        fn memmove(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void;
        fn memset(to: *mut c_void, byte: c_int, length: usize) -> *mut c_void;
        fn memcmp(a: *const c_void, b: *const c_void, length: usize) -> c_int;
        fn bcmp(a: *const c_void, b: *const c_void, length: usize) -> c_int;
    }
    type Code = *const ();
    let called = [memcpy as Code, memmove as Code, memset as Code, memcmp as Code, bcmp as Code];
    let ours =
        [copy as Code, copy_overlapping as Code, fill as Code, compare as Code, differs as Code];
    assert_eq!(called, ours);
}
