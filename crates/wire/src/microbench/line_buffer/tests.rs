//! Buffers of lines have the state that was asked for.

use super::*;
use crate::LINE_BYTES;

#[test]
fn lines_keep_what_was_written_through_flushes() {
    let buffer = LineBuffer::new(10 * LINE_BYTES).unwrap();
    assert_eq!(buffer.bytes(), HUGE_BYTES);
    for line in 0..10 {
        buffer.store(line * LINE_BYTES, line as u64 + 7);
    }
    for line in 0..10 {
        buffer.flush(line * LINE_BYTES);
    }
    super::super::finish_flushes();
    let mut words = [0; 80];
    buffer.copy_out(0, &mut words);
    for (at, &word) in words.iter().enumerate() {
        let expected = if at % 8 == 0 { at as u64 / 8 + 7 } else { 0 };
        assert_eq!(word, expected);
    }
    let _ = buffer.monitored(0);
    println!("{:?}", buffer.huge_pages());
}

#[test]
#[should_panic(expected = "no word at 2097152")]
fn a_line_outside_is_refused() {
    LineBuffer::new(1).unwrap().load(HUGE_BYTES);
}

#[test]
fn no_buffer_of_all_addresses() {
    LineBuffer::new(usize::MAX - 5).unwrap_err();
}

#[test]
fn huge_pages_are_those_of_the_mapping() {
    let maps = "55d0-55f0 r--p 0 08:01 1 /bin/x\nSize: 4 kB\nAnonHugePages:       0 kB\n\
                7f00-7fff rw-p 0 00:00 0 \nSize: 8 kB\nAnonHugePages:    6144 kB\nVmFlags: rd wr\n";
    assert_eq!(huge_bytes_at(maps, 0x55d1), Some(0));
    assert_eq!(huge_bytes_at(maps, 0x7f00), Some(6144 << 10));
    assert_eq!(huge_bytes_at(maps, 0x9000), None);
    assert_eq!(huge_bytes_at("7f00-7fff rw-p\nSize: 8 kB", 0x7f01), None);
}
