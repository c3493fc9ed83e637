//! The peer monitor where the kernel gives no descriptors of processes. Tests of its interface are in
//! `tests/it/peer_monitor.rs`.

use super::*;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

const SOON: Duration = Duration::from_secs(30);

fn child() -> Child {
    let mut command = Command::new("sleep");
    command.arg("600").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn refused(_: Pid, _: PidfdFlags) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

fn watch_by_looking(pid: u32, born: Option<u64>) -> (Watch, Receiver<u32>) {
    let (tell, told) = channel();
    let on_death = Box::new(move || tell.send(pid).unwrap());
    (watch_by(pid, born, on_death, refused).unwrap(), told)
}

#[test]
fn a_look_sees_zombies_and_reaped_ones() {
    for reap in [false, true] {
        let mut child = child();
        let (_watch, told) = watch_by_looking(child.id(), born(child.id()));
        assert!(told.try_recv().is_err());
        child.kill().unwrap();
        if reap {
            child.wait().unwrap();
        }
        assert_eq!(told.recv_timeout(SOON), Ok(child.id()));
        child.wait().unwrap();
        assert!(told.recv().is_err(), "called twice");
    }
}

#[test]
fn another_one_with_its_number_does_not_count() {
    let mut child = child();
    let earlier = born(child.id()).unwrap() - 1;
    let (_watch, told) = watch_by_looking(child.id(), Some(earlier));
    assert_eq!(told.recv_timeout(SOON), Ok(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_proc_a_signal_tells() {
    let mut child = child();
    let pid = Pid::from_child(&child);
    assert!(!is_gone(pid, None));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_gone(pid, None));
}
