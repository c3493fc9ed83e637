//! Models of the wires, checked in every interleaving that the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p corecast-wire --test loom --release`. Each model
//! also has seeded faults that it must catch: a model that cannot fail proves nothing. Executions
//! are counted, because a model that gives up early ends silently.
#![cfg(loom)]

#[path = "loom/broadcast_ring.rs"]
mod broadcast_ring;
#[path = "loom/check.rs"]
mod check;
#[path = "loom/counter_barrier.rs"]
mod counter_barrier;
#[path = "loom/op_history.rs"]
mod op_history;
#[path = "loom/phase_barrier.rs"]
mod phase_barrier;
#[path = "loom/reader_lock.rs"]
mod reader_lock;
#[path = "loom/shared_line.rs"]
mod shared_line;
#[path = "loom/shared_log.rs"]
mod shared_log;
#[path = "loom/stop.rs"]
mod stop;

use check::check;
use corecast_wire::mutant::Mutant;
use corecast_wire::park::ANY;
use corecast_wire::queue::{self, Backend, Options, Receiver, Sender};
use corecast_wire::{
    Exchange, FenceKind, Flag, Line, LineRef, Parker, Segment, Signal, Swaps, WaitConfig,
    WaitStrategy,
};
use loom::thread;

fn options(backend: Backend) -> Options {
    Options {
        backend,
        slots: 2,
        ..Options::default()
    }
}

const COMMON: [Mutant; 5] = [
    Mutant::PublishRelaxed,
    Mutant::ObserveRelaxed,
    Mutant::GiveBackRelaxed,
    Mutant::ReclaimRelaxed,
    Mutant::NoFlowControl,
];

/// Ends that poll and never park check the orderings of the slots alone. Three messages go through two slots,
/// so that one slot is used twice.
fn spin(backend: Backend) {
    let (mut sender, mut receiver): (Sender, Receiver) = queue::queue(&options(backend)).unwrap();
    let other = thread::spawn(move || {
        for value in 1..=3u64 {
            while sender.try_send(&value.to_ne_bytes()).is_err() {
                thread::yield_now();
            }
        }
        sender
    });
    for value in 1..=3u64 {
        let mut word = [0; 8];
        while receiver.try_receive(&mut word).is_err() {
            thread::yield_now();
        }
        assert_eq!(u64::from_ne_bytes(word), value);
    }
    drop(other.join().unwrap());
}

#[test]
fn ump_slots() {
    check("ump slots", None, &COMMON, || spin(Backend::Ump));
}

#[test]
fn fast_forward_slots() {
    check("fastforward slots", None, &COMMON, || {
        spin(Backend::FastForward)
    });
}

/// Ends that park: no message is lost, doubled or torn, and no end sleeps for ever.
fn park(backend: Backend, messages: u64) {
    let (mut sender, mut receiver) = queue::queue(&options(backend)).unwrap();
    let other = thread::spawn(move || {
        for value in 1..=messages {
            sender.send(&value.to_ne_bytes()).unwrap();
        }
        sender
    });
    for value in 1..=messages {
        let mut word = [0; 8];
        assert_eq!(receiver.receive(&mut word).unwrap().len, 8);
        assert_eq!(u64::from_ne_bytes(word), value);
    }
    drop(other.join().unwrap());
}

const SLEEP: [Mutant; 3] = [
    Mutant::NoHeavyFence,
    Mutant::NoLightFence,
    Mutant::NoLastLook,
];

#[test]
fn parking_for_one_message() {
    for backend in Backend::ALL {
        let name = format!("{backend} parking, 1 message");
        check(&name, None, &SLEEP, move || park(backend, 1));
    }
}

/// More messages than slots, so that the sender parks as well. Whole exploration takes hours;
/// four preemptions are more than any fault below needs.
#[test]
fn parking_for_three_messages() {
    for backend in Backend::ALL {
        let name = format!("{backend} parking, 3 messages");
        check(&name, Some(4), &SLEEP, move || park(backend, 3));
    }
}

/// A message of two slots, or of a slot and a line of body, is whole or absent.
#[test]
fn long_messages_are_whole() {
    let faults = &[Mutant::PublishRelaxed, Mutant::ObserveRelaxed];
    for backend in Backend::ALL {
        for before in [0, 1] {
            let name = format!("{backend} long message after {before}");
            check(&name, Some(3), faults, move || {
                let mut options = options(backend);
                options.slots = 4;
                let (mut sender, mut receiver) = queue::queue(&options).unwrap();
                let other = thread::spawn(move || {
                    (0..before).for_each(|_| sender.notify().unwrap());
                    sender.send(&[7; 60]).unwrap();
                    sender.notify().unwrap();
                    sender
                });
                let mut buffer = [0; 64];
                (0..before).for_each(|_| assert_eq!(receiver.receive(&mut buffer).unwrap().len, 0));
                assert_eq!(receiver.receive(&mut buffer).unwrap().len, 60);
                assert_eq!(buffer[..60], [7; 60]);
                assert_eq!(receiver.receive(&mut buffer).unwrap().len, 0);
                drop(other.join().unwrap());
            });
        }
    }
}

/// Two slots are used for one message, for two, and for one again. The sender is the thread that runs first, see below.
#[test]
fn pairs_of_slots_are_used_again() {
    let faults = [
        Mutant::OneHeaderForTwo,
        Mutant::OneSlotForTwo,
        Mutant::GiveBackRelaxed,
        Mutant::ReclaimRelaxed,
    ];
    for backend in Backend::ALL {
        // In FastForward no header is new before it is written, as the receiver has emptied it; and a sender that looks for two
        // slots finds both or none.
        let faults = match backend {
            Backend::Ump => &faults[..],
            Backend::FastForward => &faults[2..],
        };
        check(&format!("{backend} pairs"), Some(2), faults, move || {
            let (mut sender, mut receiver) = queue::queue(&options(backend)).unwrap();
            let lens = [60, 1, 1, 60];
            let other = thread::spawn(move || {
                let mut buffer = [0; 64];
                for (value, len) in (1..).zip(lens) {
                    assert_eq!(receiver.receive(&mut buffer).unwrap().len, len);
                    assert!(buffer[..len].iter().all(|&byte| byte == value), "{value}");
                }
                receiver
            });
            for (value, len) in (1..).zip(lens) {
                sender.send(&vec![value; len]).unwrap();
            }
            drop(other.join().unwrap());
        });
    }
}

/// Each message takes a quarter of the body. So the fifth uses the lines of the first while slots are left,
/// and the sixth those of the second. The sender is the thread that runs first: in a model, a thread that has
/// found nothing yields until the other one finds nothing either, so a receiver would never be interrupted by
/// a sender.
#[test]
fn lines_of_the_body_are_used_again() {
    let faults = [
        Mutant::GiveBackRelaxed,
        Mutant::PublishRelaxed,
        Mutant::ObserveRelaxed,
        Mutant::ReclaimRelaxed,
        Mutant::NoBodyFlow,
        Mutant::NoHeavyFence,
        Mutant::NoLightFence,
    ];
    for backend in Backend::ALL {
        let name = format!("{backend} body");
        // One store gives the body back in both back ends, but FastForward also fences at each slot. So only
        // UMP shows that the store is weakened.
        let faults = match backend {
            Backend::Ump => &faults[..],
            Backend::FastForward => &faults[1..],
        };
        check(&name, Some(2), faults, move || {
            let mut options = options(backend);
            options.slots = 8;
            let (mut sender, mut receiver) = queue::queue(&options).unwrap();
            let len = sender.message_bytes_max();
            let other = thread::spawn(move || {
                let mut buffer = vec![0; len];
                for value in 1..=6u8 {
                    assert_eq!(receiver.receive(&mut buffer).unwrap().len, len);
                    assert!(buffer.iter().all(|&byte| byte == value), "{value}");
                }
                receiver
            });
            for value in 1..=6u8 {
                sender.send(&vec![value; len]).unwrap();
            }
            drop(other.join().unwrap());
        });
    }
}

/// An end that is dropped wakes the other one, which still receives what was sent before.
#[test]
fn leaving_wakes_the_other_end() {
    for backend in Backend::ALL {
        check(
            &format!("{backend} leaving"),
            Some(3),
            &[Mutant::NoHeavyFence, Mutant::NoLightFence],
            move || {
                let (mut sender, mut receiver) = queue::queue(&options(backend)).unwrap();
                let other = thread::spawn(move || {
                    sender.send(&[1]).unwrap();
                });
                let mut buffer = [0; 8];
                assert_eq!(receiver.receive(&mut buffer).unwrap().len, 1);
                assert!(receiver.receive(&mut buffer).is_err());
                other.join().unwrap();
            },
        );
    }
}

type Bell = LineRef<Line<Parker>>;

struct End {
    own: Signal,
    other: Signal,
    wait_strategy: WaitStrategy,
    peer: Bell,
}

impl End {
    fn barrier(&self, seq: u64) {
        self.own.raise(seq);
        self.peer.wake_for(1, FenceKind::Symmetric);
        self.wait_strategy
            .wait(1, || (self.other.seq() >= seq).then_some(()));
    }
}

fn two_ends() -> (End, End) {
    let line: LineRef<Exchange> = Segment::one(None).unwrap();
    let [a, b] = [0, 1].map(|word| Signal::new(line.clone(), word));
    let parkers: [Bell; 2] = [Segment::one(None).unwrap(), Segment::one(None).unwrap()];
    let end = |own: &Signal, other: &Signal, mine: usize| End {
        own: own.clone(),
        other: other.clone(),
        wait_strategy: WaitStrategy::new(WaitConfig::PARK, parkers[mine].clone()),
        peer: parkers[1 - mine].clone(),
    };
    (end(&a, &b, 0), end(&b, &a, 1))
}

/// Two ranks meet twice by flags, and each sees what the other wrote before it came. The second barrier lets
/// one run ahead while the other has not looked at the first flag yet.
#[test]
fn flags_meet_and_publish() {
    let faults = [
        Mutant::RaiseRelaxed,
        Mutant::SeeRelaxed,
        Mutant::NoHeavyFence,
        Mutant::NoLightFence,
        Mutant::NoLastLook,
    ];
    check("flag barrier", Some(3), &faults, || {
        let (here, there) = two_ends();
        let cells = std::sync::Arc::new([
            loom::cell::UnsafeCell::new(0u64),
            loom::cell::UnsafeCell::new(0u64),
        ]);
        let arrive_and_wait =
            |end: End, rank: usize, cells: std::sync::Arc<[loom::cell::UnsafeCell<u64>; 2]>| {
                // SAFETY: loom checks that no access overlaps another: that is the test.
                cells[rank].with_mut(|cell| unsafe { *cell = rank as u64 + 1 });
                end.barrier(1);
                // SAFETY: as above.
                let seen = cells[1 - rank].with(|cell| unsafe { *cell });
                assert_eq!(seen, 2 - rank as u64);
                end.barrier(2);
                // SAFETY: as above; both have read.
                cells[rank].with_mut(|cell| unsafe { *cell = 9 });
            };
        let theirs = cells.clone();
        let other = thread::spawn(move || arrive_and_wait(there, 1, theirs));
        arrive_and_wait(here, 0, cells);
        other.join().unwrap();
    });
}

/// Two ranks give each other three values beside their flags. They poll, since the fence before a look for sleepers would
/// order what the flags must order.
#[test]
fn values_belong_to_their_flags() {
    let faults = [Mutant::RaiseRelaxed, Mutant::SeeRelaxed, Mutant::OneTurn];
    check("swap", None, &faults, || {
        let line: LineRef<Exchange> = Segment::one(None).unwrap();
        let swap_thrice = |mut swaps: Swaps, rank: u8| {
            for round in 1..=3 {
                let number = swaps.put(&[rank, round]);
                swaps.own().raise(number);
                while swaps.other().seq() < number {
                    thread::yield_now();
                }
                let mut value = [0; 2];
                swaps.get(number, &mut value);
                assert_eq!(value, [1 - rank, round]);
            }
        };
        let [here, there] = [0, 1].map(|end| Swaps::new(&line, end));
        let other = thread::spawn(move || swap_thrice(there, 1));
        swap_thrice(here, 0);
        other.join().unwrap();
    });
}

/// Two publishers for one sleeper: the token tells them apart, and neither wake-up is lost.
#[test]
fn two_publishers_one_sleeper() {
    check(
        "two publishers",
        Some(3),
        &[Mutant::NoHeavyFence, Mutant::NoLastLook],
        || {
            let flags: [LineRef<Flag>; 2] =
                [Segment::one(None).unwrap(), Segment::one(None).unwrap()];
            let parker: Bell = Segment::one(None).unwrap();
            let sleeper = WaitStrategy::new(WaitConfig::PARK, parker.clone());
            let publishers = [0usize, 1].map(|i| {
                let (flag, parker) = (flags[i].clone(), parker.clone());
                thread::spawn(move || {
                    flag.raise(1);
                    parker.wake_for(i as u32 + 1, FenceKind::Symmetric);
                })
            });
            for i in [0usize, 1] {
                sleeper.wait(i as u32 + 1, || (flags[i].seq() >= 1).then_some(()));
            }
            for publisher in publishers {
                publisher.join().unwrap();
            }
        },
    );
}

/// A thread that waits for several events at once sleeps with the token `ANY`, and the first publisher wakes
/// it, whatever token that one uses. Then it waits for the other event by that event's own token.
#[test]
fn any_of_two_publishers_wakes() {
    let faults = [
        Mutant::AnyUnheard,
        Mutant::NoHeavyFence,
        Mutant::NoLightFence,
        Mutant::NoLastLook,
    ];
    check("any of two", Some(3), &faults, || {
        let flags: [LineRef<Flag>; 2] = [Segment::one(None).unwrap(), Segment::one(None).unwrap()];
        let parker: Bell = Segment::one(None).unwrap();
        let kind = FenceKind::SharedSymmetric;
        let sleeper = WaitStrategy::with_fence(WaitConfig::PARK, parker.clone(), kind);
        let publishers = [0usize, 1].map(|i| {
            let (flag, parker) = (flags[i].clone(), parker.clone());
            thread::spawn(move || {
                flag.raise(1);
                parker.wake_for(i as u32 + 1, kind);
            })
        });
        let first = sleeper.wait(ANY, || (0..2).find(|&i| flags[i].seq() >= 1));
        let second = 1 - first;
        sleeper.wait(second as u32 + 1, || {
            (flags[second].seq() >= 1).then_some(())
        });
        for publisher in publishers {
            publisher.join().unwrap();
        }
    });
}

/// A waker that is killed between its swap and its ring leaves a sleeper that looks awake. The thread that
/// reports the death wakes that sleeper too.
#[test]
fn news_of_a_death_wake_whom_the_dead_one_did_not() {
    let faults = [
        Mutant::RingTheAnnouncedOnly,
        Mutant::NoHeavyFence,
        Mutant::NoLastLook,
    ];
    check("news of a death", None, &faults, || {
        let news: LineRef<Flag> = Segment::one(None).unwrap();
        let parker: Bell = Segment::one(None).unwrap();
        let kind = FenceKind::SharedSymmetric;
        let sleeper = WaitStrategy::with_fence(WaitConfig::PARK, parker.clone(), kind);
        let other = {
            let news = news.clone();
            thread::spawn(move || {
                parker.swap_without_ring();
                news.raise(1);
                parker.wake_any(kind);
            })
        };
        sleeper.wait(1, || (news.seq() >= 1).then_some(()));
        other.join().unwrap();
    });
}
