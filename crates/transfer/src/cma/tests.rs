//! The kernel copies between this process and others, and says whom it refuses.

use super::*;
use std::process::Command;

fn this(word: &u64) -> Option<Process> {
    let word = (core::ptr::from_ref(word).addr() as u64, *word);
    // Some sandboxes refuse this.
    Process::open(std::process::id(), word).ok()
}

#[test]
fn what_lies_there_is_read_or_refused() {
    let data: Vec<u8> = (0..100_000).map(|i| i as u8).collect();
    let Some(process) = this(&7) else {
        return;
    };
    let mut into = vec![0; 100_000];
    let address = data.as_ptr().addr() as u64;
    assert_eq!(process.read(address, &mut into), Ok(()));
    assert!(into == data);
    for nowhere in [0, 64, u64::MAX, u64::MAX - 99_999, 1 << 63] {
        assert_eq!(process.read(nowhere, &mut into), Err(Unfetched::Refused));
    }
    assert_eq!(process.read(0, &mut []), Ok(()));
}

#[test]
fn nothing_is_read_of_a_process_that_has_ended() {
    let Some(mut process) = this(&7) else {
        return;
    };
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = Pid::from_child(&child);
    process.end = pidfd_open(pid, PidfdFlags::empty()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // As if this process had got the number of the one that has ended.
    let (data, mut into) = ([5; 8], [1; 8]);
    let address = data.as_ptr().addr() as u64;
    assert_eq!(process.read(address, &mut into), Err(Unfetched::Revoked));
    assert_eq!(into, [0; 8]);
    assert!(Process::open(pid.as_raw_pid().unsigned_abs(), (address, 5)).is_err());
    assert!(Process::open(u32::MAX, (address, 5)).is_err());
    assert!(Process::open(0, (address, 5)).is_err());
}
