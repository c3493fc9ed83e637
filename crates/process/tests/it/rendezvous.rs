//! Processes that meet: at the same time, with wrong requests, among garbage, and while they are
//! killed.

use crate::by_itself::by_itself;
use crate::own_process::{WATCHDOG, eventually};
use corecast_process::{Address, Entered, Hello, RendezvousError, VERSION, enter};
use corecast_wire::{Flag, Segment};
use std::io::{IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn fresh(what: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("corecast-{what}-{}-{count}", std::process::id())
}

fn name() -> Address {
    Address::Name(fresh("name"))
}

fn path() -> (Address, PathBuf) {
    let path = std::env::temp_dir().join(fresh("path"));
    (Address::Path(path.clone()), path)
}

fn join(address: &Address, size: u32, ranks: &[Option<u32>]) -> Result<Entered, RendezvousError> {
    let make = |_: &Hello| Segment::shared(4096).map(|(_, fd)| fd);
    enter(address, &Hello::new(size, ranks.to_vec()), WATCHDOG, make)
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Starts this program as another process that enters, confirms, prints that, and stays for ever.
fn process(address: &Address, size: u32) -> Guarded {
    let (kind, place) = match address {
        Address::Name(name) => ("name", name.clone()),
        Address::Path(path) => ("path", path.display().to_string()),
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "rendezvous::the_other_process", "--nocapture"]);
    command.env("CORECAST_TEST_MEET", format!("{kind} {size} {place}"));
    command.stdin(Stdio::null()).stderr(Stdio::null());
    Guarded(command.stdout(Stdio::piped()).spawn().unwrap())
}

struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_other_process() {
    let Ok(orders) = std::env::var("CORECAST_TEST_MEET") else {
        return;
    };
    let mut orders = orders.splitn(3, ' ');
    let mut next = || orders.next().unwrap();
    let (kind, size, place) = (next(), next().parse().unwrap(), next());
    let address = match kind {
        "name" => Address::Name(place.into()),
        _ => Address::Path(place.into()),
    };
    let mut entered = join(&address, size, &[None]).unwrap();
    let segment = Segment::attach(entered.fd.as_fd()).unwrap();
    let rank = entered.ranks[0];
    segment.at::<Flag>(128 * rank as usize, 1).unwrap()[0].raise(u64::from(rank) + 1);
    entered.confirm().unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn processes_share_the_memory_that_the_first_one_made() {
    by_itself(|| {
        for address in [name(), path().0] {
            let others = [process(&address, 3), process(&address, 3)];
            let mut entered = join(&address, 3, &[None]).unwrap();
            entered.confirm().unwrap();
            let mine = entered.ranks[0] as usize;
            let segment = Segment::attach(entered.fd.as_fd()).unwrap();
            let flags = segment.at::<Flag>(0, 3).unwrap();
            eventually("all have come", || {
                (0..3).all(|rank| rank == mine || flags[rank].seq() == rank as u64 + 1)
            });
            drop(others);
            if let Address::Path(path) = address {
                let _ = std::fs::remove_file(path);
            }
        }
    });
}

#[test]
fn of_those_who_come_at_once_exactly_one_serves() {
    by_itself(|| {
        let before = descriptors();
        for round in 0..60 {
            let (address, file) = if round % 2 == 0 {
                (name(), None)
            } else {
                let (address, file) = path();
                // Every other path has the socket file that a killed rendezvous server left.
                if round % 4 == 1 {
                    drop(std::os::unix::net::UnixListener::bind(&file).unwrap());
                }
                (address, Some(file))
            };
            let entered: Vec<Entered> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..5)
                    .map(|_| {
                        scope.spawn(|| {
                            let mut entered = join(&address, 5, &[None]).unwrap();
                            entered.confirm().unwrap();
                            entered
                        })
                    })
                    .collect();
                threads.into_iter().map(|t| t.join().unwrap()).collect()
            });
            let hosts: Vec<_> = entered.iter().filter_map(|e| e.server.as_ref()).collect();
            assert_eq!(hosts.len(), 1, "round {round}");
            eventually("the host has seen all", || hosts[0].is_complete());
            let mut ranks: Vec<u32> = entered.iter().flat_map(|e| e.ranks.clone()).collect();
            ranks.sort_unstable();
            assert_eq!(ranks, [0, 1, 2, 3, 4]);
            drop(entered);
            assert!(file.is_none_or(|file| !file.exists()));
        }
        eventually("all descriptors are closed", || descriptors() <= before);
    });
}

#[test]
fn refusals_name_both_sides() {
    by_itself(|| {
        let address = name();
        let server = join(&address, 4, &[Some(2)]).unwrap();
        let said =
            |size, ranks: &[Option<u32>]| join(&address, size, ranks).unwrap_err().to_string();
        let place = address.to_string();
        for (size, ranks, parts) in [
            (3, &[None][..], ["has 4 ranks", "one of 3"]),
            (4, &[Some(2)], ["rank 2 ", "wants it too"]),
            (4, &[None; 4], ["brings 4", "3 of its 4"]),
        ] {
            let said = said(size, ranks);
            assert!(said.contains(&place), "{said}");
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        for (size, ranks) in [
            (4, &[][..]),
            (4, &[Some(4)]),
            (4, &[Some(1), Some(1)]),
            (1, &[None, None]),
            (0, &[None]),
        ] {
            let error = join(&address, size, ranks).unwrap_err();
            assert!(matches!(error, RendezvousError::Unusable { .. }), "{error}");
        }
        // Requests for particular ranks and for any may be mixed; ranks are free again when their
        // process leaves unconfirmed.
        for _ in 0..3 {
            let other = join(&address, 4, &[None, Some(0), None]).unwrap();
            assert_eq!(other.ranks, [1, 0, 3]);
            drop(other);
            let address = &address;
            eventually("its ranks are free again", || {
                join(address, 4, &[Some(1), Some(0), Some(3)]).is_ok()
            });
            eventually("and again", || {
                join(address, 4, &[None, None, None]).is_ok()
            });
        }
        drop(server);
    });
}

#[test]
fn a_place_that_cannot_be_used_is_an_error_and_stays_as_it_was() {
    by_itself(|| {
        let file = std::env::temp_dir().join(fresh("file"));
        std::fs::write(&file, "precious").unwrap();
        let long = "x".repeat(200);
        for address in [
            Address::Path(file.clone()),
            Address::Path("/nowhere/at/all".into()),
            Address::Path(long.clone().into()),
            Address::Name(long),
            Address::Name(String::new()),
        ] {
            let make = |_: &Hello| Segment::shared(4096).map(|(_, fd)| fd);
            let hello = Hello::new(2, vec![None]);
            let error = enter(&address, &hello, Duration::from_millis(50), make).unwrap_err();
            assert!(error.to_string().contains(&address.to_string()), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
        std::fs::remove_file(&file).unwrap();
        let failing = |_: &Hello| Err::<std::os::fd::OwnedFd, _>("no memory today");
        let address = name();
        let error = enter(&address, &Hello::new(2, vec![None]), WATCHDOG, failing).unwrap_err();
        assert!(error.to_string().ends_with("no memory today"), "{error}");
        assert!(join(&address, 2, &[None]).unwrap().server.is_some());
    });
}

#[test]
fn garbage_and_silence_neither_stop_nor_end_the_server() {
    by_itself(|| {
        use rustix::net::{
            AddressFamily, SendFlags, SocketAddrUnix, SocketType, connect, send, socket,
        };
        let before = descriptors();
        let (address, file) = path();
        let server = join(&address, 2, &[None]).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let knock = || {
            let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
            connect(&socket, &SocketAddrUnix::new(&file).unwrap()).unwrap();
            socket
        };
        let mut random = fastrand::Rng::with_seed(11);
        let mut silent = Vec::new();
        for i in 0..300 {
            let socket = knock();
            let mut bytes = vec![0; random.usize(..200)];
            random.fill(&mut bytes);
            if i % 3 == 0 {
                bytes.splice(..0, *b"Corecast");
            }
            if i % 5 == 0 {
                silent.push(socket);
            } else {
                let _ = send(&socket, &bytes, SendFlags::NOSIGNAL);
            }
        }
        assert!(std::os::unix::net::UnixStream::connect(&file).is_err());
        let mut other = join(&address, 2, &[None]).unwrap();
        other.confirm().unwrap();
        let guard = server.server.as_ref().unwrap();
        eventually("the team is complete", || guard.is_complete());
        drop((server, other, silent));
        assert!(!file.exists());
        eventually("all descriptors are closed", || descriptors() <= before);
    });
}

#[test]
fn a_stranger_who_gives_a_rank_twice_is_not_believed() {
    use rustix::net::*;
    let (address, file) = path();
    let listener = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(&file).unwrap()).unwrap();
    listen(&listener, 1).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let client = accept(&listener).unwrap();
            let (_, len) = recv(&client, &mut [0; 64][..], RecvFlags::empty()).unwrap();
            assert!(len > 0);
            let words = [VERSION, 0, 2, 1, 1].map(u32::to_le_bytes).concat();
            let answer = [&b"Corecast"[..], &words].concat();
            let (_, memory) = Segment::shared(4096).unwrap();
            let memory = [memory.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(&memory));
            let answer = [IoSlice::new(&answer)];
            sendmsg(&client, &answer, &mut control, SendFlags::empty()).unwrap();
        });
        let error = join(&address, 3, &[None, None]).unwrap_err();
        assert!(matches!(error, RendezvousError::Stranger { .. }), "{error}");
    });
    std::fs::remove_file(file).unwrap();
}

#[test]
fn whoever_comes_takes_over_from_servers_that_are_killed_at_any_point() {
    by_itself(|| {
        let before = descriptors();
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let (file_address, file) = path();
        for round in 0..200 {
            let name = name();
            let address = if round % 2 == 0 { &name } else { &file_address };
            let mut other = process(address, 2);
            let kill_after = Duration::from_micros(random.u64(..6000));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(kill_after);
                    other.0.kill().unwrap();
                });
                let pause = Duration::from_micros(random.u64(..6000));
                std::thread::sleep(pause);
                match join(address, 2, &[None]) {
                    Ok(mut entered) => match entered.confirm() {
                        Ok(()) | Err(RendezvousError::ServerGone { .. }) => {}
                        Err(error) => panic!("round {round}: {error}"),
                    },
                    Err(error) => panic!("round {round}: {error}"),
                }
            });
            drop(other);
        }
        // The last process may have been killed as a rendezvous server; the next one removes its
        // file.
        drop(join(&file_address, 1, &[None]).unwrap());
        assert!(!file.exists());
        eventually("all descriptors are closed", || descriptors() <= before);
    });
}

#[test]
fn a_server_that_is_stopped_is_an_error_within_the_limit() {
    by_itself(|| {
        let address = name();
        let mut other = process(&address, 2);
        let mut said = [0; 1];
        // Its test harness says something before the test begins.
        other
            .0
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut said)
            .unwrap();
        let pid = rustix::process::Pid::from_child(&other.0);
        let Address::Name(name) = &address else {
            unreachable!("it is a name")
        };
        // The fourth column has the flags of the socket; this flag says that it listens.
        eventually("it hosts", || {
            let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
            sockets.lines().any(|line| {
                line.contains(name.as_str()) && line.split_whitespace().nth(3) == Some("00010000")
            })
        });
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        // The signal is delivered before the last thread has stopped; this waits for that.
        let stopped = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED);
        let (_, stopped) = stopped.unwrap().unwrap();
        assert!(stopped.stopped(), "{stopped:?}");
        let make = |_: &Hello| Segment::shared(4096).map(|(_, fd)| fd);
        let limit = Duration::from_millis(200);
        let error = enter(&address, &Hello::new(2, vec![None]), limit, make).unwrap_err();
        assert!(matches!(error, RendezvousError::Silent { .. }), "{error}");
        assert!(error.to_string().contains("200ms"), "{error}");
    });
}
