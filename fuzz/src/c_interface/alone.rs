//! Queues and barriers, which need no team, against models of them.

use super::data::Buffer;
use super::settings::any_text;
use super::statuses::{number, refused, told};
use arbitrary::{Result, Unstructured};
use corecast_c::barrier::*;
use corecast_c::queue::*;
use corecast_c::status::Status;
use corecast_wire::sync::{AtomicU64, Ordering};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The largest tag.
const TAG_MAX: u32 = (1 << 24) - 1;

/// Both ends of a queue on one thread.
pub(super) fn queue(u: &mut Unstructured) -> Result<()> {
    let (mut sender, mut receiver) = (null_mut(), null_mut());
    let (backend, waiting) = (any_text(u)?, any_text(u)?);
    let backend = [
        c"ump".as_ptr(),
        c"fastforward".as_ptr(),
        null(),
        backend.as_ptr(),
    ][u.choose_index(4)?];
    let waiting = if u.ratio(3, 4)? {
        null()
    } else {
        waiting.as_ptr()
    };
    // Large ones take too much memory.
    let slots = number(u)?;
    let slots = if (1 << 12..=1 << 20).contains(&slots) {
        64
    } else {
        slots
    };
    let nodes: [i32; 2] = match u.int_in_range(0..=3)? {
        0 => u.arbitrary()?,
        _ => [ANY_NODE; 2],
    };
    // SAFETY: texts that end, and places for handles; here and below, handles that live until they are freed.
    let mut made = || unsafe {
        let [at, to] = nodes;
        refused(corecast_queue_new(
            slots,
            backend,
            waiting,
            at,
            to,
            null_mut(),
            &raw mut receiver,
        ));
        told(corecast_queue_new(
            slots,
            backend,
            waiting,
            at,
            to,
            &raw mut sender,
            &raw mut receiver,
        ))
    };
    match made() {
        Status::Ok => {}
        status => {
            assert!(
                matches!(status, Status::Invalid | Status::Failed),
                "{status:?}"
            );
            assert!(sender.is_null() && receiver.is_null());
            return Ok(());
        }
    }
    // SAFETY: as above.
    let max = unsafe { corecast_sender_message_bytes_max(sender) };
    let mut model: VecDeque<(u32, Vec<u8>)> = VecDeque::new();
    for _ in 0..60 {
        if u.is_empty() {
            break;
        }
        let mut message = Message { bytes: 0, tag: 0 };
        let (message_at, mut answer) = (&raw mut message, false);
        match u.int_in_range(0..=4)? {
            0 | 1 => {
                let len = *u.choose(&[0, 1, 56, 57, 1000, max, max + 1])?;
                let payload = Buffer::new(&vec![u.arbitrary()?; len.min(1 << 16)]);
                let len = payload.bytes().len();
                let tag = if u.ratio(1, 8)? { u.arbitrary()? } else { 7 };
                let is_null = u.ratio(1, 8)? && len > 0;
                let data: *const c_void = if is_null { null() } else { payload.place() };
                // SAFETY: as above, and a buffer of that length.
                let status =
                    unsafe { corecast_sender_try_send(sender, tag, data, len, &raw mut answer) };
                let is_wrong = tag > TAG_MAX || is_null || len > max;
                assert_eq!(
                    told(status),
                    if is_wrong {
                        Status::Invalid
                    } else {
                        Status::Ok
                    }
                );
                assert!(!(is_wrong && answer) && (answer || is_wrong || !model.is_empty()));
                if answer {
                    model.push_back((tag, payload.bytes().to_vec()));
                }
            }
            2 | 3 => {
                let capacity = *u.choose(&[0, 1, 56, 2000, 1 << 16])?;
                let buffer = Buffer::unwritten(capacity);
                // A wait for nothing would not end.
                let waits = u.arbitrary()? && !model.is_empty();
                // SAFETY: as above.
                let status = unsafe {
                    match waits {
                        true => corecast_receiver_receive(
                            receiver,
                            buffer.place(),
                            capacity,
                            message_at,
                        ),
                        false => corecast_receiver_try_receive(
                            receiver,
                            buffer.place(),
                            capacity,
                            message_at,
                            &raw mut answer,
                        ),
                    }
                };
                buffer.check();
                let Some((tag, payload)) = model.front() else {
                    assert_eq!((told(status), answer), (Status::Ok, false));
                    continue;
                };
                assert_eq!((message.bytes, message.tag), (payload.len(), *tag));
                if payload.len() > capacity {
                    refused(status);
                    continue;
                }
                assert_eq!(told(status), Status::Ok);
                assert!(answer != waits && buffer.bytes()[..payload.len()] == payload[..]);
                model.pop_front();
            }
            _ => {
                // SAFETY: as above.
                let status =
                    unsafe { corecast_receiver_peek(receiver, message_at, &raw mut answer) };
                assert_eq!((told(status), answer), (Status::Ok, !model.is_empty()));
                if let Some((tag, payload)) = model.front() {
                    assert_eq!((message.bytes, message.tag), (payload.len(), *tag));
                }
            }
        }
    }
    // SAFETY: as above; NULL is refused, and freed without effect.
    unsafe {
        refused(corecast_sender_send(null_mut(), 0, null(), 0));
        refused(corecast_receiver_receive(
            null_mut(),
            null_mut(),
            0,
            null_mut(),
        ));
        refused(corecast_receiver_peek(receiver, null_mut(), null_mut()));
        assert_eq!(told(corecast_sender_free(null_mut())), Status::Ok);
        assert_eq!(told(corecast_sender_free(sender)), Status::Ok);
        let mut message = Message { bytes: 0, tag: 0 };
        let buffer = Buffer::unwritten(1 << 16);
        for (tag, payload) in model {
            let status =
                corecast_receiver_receive(receiver, buffer.place(), 1 << 16, &raw mut message);
            assert_eq!(told(status), Status::Ok);
            assert_eq!((message.tag, message.bytes), (tag, payload.len()));
        }
        let status = corecast_receiver_receive(receiver, buffer.place(), 1 << 16, &raw mut message);
        assert_eq!(told(status), Status::Closed);
        assert_eq!(told(corecast_receiver_free(receiver)), Status::Ok);
    }
    Ok(())
}

/// Counts the ends of phases.
///
/// # Safety
///
/// `context` is a counter.
unsafe extern "C" fn complete(context: *mut c_void) {
    // SAFETY: the caller's promise. Relaxed: there is one thread.
    unsafe { &*context.cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

/// A barrier at which one thread arrives for all.
pub(super) fn barrier(u: &mut Unstructured) -> Result<()> {
    let (expected, waiting) = (number(u)?, any_text(u)?);
    let waiting = if u.arbitrary()? {
        null()
    } else {
        waiting.as_ptr()
    };
    let completions = AtomicU64::new(0);
    let (context, mut barrier) = ((&raw const completions).cast_mut().cast(), null_mut());
    // SAFETY: a text that ends, a counter that outlives the barrier, and places; here and below, a handle
    // that lives until it is freed.
    let made = unsafe {
        refused(corecast_barrier_new(
            expected,
            waiting,
            Some(complete),
            context,
            null_mut(),
        ));
        told(corecast_barrier_new(
            expected,
            waiting,
            Some(complete),
            context,
            &raw mut barrier,
        ))
    };
    if made != Status::Ok {
        assert!(barrier.is_null() && made == Status::Invalid);
        return Ok(());
    }
    assert!(expected <= corecast_barrier_max());
    let (mut expected, mut missing, mut ended) = (expected, expected, 0);
    for _ in 0..40 {
        if u.is_empty() {
            break;
        }
        let mut phase = 0;
        let choice = u.int_in_range(0..=3)?;
        let arrivals = if choice == 0 { number(u)? } else { 1 };
        let is_alone = missing == 1;
        // SAFETY: as above.
        let status = unsafe {
            match choice {
                0 => corecast_barrier_arrive(barrier, arrivals, &raw mut phase),
                1 if is_alone => corecast_barrier_arrive_and_wait(barrier),
                2 => corecast_barrier_arrive_and_drop(barrier),
                _ => corecast_barrier_arrive(barrier, arrivals, null_mut()),
            }
        };
        let fits = arrivals > 0 && arrivals <= missing;
        assert_eq!(
            told(status),
            if fits { Status::Ok } else { Status::Invalid },
            "{arrivals} of {missing}"
        );
        if fits {
            missing -= arrivals;
            expected -= usize::from(choice == 2);
            if missing == 0 {
                (missing, ended) = (expected, ended + 1);
                if choice == 0 {
                    // SAFETY: as above. This phase is over.
                    assert_eq!(
                        told(unsafe { corecast_barrier_wait(barrier, phase) }),
                        Status::Ok
                    );
                }
            }
        }
        assert_eq!(completions.load(Ordering::Relaxed), ended);
    }
    // SAFETY: as above; NULL is refused.
    unsafe {
        refused(corecast_barrier_wait(barrier, u32::MAX));
        refused(corecast_barrier_wait(null(), 0));
        refused(corecast_barrier_arrive(null(), 1, null_mut()));
        refused(corecast_barrier_arrive_and_wait(null()));
        refused(corecast_barrier_arrive_and_drop(null()));
        corecast_barrier_free(null_mut());
        corecast_barrier_free(barrier);
    }
    Ok(())
}
