//! Replicas over real threads: one order, no write lost or doubled, whoever lags, comes, goes or stops.

use crate::counters::{Counters, Set};
use corecast_agree::{
    Design, Dispatch, Footprint, Handle, Options, Reads, ReplicaError, Replicated, Why,
};
use corecast_wire::WaitConfig;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, Weak};

fn counters(replicas: usize, log_len: u64) -> Replicated<Counters> {
    counters_read_by(Reads::Watermark, replicas, log_len)
}

fn counters_read_by(reads: Reads, replicas: usize, log_len: u64) -> Replicated<Counters> {
    let options = Options {
        replicas,
        log_len,
        reads,
        ..Options::default()
    };
    Replicated::new(options, Counters::default())
}

fn set(key: u64, value: u64) -> Set {
    Set(key, value, None)
}

/// All replicas hold the same in the end.
fn assert_equal(counters: &Replicated<Counters>) -> Counters {
    let all = counters.replicas().into_iter().map(|replica| {
        let mut handle = counters.handle(replica).unwrap();
        handle.snapshot().1
    });
    let all: Vec<Counters> = all.collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    all.into_iter().next().unwrap()
}

/// Each thread counts its own key and a common one. The values that writes of the common key replace are all different
/// ones if and only if the writes have one order.
#[test]
fn writes_have_one_order_and_none_is_lost_or_doubled() {
    const EACH: u64 = 2_000;
    for (replicas, threads) in [(1, 3), (2, 2), (2, 4), (3, 5)] {
        let counters = counters(replicas, 1 << 16);
        let replaced = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let mut handle = counters.handle(thread % replicas).unwrap();
                let replaced = &replaced;
                scope.spawn(move || {
                    let thread = thread as u64 + 1;
                    let mut own = Vec::new();
                    for value in 1..=EACH {
                        assert_eq!(handle.write(set(thread, value)), value - 1);
                        assert_eq!(handle.read(&thread), value);
                        own.push(handle.write(set(0, thread * EACH + value)));
                    }
                    replaced.lock().unwrap().extend(own);
                });
            }
        });
        let end = assert_equal(&counters);
        let mut replaced = replaced.into_inner().unwrap();
        replaced.push(end.0[&0]);
        replaced.sort_unstable();
        let written = (1..=threads as u64).flat_map(|t| t * EACH + 1..=t * EACH + EACH);
        let all: Vec<u64> = std::iter::once(0).chain(written).collect();
        assert!(replaced == all, "{replicas} replicas, {threads} threads");
    }
}

/// A thread writes at one replica and tells another one, which must find it at its own.
#[test]
fn a_read_finds_what_was_answered_elsewhere() {
    for reads in [Reads::Watermark, Reads::Stable, Reads::Raced] {
        finds_what_was_answered(reads);
    }
}

fn finds_what_was_answered(reads: Reads) {
    let counters = counters_read_by(reads, 2, 1 << 16);
    let told = AtomicU64::new(0);
    let [mut writer, mut reader] = [0, 1].map(|replica| counters.handle(replica).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1..=20_000 {
                writer.write(set(1, value));
                told.store(value, Ordering::Release);
            }
        });
        let mut last = 0;
        while last < 20_000 {
            let least = told.load(Ordering::Acquire);
            let found = reader.read(&1);
            assert!(found >= least && found >= last, "{found} after {least}");
            last = found;
        }
    });
}

/// Pairs that are written together are read together.
#[test]
fn writes_of_one_call_are_seen_whole() {
    let counters = counters(2, 1 << 16);
    std::thread::scope(|scope| {
        for replica in 0..2 {
            let mut writer = counters.handle(replica).unwrap();
            scope.spawn(move || {
                for value in 1..=1_000 {
                    let value = 2 * value + replica as u64;
                    let before = writer.write_all(vec![set(1, value), set(2, value)]);
                    assert_eq!(before[0], before[1]);
                    assert!(writer.write_all(Vec::new()).is_empty());
                }
            });
            let mut reader = counters.handle(replica).unwrap();
            scope.spawn(move || {
                for _ in 0..500 {
                    let (_, seen) = reader.snapshot();
                    assert_eq!(seen.0.get(&1), seen.0.get(&2));
                }
            });
        }
    });
}

#[test]
fn handles_are_sent_given_back_and_counted() {
    let options = Options {
        replicas: 2,
        handles: 2,
        ..Options::default()
    };
    let counters = Replicated::new(options, Counters::default());
    let first = counters.handle(1).unwrap();
    let second = counters.handle(1).unwrap();
    let full = ReplicaError::TooManyHandles {
        replica: 1,
        handles: 2,
    };
    assert_eq!(counters.handle(1).unwrap_err(), full);
    let there = std::thread::spawn(move || {
        let mut handle: Handle<Counters> = first;
        handle.write(set(1, 7));
    });
    there.join().unwrap();
    let mut third = counters.handle(1).unwrap();
    assert_eq!((third.replica(), third.read(&1)), (1, 7));
    let why = counters.remove_replica(1).unwrap_err();
    let handles = 2;
    assert_eq!(
        why,
        ReplicaError::HasHandles {
            replica: 1,
            handles
        }
    );
    drop((second, third));
    counters.remove_replica(1).unwrap();
    assert_eq!(
        counters.handle(1).unwrap_err(),
        ReplicaError::NoSuchReplica { replica: 1 }
    );
    assert_eq!(
        counters.remove_replica(0),
        Err(ReplicaError::LastReplica { replica: 0 })
    );
    assert_eq!(counters.replicas(), [0]);
}

/// Replicas are added and removed while others write and read.
#[test]
fn replicas_come_and_go() {
    for reads in [Reads::Watermark, Reads::Stable, Reads::Raced] {
        come_and_go(reads);
    }
}

fn come_and_go(reads: Reads) {
    let counters = counters_read_by(reads, 2, 1 << 10);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for replica in 0..2 {
            let mut handle = counters.handle(replica).unwrap();
            let done = &done;
            scope.spawn(move || {
                for value in 1..=5_000 {
                    assert_eq!(handle.write(set(replica as u64, value)), value - 1);
                    assert_eq!(handle.read(&(replica as u64)), value);
                }
                done.store(true, Ordering::Release);
            });
        }
        let mut rounds = 0;
        while !done.load(Ordering::Acquire) || rounds < 3 {
            let number = counters.add_replica();
            let mut handle = counters.handle(number).unwrap();
            let before = handle.read(&0);
            let (_, whole) = handle.snapshot();
            assert!(whole.0.get(&0).copied().unwrap_or(0) >= before);
            assert_eq!(handle.write(set(100 + number as u64, 1)), 0);
            assert!(handle.read(&0) >= before);
            drop(handle);
            counters.remove_replica(number).unwrap();
            rounds += 1;
        }
    });
    let end = assert_equal(&counters);
    assert_eq!((end.0[&0], end.0[&1]), (5_000, 5_000));
}

/// A stable read applies what others have written of its own key, and of no other one.
#[test]
fn a_stable_read_of_a_quiet_key_applies_nothing() {
    for reads in [Reads::Watermark, Reads::Stable] {
        let counters = counters_read_by(reads, 2, 1 << 16);
        let [mut writer, mut reader] = [0, 1].map(|replica| counters.handle(replica).unwrap());
        writer.write(set(1, 1));
        assert_eq!(reader.read(&1), 1);
        writer.write(set(1, 2));
        assert_eq!(reader.read(&2), 0);
        let is_stable = reads == Reads::Stable;
        let held = reader.read_within(u64::MAX, &1);
        assert_eq!(held, if is_stable { 1 } else { 2 }, "{reads:?}");
        assert_eq!(reader.read(&1), 2);
    }
}

/// The first calls race the designs of reads, and all handles use the one that was chosen. Another mix has them race again.
#[test]
fn designs_of_reads_are_raced_by_calls() {
    let counters = counters_read_by(Reads::Raced, 2, 1 << 12);
    assert_eq!(counters.reads().why, Why::Racing);
    let run = |writes_in_8: u64, is_over: &(dyn Fn(Why) -> bool + Sync)| {
        std::thread::scope(|scope| {
            for replica in 0..2 {
                let mut handle = counters.handle(replica).unwrap();
                let counters = &counters;
                scope.spawn(move || {
                    let key = replica as u64;
                    let mut value = handle.read(&key);
                    while !is_over(counters.reads().why) {
                        for call in 0..1_000 {
                            if call % 8 < writes_in_8 {
                                assert_eq!(handle.write(set(key, value + 1)), value);
                                value += 1;
                            } else {
                                assert_eq!(handle.read(&key), value);
                                assert!(handle.read(&(1 - key)) <= 1_000_000_000);
                            }
                        }
                    }
                });
            }
        });
    };
    let share = |why| match why {
        Why::Raced { share, .. } => share,
        _ => f64::NAN,
    };
    run(1, &|why| share(why) > 0.0);
    assert!(share(counters.reads().why) < 0.2);
    run(8, &|why| share(why) > 0.8);
    assert!(matches!(
        counters.reads().design,
        Design::Watermark | Design::Stable
    ));
    let asked = counters_read_by(Reads::Stable, 2, 1 << 12).reads();
    assert_eq!((asked.design, asked.why), (Design::Stable, Why::Asked));
}

/// Operations are dropped although the threads of a replica are idle, all but the last ones.
#[test]
fn idle_replicas_are_helped_and_operations_dropped() {
    let counters = counters(3, 1 << 11);
    let mut writer = counters.handle(0).unwrap();
    let mut idle = counters.handle(1).unwrap();
    let mut operations: Vec<Weak<()>> = Vec::new();
    for value in 1..=20_000 {
        let operation = Arc::new(());
        operations.push(Arc::downgrade(&operation));
        writer.write(Set(1, value, Some(operation)));
    }
    let alive = operations.iter().filter(|it| it.strong_count() > 0).count();
    assert!(alive <= 2_000, "{alive} operations are still there");
    assert!(idle.read_within(u64::MAX, &1) >= 18_000);
    assert_eq!(idle.read(&1), 20_000);
    drop((writer, idle, counters));
    assert!(operations.iter().all(|it| it.strong_count() == 0));
}

/// A structure whose writes and reads stop in one replica until they are let go.
struct Stopping {
    counters: Counters,
    is_stopped: bool,
    stops: Arc<Stops>,
}

#[derive(Default)]
struct Stops {
    /// What a stopped operation waits for.
    stopped: Mutex<Option<Receiver<()>>>,
    is_inside: AtomicBool,
}

impl Stops {
    fn stop(&self) {
        let waits_for = self.stopped.lock().unwrap().take();
        if let Some(waits_for) = waits_for {
            self.is_inside.store(true, Ordering::Release);
            waits_for.recv().unwrap();
        }
    }
}

impl Dispatch for Stopping {
    type Read<'a> = u64;
    type Write = Set;
    type Response = u64;
    type Snapshot = (Counters, Arc<Stops>);

    fn read_footprint(key: &u64) -> Footprint {
        Footprint::Key(*key)
    }

    fn write_footprint(set: &Set) -> Footprint {
        Counters::write_footprint(set)
    }

    fn read(&self, key: u64) -> u64 {
        if self.is_stopped {
            self.stops.stop();
        }
        self.counters.read(&key)
    }

    fn write(&mut self, set: &Set) -> u64 {
        if self.is_stopped {
            self.stops.stop();
        }
        self.counters.write(set)
    }

    fn snapshot(&self) -> Self::Snapshot {
        (self.counters.clone(), Arc::clone(&self.stops))
    }

    fn install((counters, stops): Self::Snapshot) -> Self {
        let is_stopped = false;
        Self {
            counters,
            is_stopped,
            stops,
        }
    }
}

/// One thread stops amid an operation on its replica, once in a write and once in a read. The others write many times as
/// much as the log is long, which needs no more memory than the log. Then the stopped one goes on, is answered from where it
/// was in the order, and its replica is installed again.
#[test]
fn a_stopped_replica_holds_nobody_up_and_comes_back() {
    const LOG: u64 = 512;
    for (stops_in_write, reads) in [
        (true, Reads::Watermark),
        (false, Reads::Watermark),
        (true, Reads::Stable),
        (false, Reads::Stable),
    ] {
        let stops = Arc::new(Stops::default());
        let options = Options {
            replicas: 1,
            log_len: LOG,
            reads,
            ..Options::default()
        };
        let first = Stopping {
            counters: Counters::default(),
            is_stopped: true,
            stops: Arc::clone(&stops),
        };
        let replicated = Replicated::new(options, first);
        let other = replicated.add_replica();
        let mut here = replicated.handle(other).unwrap();
        let mut there = replicated.handle(0).unwrap();
        here.write(set(1, 1));
        assert_eq!(there.read(1), 1);
        let (go_on, waits_for) = channel();
        *stops.stopped.lock().unwrap() = Some(waits_for);
        std::thread::scope(|scope| {
            let stopped = scope.spawn(|| {
                let first = match stops_in_write {
                    true => there.write(set(1, 2)),
                    false => there.read(1),
                };
                (first, there.read(1), there.write(set(1, 1_000_000)))
            });
            while !stops.is_inside.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let mut operations: Vec<Weak<()>> = Vec::new();
            let many = 8 * LOG;
            for value in 3..3 + many {
                let operation = Arc::new(());
                operations.push(Arc::downgrade(&operation));
                here.write(Set(1, value, Some(operation)));
            }
            let alive = operations.iter().filter(|it| it.strong_count() > 0).count();
            assert!(alive as u64 <= 3 * LOG, "{alive} operations are kept");
            go_on.send(()).unwrap();
            let answered = stopped.join().unwrap();
            assert_eq!(
                answered,
                (1, 2 + many, 2 + many),
                "in a write: {stops_in_write}, {reads:?}"
            );
            assert_eq!(here.read(1), 1_000_000);
            here.write(set(2, 5));
            drop(go_on);
        });
        let mut again = replicated.handle(0).unwrap();
        assert_eq!((again.read(1), again.read(2)), (1_000_000, 5));
    }
}

/// More threads than CPUs, which all sleep and are woken, and handles that come and go.
#[test]
fn threads_that_share_cpus_make_progress() {
    for wait_config in [WaitConfig::PARK, WaitConfig::OVERSUBSCRIBED] {
        let options = Options {
            replicas: 2,
            log_len: 256,
            wait_config: Some(wait_config),
            ..Options::default()
        };
        let counters = Replicated::new(options, Counters::default());
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                let counters = &counters;
                scope.spawn(move || {
                    for value in 1..=200 {
                        let mut handle = counters.handle((thread % 2) as usize).unwrap();
                        assert_eq!(handle.write(set(thread, value)), value - 1);
                        assert_eq!(handle.read(&thread), value);
                    }
                });
            }
        });
        assert_eq!(assert_equal(&counters).0.values().sum::<u64>(), 8 * 200);
    }
}

/// A structure whose writes panic at a value.
struct Panicking(u64);

impl Dispatch for Panicking {
    type Read<'a> = ();
    type Write = u64;
    type Response = u64;
    type Snapshot = u64;

    fn read(&self, (): ()) -> u64 {
        self.0
    }

    fn write(&mut self, value: &u64) -> u64 {
        assert_ne!(*value, 13, "an unlucky number");
        std::mem::replace(&mut self.0, *value)
    }

    fn snapshot(&self) -> u64 {
        self.0
    }

    fn install(snapshot: u64) -> Self {
        Self(snapshot)
    }
}

#[test]
fn a_write_that_panics_is_told_to_all_that_use_its_replica() {
    let replicated = Replicated::new(Options::default(), Panicking(0));
    let mut handle = replicated.handle(0).unwrap();
    let mut other = replicated.handle(0).unwrap();
    assert_eq!(handle.write(1), 0);
    assert!(catch_unwind(AssertUnwindSafe(|| handle.write(13))).is_err());
    for call in [0, 1, 2] {
        let told = catch_unwind(AssertUnwindSafe(|| match call {
            0 => other.read(()),
            1 => other.write(2),
            _ => replicated.add_replica() as u64,
        }));
        let why = told.unwrap_err();
        let why = why.downcast_ref::<String>().map(String::as_str);
        let why = why.unwrap_or("a write has panicked at every replica");
        assert!(why.contains("a write has panicked at"), "{why}");
    }
}
