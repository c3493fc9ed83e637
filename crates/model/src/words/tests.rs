use super::*;

#[test]
fn sizes_are_readable() {
    assert_eq!(bytes(48 << 10), "48 KiB");
    assert_eq!(bytes(1536 << 10), "1.5 MiB");
    assert_eq!(bytes(0), "0 B");
}

#[test]
fn times_are_short() {
    assert_eq!(time(140.6), format!("{} ns", digits(140.6)));
    assert!(
        time(2_500.0).ends_with("µs") && time(3e7).ends_with("ms") && time(2e9).ends_with(" s")
    );
}

#[test]
fn ranges_are_as_taskset_takes_them() {
    assert_eq!(ranges(vec![5, 1, 2, 3, 8, 9]), "1-3,5,8,9");
    assert_eq!(ranges(vec![]), "");
}
