//! A tiny program that is packed in place of Evenkeel.

/// What the program prints.
pub(super) const OUTPUT: &[u8] = b"ready\n";

/// A static program for x86-64 Linux of 159 bytes, which prints "ready" and ends.
pub(super) fn program() -> Vec<u8> {
    let mut code: Vec<u8> = Vec::new();
    code.extend([0xb8, 1, 0, 0, 0, 0xbf, 1, 0, 0, 0]); // write(1,
    code.extend([0x48, 0x8d, 0x35, 16, 0, 0, 0, 0xba, 6, 0, 0, 0, 0x0f, 0x05]); // the text below, 6)
    code.extend([0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05]); // exit(0)
    code.extend(OUTPUT);
    let size = (120 + code.len() as u64).to_le_bytes();
    let mut program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    program.extend(0x40_0078_u64.to_le_bytes()); // the first instruction
    program.extend(64_u64.to_le_bytes()); // the segments' place
    program.extend([0; 12]);
    program.extend([64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    program.extend([1, 0, 0, 0, 5, 0, 0, 0]); // one segment to load and execute
    program.extend([0; 8]);
    program.extend(0x40_0000_u64.to_le_bytes());
    program.extend(0x40_0000_u64.to_le_bytes());
    program.extend(size);
    program.extend(size);
    program.extend(0x1000_u64.to_le_bytes());
    program.extend(code);
    program
}
