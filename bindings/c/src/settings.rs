//! The settings of a builder.

use crate::builder::{Builder, tell};
use crate::memory::word;
use crate::status::{Refusal, StatusCode};
use crate::waiting::of_word;
use corecast::machine::CpuList;
use corecast::model::profile::Start;
use corecast::{Algorithms, MachineFile, WaitConfig};
use std::ffi::c_char;
use std::time::Duration;

/// Asks for `ranks` ranks on the usable PUs, one NUMA node after the other. Where there are more ranks
/// than PUs, several share one, and are not pinned unless `corecast_builder_pin` says so.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_threads(
    builder: *mut Builder,
    ranks: usize,
) -> StatusCode {
    // SAFETY: the caller's promise, also in the functions below.
    unsafe {
        tell(builder, |builder| match ranks {
            0 => Err(Refusal::invalid(
                "a team has at least one rank, 0 were asked for",
            )),
            _ => Ok(builder.threads(ranks)),
        })
    }
}

/// Asks for one rank for each PU of a list such as "0-3,8", in its order.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `list` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_cores(
    builder: *mut Builder,
    list: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            let list = word("list", list)?;
            list.parse::<CpuList>().map_err(Refusal::invalid_of)?;
            Ok(builder.cores(list))
        })
    }
}

/// Plans for the costs in this machine file instead of those of this machine.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `path` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_machine_file(
    builder: *mut Builder,
    path: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            let path = word("path", path)?;
            let text = std::fs::read_to_string(path)
                .map_err(|error| Refusal::invalid(format!("{path:?} cannot be read: {error}")))?;
            let file = MachineFile::from_json(&text)
                .map_err(|error| Refusal::invalid(format!("{path:?}: {error}")))?;
            Ok(builder.machine(file))
        })
    }
}

/// Looks for measured costs and tuned profiles in this folder instead of the user's cache folder.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `folder` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_profile_folder(
    builder: *mut Builder,
    folder: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            Ok(builder.cache_folder(word("folder", folder)?))
        })
    }
}

/// Runs this pattern, whatever the model and measurements say: "smelt", "binomial", "dissemination:2"
/// and so on. For operations that it cannot do Corecast chooses as if none had been named.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `pattern` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_pattern(
    builder: *mut Builder,
    pattern: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            Ok(builder.pattern(
                word("pattern", pattern)?
                    .parse()
                    .map_err(Refusal::invalid_of)?,
            ))
        })
    }
}

/// Uses these algorithms by length, written as in `CORECAST_ALGO`:
/// "allreduce=ring@4K..1M,doubling@..4K;barrier=tree".
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `algorithms` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_algorithms(
    builder: *mut Builder,
    algorithms: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            let text = word("algorithms", algorithms)?;
            let asked: Algorithms = text
                .parse()
                .map_err(|error| Refusal::invalid(format!("{text:?}: {error}")))?;
            Ok(builder.algorithms(asked))
        })
    }
}

/// Builds all trees from this rank. Any rank can still be the root of any operation; this one is the
/// fastest.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_root(builder: *mut Builder, rank: usize) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.root(rank))) }
}

/// Says whether threads are pinned: those of `corecast_team_run`, and those that call
/// `corecast_team_pin_here`. By default they are, unless there are more ranks than usable PUs.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_pin(builder: *mut Builder, pin: bool) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.pin(pin))) }
}

/// Says whether the team learns while it runs which algorithms are fastest: the first calls of an operation at
/// a length race them, and later calls use the winner. By default it does where the environment has
/// `CORECAST_TUNE=online`, and it never does in deterministic teams. In a team of processes the first one
/// decides for all.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_learn(builder: *mut Builder, learn: bool) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.learn(learn))) }
}

/// Sets aside this many bytes of addresses for each rank of a team of processes, of which `corecast_alloc` makes
/// buffers; 0 for none, 1 GiB by default. They take no memory until then. In a team of processes the first one
/// decides for all.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_symmetric(
    builder: *mut Builder,
    bytes: usize,
) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.symmetric(bytes))) }
}

/// Says how members wait: "spin", "balanced", "park", or for how long a wait may use a CPU before it
/// sleeps, such as "20us". The default is what `CORECAST_WAIT` says, else "balanced".
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `waiting` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_wait(
    builder: *mut Builder,
    waiting: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.wait(of_word(waiting)?))) }
}

/// Says how members wait, to the nanosecond: they poll for `spin_ns`, then poll and yield the CPU for
/// `yield_ns`, and then sleep, or begin again where `park` is false.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_policy(
    builder: *mut Builder,
    spin_ns: u32,
    yield_ns: u32,
    park: bool,
) -> StatusCode {
    let wait_config = WaitConfig {
        spin_ns,
        hardware_ns: 0,
        soon_ns: 0,
        yield_ns,
        park,
    };
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.wait_config(wait_config))) }
}

/// Says for how many nanoseconds a member may wait for another one before that is
/// `CORECAST_STATUS_STALLED`. By default there is no limit.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_patience(
    builder: *mut Builder,
    nanoseconds: u64,
) -> StatusCode {
    let patience = Duration::from_nanos(nanoseconds);
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.patience(patience))) }
}

/// Says for how many nanoseconds a member may wait for a rank that nobody has joined, and processes for
/// each other. The default is 10 s.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_join_limit(
    builder: *mut Builder,
    nanoseconds: u64,
) -> StatusCode {
    let limit = Duration::from_nanos(nanoseconds);
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.join_limit(limit))) }
}

/// Says whether reductions give the same bits on every rank, for every plan, root, length and
/// repetition. The default is false.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_deterministic(
    builder: *mut Builder,
    deterministic: bool,
) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.deterministic(deterministic))) }
}

/// Says how many operations a member can have in flight at a time. The default is 8.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_depth(builder: *mut Builder, depth: usize) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.depth(depth))) }
}

/// Says how many bytes the stack of each operation in flight has. Operators run on it, and an algorithm takes some
/// kilobytes. The default is 128 KiB; fewer are as many. Memory is taken for what is used.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_stack(builder: *mut Builder, bytes: usize) -> StatusCode {
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.stack_bytes(bytes))) }
}

/// Chooses the protocol of the team's queues: "ump", the default, or "fastforward".
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `backend` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_backend(
    builder: *mut Builder,
    backend: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            Ok(builder.backend(
                word("backend", backend)?
                    .parse()
                    .map_err(Refusal::invalid_of)?,
            ))
        })
    }
}

/// Says how many slots each of the team's queues has: a power of two, at least 2. The default is 64, and, where
/// ranks share hardware threads, 256 for messages as long as with 64.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_slots(builder: *mut Builder, slots: usize) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            match slots >= 2 && slots.is_power_of_two() {
                true => Ok(builder.slots(slots)),
                false => Err(Refusal::invalid(format!(
                    "a queue has a power of two of slots, at least 2; {slots} were asked for"
                ))),
            }
        })
    }
}

/// Takes a tuning for operations that begin "strict", at all ranks at one instant, which is the default;
/// or "loose", each as soon as the one before has ended.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `start` is a text that ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_start(
    builder: *mut Builder,
    start: *const c_char,
) -> StatusCode {
    // SAFETY: as above.
    unsafe {
        tell(builder, |builder| {
            let start: Start = word("start", start)?.parse().map_err(Refusal::invalid_of)?;
            Ok(builder.start(start))
        })
    }
}
