//! The queues against a model queue, and between real threads.

use crate::asleep::{Number, Sleeper};
use corecast_wire::broadcast_ring::Shape;
use corecast_wire::queue::{
    self, Backend, Capacity, Gone, Options, ReceiveError, Receiver, SLOT_PAYLOAD_BYTES, SendError,
    Sender, TAG_MAX, TryReceiveError, TrySendError,
};
use corecast_wire::{LINE_BYTES, Segment, WaitConfig, WaitStrategy, broadcast_ring};
use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

fn make(backend: Backend, slots: usize, wait_config: WaitConfig) -> (Sender, Receiver) {
    let options = Options {
        backend,
        slots,
        wait_config,
        ..Options::default()
    };
    queue::queue(&options).unwrap()
}

fn message(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| rng.u8(..)).collect()
}

/// Numbers of slots have 16 bits in a header, and those of laps one: both begin again.
#[test]
fn numbers_of_slots_begin_again_at_zero() {
    for backend in Backend::ALL {
        let (mut sender, mut receiver) = make(backend, 2, WaitConfig::PARK);
        for number in 0..(1 << 17) + 5u32 {
            let sent = number.to_le_bytes();
            let tag = number & TAG_MAX;
            sender.try_send_tagged(tag, &sent).unwrap();
            if number % 2 == 0 {
                // Two in a row fill the ring.
                sender.try_send_tagged(tag, &sent).unwrap();
                let full = sender.try_send(&sent);
                assert!(matches!(full, Err(TrySendError::Full)), "{number}");
                let mut got = [0; 4];
                receiver.try_receive(&mut got).unwrap();
                assert_eq!(got, sent, "{backend}");
            }
            let mut got = [0; 4];
            let received = receiver.try_receive(&mut got).unwrap();
            assert_eq!((received.tag, got), (tag, sent), "{backend}");
            let empty = receiver.try_receive(&mut got);
            assert!(matches!(empty, Err(TryReceiveError::Empty)), "{number}");
        }
    }
}

/// What a pair hands on to its two ends is theirs.
#[test]
fn both_ends_of_a_pair_send_and_receive() {
    for backend in Backend::ALL {
        assert_eq!(backend.to_string().parse(), Ok(backend));
        let options = Options {
            backend,
            slots: 2,
            ..Options::default()
        };
        let (mut here, mut there) = queue::pair(&options).unwrap();
        for _ in 0..2 {
            assert_eq!((here.backend(), there.backend()), (backend, backend));
            assert!(here.can_send(1) && !there.can_receive());
            here.try_send(b"one").unwrap();
            here.notify().unwrap();
            assert!(!here.can_send(1) && !here.can_receive());
            assert!(there.can_send(1) && there.can_receive());
            assert!(matches!(here.try_send(b"more"), Err(TrySendError::Full)));
            let mut got = [0; 4];
            assert_eq!(there.try_receive(&mut got).unwrap().len, 3);
            assert_eq!(got, *b"one\0");
            assert_eq!(there.try_receive(&mut got).unwrap().len, 0);
            let empty = there.try_receive(&mut got);
            assert!(matches!(empty, Err(TryReceiveError::Empty)));
            std::mem::swap(&mut here, &mut there);
        }
        let (sender, receiver) = make(backend, 2, WaitConfig::PARK);
        assert_eq!((sender.backend(), receiver.backend()), (backend, backend));
    }
    let unknown = "shm".parse::<Backend>().unwrap_err().to_string();
    assert!(unknown.contains("'shm'"), "{unknown}");
}

/// Random operations on a queue and on a `VecDeque` give the same answers.
#[test]
fn agrees_with_a_model_queue() {
    for seed in 0..400 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let backend = Backend::ALL[rng.usize(..2)];
        let slots = 1 << rng.u32(1..6);
        let (mut sender, mut receiver) = make(backend, slots, WaitConfig::PARK);
        let max = sender.message_bytes_max();
        let lines = 8 * slots;
        assert_eq!(max, SLOT_PAYLOAD_BYTES + lines / 4 * LINE_BYTES);
        assert_eq!(max, queue::message_bytes_max(slots));
        // The slots and body lines of a message that begins at slot number `at`.
        let takes = |at: usize, len: usize| match len.saturating_sub(SLOT_PAYLOAD_BYTES) {
            1..=SLOT_PAYLOAD_BYTES if at.is_multiple_of(2) && slots >= 8 => (2, 0),
            rest => (1, rest.div_ceil(LINE_BYTES)),
        };
        let (mut read, mut sent) = (0, 0);
        let mut model: VecDeque<(u32, Vec<u8>)> = VecDeque::new();
        for step in 0..400 {
            let context = format!("seed {seed}, step {step}, {backend}, {slots} slots");
            if rng.bool() {
                let len = rng.usize(..=max + 2);
                let tag = rng.u32(..=TAG_MAX);
                let payload = message(step, len);
                let could = sender.can_send(len);
                match sender.try_send_tagged(tag, &payload) {
                    Ok(()) => {
                        assert!(could, "{context}");
                        model.push_back((tag, payload));
                        sent += takes(sent, len).0;
                    }
                    Err(TrySendError::TooLong {
                        len: said,
                        max: most,
                    }) => {
                        assert_eq!((said, most), (len, max), "{context}");
                        assert!(len > max && !could, "{context}");
                    }
                    Err(TrySendError::Full) => {
                        assert!(!could, "{context}");
                        // With UMP the sender may not know of up to half a lap of slots that were
                        // read already, and with both back ends of up to half the body.
                        let slack = match backend {
                            Backend::Ump => slots / 2 - 1,
                            Backend::FastForward => 0,
                        };
                        let (needed, body) = takes(sent, len);
                        let no_slot = sent - read + needed + slack > slots;
                        let (mut at, mut taken) = (read, 0);
                        for (_, message) in &model {
                            let (slots, lines) = takes(at, message.len());
                            (at, taken) = (at + slots, taken + lines);
                        }
                        assert_eq!(at, sent, "{context}");
                        let no_body = taken + body + (lines / 2 - 1) > lines;
                        let full = no_slot || (body > 0 && no_body);
                        assert!(full, "{context}: full at {} and {taken}", sent - read);
                    }
                    Err(other) => panic!("{context}: {other}"),
                }
            } else {
                let mut buffer = vec![0; rng.usize(..=max)];
                assert_eq!(receiver.can_receive(), !model.is_empty(), "{context}");
                match receiver.try_receive(&mut buffer) {
                    Ok(got) => {
                        let (tag, payload) = model.pop_front().expect(&context);
                        read += takes(read, payload.len()).0;
                        assert_eq!((got.tag, got.len), (tag, payload.len()), "{context}");
                        assert_eq!(buffer[..got.len], payload, "{context}");
                    }
                    Err(TryReceiveError::Empty) => assert!(model.is_empty(), "{context}"),
                    Err(TryReceiveError::BufferTooSmall { needed, given }) => {
                        let (tag, front) = model.front().expect(&context);
                        assert_eq!((needed, given), (front.len(), buffer.len()), "{context}");
                        assert!(needed > given, "{context}");
                        let next = receiver.peek().expect(&context);
                        assert_eq!((next.len, next.tag), (needed, *tag), "{context}");
                    }
                    Err(other) => panic!("{context}: {other}"),
                }
            }
        }
    }
}

/// Threads exchange messages of every length. Each arrives once, whole and in order.
#[test]
fn every_message_arrives_once_whole_and_in_order() {
    for backend in Backend::ALL {
        for wait_config in [
            WaitConfig::BALANCED,
            WaitConfig::OVERSUBSCRIBED,
            WaitConfig::PARK,
        ] {
            let (mut sender, mut receiver) = make(backend, 8, wait_config);
            let max = sender.message_bytes_max();
            let count = 20_000u64;
            let lengths = move |i: u64| (i * 7919 % (max as u64 + 1)) as usize;
            let other = thread::spawn(move || {
                let mut rng = fastrand::Rng::with_seed(1);
                for i in 0..count {
                    if rng.u32(..2000) == 0 {
                        thread::sleep(Duration::from_micros(rng.u64(..500)));
                    }
                    sender
                        .send_tagged(i as u32 & TAG_MAX, &message(i, lengths(i)))
                        .unwrap();
                }
            });
            let mut rng = fastrand::Rng::with_seed(2);
            let mut buffer = vec![0; max];
            for i in 0..count {
                if rng.u32(..2000) == 0 {
                    thread::sleep(Duration::from_micros(rng.u64(..500)));
                }
                let got = receiver.receive(&mut buffer).unwrap();
                assert_eq!((got.tag, got.len), (i as u32 & TAG_MAX, lengths(i)));
                assert_eq!(buffer[..got.len], message(i, lengths(i)));
            }
            assert_eq!(
                receiver.receive(&mut buffer),
                Err(ReceiveError::Ended(Gone))
            );
            other.join().unwrap();
        }
    }
}

#[test]
fn a_message_that_does_not_fit_the_buffer_stays() {
    let (mut sender, mut receiver) = make(Backend::Ump, 8, WaitConfig::BALANCED);
    sender.send(b"0123456789").unwrap();
    let error = receiver.receive(&mut [0; 4]).unwrap_err();
    let (needed, given) = (10, 4);
    assert_eq!(error, ReceiveError::BufferTooSmall { needed, given });
    let mut buffer = [0; 10];
    assert_eq!(receiver.receive(&mut buffer).unwrap().len, 10);
    assert_eq!(&buffer, b"0123456789");
}

#[test]
fn a_message_that_is_too_long_is_refused_whole() {
    for backend in Backend::ALL {
        let (mut sender, mut receiver) = make(backend, 4, WaitConfig::BALANCED);
        let error = sender.send(&[0; 569]).unwrap_err();
        assert_eq!(error, SendError::TooLong { len: 569, max: 568 });
        assert_eq!(
            receiver.try_receive(&mut [0; 8]),
            Err(TryReceiveError::Empty)
        );
    }
}

#[test]
fn a_sender_that_waits_for_a_receiver_that_goes_is_told() {
    for backend in Backend::ALL {
        let (mut sender, receiver) = make(backend, 2, WaitConfig::BALANCED);
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            drop(receiver);
        });
        let ended = (0..10).find_map(|_| sender.send(&[1]).err());
        assert_eq!(ended, Some(SendError::Ended(Gone)));
        assert_eq!(sender.try_send(&[1]), Err(TrySendError::Gone(Gone)));
        other.join().unwrap();
    }
}

#[test]
fn a_receiver_gets_what_was_sent_before_the_sender_went() {
    for backend in Backend::ALL {
        let (mut sender, mut receiver) = make(backend, 8, WaitConfig::PARK);
        sender.send(b"last words").unwrap();
        drop(sender);
        let mut buffer = [0; 16];
        assert_eq!(receiver.try_receive(&mut buffer).unwrap().len, 10);
        assert_eq!(
            receiver.try_receive(&mut buffer),
            Err(TryReceiveError::Gone(Gone))
        );
    }
}

/// Many more pairs of threads than CPUs bounce messages, and all end, whatever the wait
/// configuration.
#[test]
fn oversubscribed_pairs_make_progress() {
    for wait_config in [
        WaitConfig::BALANCED,
        WaitConfig::OVERSUBSCRIBED,
        WaitConfig::PARK,
    ] {
        let pairs: Vec<_> = (0..6)
            .map(|_| {
                let options = Options {
                    slots: 4,
                    wait_config,
                    ..Options::default()
                };
                let (mut here, mut there) = queue::pair(&options).unwrap();
                let echo = thread::spawn(move || {
                    let mut word = [0; 8];
                    while there.receive(&mut word).is_ok() {
                        there.send(&word).unwrap();
                    }
                });
                let driver = thread::spawn(move || {
                    for i in 0..300u64 {
                        here.send(&i.to_ne_bytes()).unwrap();
                        let mut word = [0; 8];
                        here.receive(&mut word).unwrap();
                        assert_eq!(u64::from_ne_bytes(word), i);
                    }
                });
                (driver, echo)
            })
            .collect();
        for (driver, echo) in pairs {
            driver.join().unwrap();
            echo.join().unwrap();
        }
    }
}

#[test]
fn a_waiting_receiver_sleeps() {
    let (mut sender, mut receiver) = make(Backend::Ump, 8, WaitConfig::BALANCED);
    let number = Number::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            number.tell();
            receiver.receive(&mut [0; 8]).unwrap();
        });
        let sleeper = Sleeper::seen(&number);
        thread::sleep(Duration::from_millis(1000));
        sleeper.has_slept();
        sender.send(&[1]).unwrap();
    });
}

#[test]
fn symmetric_and_asymmetric_fences_are_told_apart() {
    let kind = corecast_wire::fence_kind();
    assert_eq!(kind, corecast_wire::fence_kind());
}

#[test]
#[should_panic(expected = "a power of two of slots, at least 2; 3 was asked for")]
fn an_odd_number_of_slots_is_refused() {
    make(Backend::Ump, 3, WaitConfig::BALANCED);
}

#[test]
fn segments_too_small_for_a_queue_are_errors() {
    let wait_strategy =
        || corecast_wire::WaitStrategy::new(WaitConfig::BALANCED, Segment::one(None).unwrap());
    let (a, b) = (wait_strategy(), wait_strategy());
    let small = Segment::new(1, None).unwrap();
    let error = queue::join(
        Backend::Ump,
        Capacity::of(128),
        0,
        (&a, &small),
        (&b, &small),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the segment has 4096 bytes left, 8192 are wanted"
    );
}

#[test]
fn queues_without_end_are_refused() {
    for slots in [1 << 63, 1 << 61, 1 << 58, 1 << 57, 1 << 46] {
        let options = Options {
            slots,
            ..Options::default()
        };
        for error in [
            queue::queue(&options).map(|_| ()).unwrap_err(),
            queue::pair(&options).map(|_| ()).unwrap_err(),
        ] {
            let said = error.to_string();
            assert!(
                said.contains(" bytes") && said.contains("fewer slots"),
                "{said}"
            );
        }
        let memory = Segment::new(1 << 16, None).unwrap();
        let capacity = Capacity::of(slots);
        let error = queue::parts(capacity, 0, &memory, &memory).unwrap_err();
        assert!(error.to_string().starts_with("the segment has "), "{error}");
        assert!(queue::message_bytes_max(slots) > 1 << 20);
    }
}

/// Memory that a queue would fill at once is refused before the system has to kill a process for it.
#[test]
fn a_queue_of_more_than_the_machine_has_is_refused() {
    let options = Options {
        slots: 1 << 34,
        ..Options::default()
    };
    // 9 TiB.
    let error = queue::queue(&options).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("bytes"), "{error}");
}

#[test]
fn broadcast_rings_without_end_are_refused() {
    let memory = Segment::new(1 << 16, None).unwrap();
    for (readers, body_lines) in [(1 << 57, 0), (usize::MAX, 1), (1 << 56, 4)] {
        let shape = Shape::new(readers, body_lines);
        assert!(shape.bytes() > 1 << 62);
        let error = broadcast_ring::parts(0, shape, &memory).unwrap_err();
        assert!(error.to_string().starts_with("the segment has "), "{error}");
    }
    for body_lines in [1 << 60, usize::MAX, 1 << 58] {
        let shape = Shape::new(1, body_lines);
        assert!(shape.bytes() > 1 << 62);
        let error = broadcast_ring::parts(0, shape, &memory).unwrap_err();
        assert!(error.to_string().starts_with("the segment has "), "{error}");
    }
}

/// Two senders would write the same slot at the same time.
#[test]
fn each_end_can_be_taken_once() {
    let memory = Segment::new(1 << 16, None).unwrap();
    let parts = queue::parts(Capacity::of(4), 0, &memory, &memory).unwrap();
    let [one, other] =
        [(); 2].map(|()| WaitStrategy::new(WaitConfig::PARK, Segment::one(None).unwrap()));
    let ends = (
        parts.sender(Backend::Ump, &one, &other),
        parts.receiver(Backend::Ump, &other, &one),
    );
    taken(|| parts.sender(Backend::Ump, &one, &other));
    taken(|| parts.receiver(Backend::Ump, &other, &one));
    drop(ends);
    taken(|| parts.sender(Backend::Ump, &one, &other));

    let kind = corecast_wire::fence_kind();
    let bells = [one.parker().clone(), other.parker().clone()];
    let parts = broadcast_ring::parts(0, Shape::new(2, 1), &memory).unwrap();
    let ends = (
        parts.writer(&bells, kind),
        [0, 1].map(|index| parts.reader(index, &bells[0], kind)),
    );
    taken(|| parts.writer(&bells, kind));
    taken(|| parts.reader(0, &bells[0], kind));
    taken(|| parts.reader(1, &bells[0], kind));
    drop(ends);
}

/// Asserts that an end was taken before.
#[track_caller]
fn taken<T>(end: impl FnOnce() -> T) {
    let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(end)).map(|_| ());
    let said = *end.unwrap_err().downcast::<String>().unwrap();
    assert!(said.contains("was taken before"), "{said}");
}
