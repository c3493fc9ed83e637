//! From wishes to a team.

use crate::memory::{give, numbers, word};
use crate::status::{Refusal, StatusCode, entry};
use crate::team::Team;
use corecast::machine::{self};
use corecast::model::profile::Start;
use corecast::process::Address;
use corecast::{Algorithms, MachineFile, Policy, Waiting};
use std::ffi::c_char;
use std::fmt::Display;
use std::time::Duration;

/// Makes teams. Whatever is not said is found out: the machine, its costs, the plans. What was said
/// stays: one builder can make several teams.
#[derive(Debug)]
pub struct Builder {
    inner: corecast::Builder,
}

/// Any rank, among those that a process wishes for; cbindgen.toml has it for C, as `SIZE_MAX`.
pub const ANY_RANK: usize = usize::MAX;

/// Changes what a builder has been told.
///
/// # Safety
///
/// `builder` is NULL, or a live handle that nobody else uses meanwhile.
unsafe fn tell(
    builder: *mut Builder,
    change: impl FnOnce(corecast::Builder) -> Result<corecast::Builder, Refusal>,
) -> StatusCode {
    entry(|| {
        // SAFETY: NULL, or the caller's promise.
        let builder = unsafe { builder.as_mut() }.ok_or_else(|| Refusal::null("builder"))?;
        builder.inner = change(builder.inner.clone())?;
        Ok(())
    })
}

fn refuse(error: impl Display) -> Refusal {
    Refusal::invalid(error.to_string())
}

/// A builder that has been told nothing: one rank for each PU that this process may use.
///
/// Threads: any.
///
/// # Safety
///
/// `builder` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_new(builder: *mut *mut Builder) -> StatusCode {
    entry(|| {
        if builder.is_null() {
            return Err(Refusal::null("builder"));
        }
        let inner = corecast::Builder::new();
        // SAFETY: the caller's promise.
        unsafe {
            give(
                "builder",
                builder,
                Box::into_raw(Box::new(Builder { inner })),
            )
        }
    })
}

/// Frees a builder. NULL is nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle, which is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_free(builder: *mut Builder) {
    if !builder.is_null() {
        // SAFETY: made by `corecast_builder_new`, and the caller's promise.
        drop(unsafe { Box::from_raw(builder) });
    }
}

/// `ranks` ranks on the usable PUs, one NUMA node after the other. More ranks than PUs go around
/// them, unpinned unless `corecast_builder_pin` says otherwise.
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

/// One rank for each PU of a list such as "0-3,8", in its order.
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
            list.parse::<machine::CpuList>().map_err(refuse)?;
            Ok(builder.cores(list))
        })
    }
}

/// Plans for the costs in this machine file instead of this machine's own.
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

/// Where measured costs and tuned profiles lie, instead of the user's cache folder.
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

/// Runs this pattern, whatever model and races say: "smelt", "binomial", "dissemination:2" and so
/// on. Operations that it cannot do are chosen as if it had not been named.
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
            Ok(builder.pattern(word("pattern", pattern)?.parse().map_err(refuse)?))
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

/// Builds all trees from this rank. Any rank can still be the root of any operation; that of the
/// tree is the fastest.
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

/// Whether threads are pinned: those of `corecast_team_run`, and those that call
/// `corecast_team_pin_here`. By default they are unless there are more ranks than usable PUs.
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

/// How members wait: "spin", "balanced", "park", or for how long a wait may use a CPU before it
/// sleeps, such as "20us". By default as `CORECAST_WAIT` says, else "balanced".
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
    unsafe {
        tell(builder, |builder| {
            let waiting: Waiting = word("waiting", waiting)?.parse().map_err(refuse)?;
            Ok(builder.wait(waiting))
        })
    }
}

/// How members wait, to the nanosecond: polling, then polling with the CPU offered to others, then
/// sleeping, or beginning again where `park` is false.
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
    let policy = Policy {
        spin_ns,
        yield_ns,
        park,
    };
    // SAFETY: as above.
    unsafe { tell(builder, |builder| Ok(builder.policy(policy))) }
}

/// How long a member may sleep for another one before that is `CORECAST_STATUS_STALLED`, in
/// nanoseconds; by default for ever.
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

/// How long a member may sleep for a rank that nobody has joined, and how long processes wait for
/// each other, in nanoseconds; 10 s by default.
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

/// Whether reductions give the same bits on every rank, for every plan, root, length and repetition;
/// false by default.
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

/// Operations that a member can have in flight at a time; 8 by default.
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

/// The queues' protocol: "ump", the default, or "fastforward".
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
            Ok(builder.backend(word("backend", backend)?.parse().map_err(refuse)?))
        })
    }
}

/// Slots of each queue, a power of two, at least 2; 64 by default.
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

/// Takes a tuning that was raced with operations that begin so: "strict", all ranks at one instant,
/// which is the default; or "loose", one operation after the other.
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
            let start: Start = word("start", start)?.parse().map_err(refuse)?;
            Ok(builder.start(start))
        })
    }
}

/// A copy of what a builder has been told.
///
/// # Safety
///
/// `builder` is NULL, or a live handle that nobody changes meanwhile.
unsafe fn told(builder: *const Builder) -> Result<corecast::Builder, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    let builder = unsafe { builder.as_ref() }.ok_or_else(|| Refusal::null("builder"))?;
    Ok(builder.inner.clone())
}

/// Discovers, chooses, and makes a team of threads of this process.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_build(
    builder: *const Builder,
    team: *mut *mut Team,
) -> StatusCode {
    entry(|| {
        if team.is_null() {
            return Err(Refusal::null("team"));
        }
        // SAFETY: the caller's promise.
        let built = unsafe { told(builder) }?.build()?;
        // SAFETY: as above.
        unsafe { give("team", team, Team::boxed(built)) }
    })
}

/// Meets other processes at `address` and becomes one team of `size` ranks with them. This process
/// brings `count` ranks: those in `ranks`, where `CORECAST_ANY_RANK` is any; all of them any, where
/// `ranks` is NULL. Returns when all have come, at the latest after the limit of
/// `corecast_builder_join_limit`.
///
/// An address with a '/' is a path, at which a socket stands meanwhile; any other one is a name of
/// up to 80 bytes that this user's processes share. The process that comes first chooses for all.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `address` is a text that ends; `ranks` is NULL or has `count`
/// numbers; `team` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_enter(
    builder: *const Builder,
    address: *const c_char,
    size: usize,
    ranks: *const usize,
    count: usize,
    team: *mut *mut Team,
) -> StatusCode {
    entry(|| {
        if team.is_null() {
            return Err(Refusal::null("team"));
        }
        if count == 0 || count > size {
            return Err(Refusal::invalid(format!(
                "this process brings {count} ranks to a team of {size}: bring at least one, and no more \
                 than there are"
            )));
        }
        // SAFETY: the caller's promise.
        let address = unsafe { word("address", address)? };
        let address = match address.contains('/') {
            true => Address::Path(address.into()),
            false => Address::Name(address.to_owned()),
        };
        let wishes: Vec<Option<usize>> = match ranks.is_null() {
            true => vec![None; count],
            false => {
                // SAFETY: as above.
                let ranks = unsafe { numbers("ranks", ranks, count)? };
                let wish = |&rank: &usize| (rank != ANY_RANK).then_some(rank);
                ranks.iter().map(wish).collect()
            }
        };
        if let Some(rank) = wishes.iter().flatten().find(|&&rank| rank >= size) {
            return Err(Refusal::invalid(format!(
                "rank {rank} is outside of a team of {size}"
            )));
        }
        // SAFETY: as above.
        let met = unsafe { told(builder) }?.enter(&address, size, &wishes)?;
        // SAFETY: as above.
        unsafe { give("team", team, Team::boxed(met)) }
    })
}

/// Becomes part of the team that this process was started for by a launcher such as
/// `corecast run -n 4 -- PROGRAM`. Gives NULL where there was none: that is no error.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_inherited(
    builder: *const Builder,
    team: *mut *mut Team,
) -> StatusCode {
    entry(|| {
        if team.is_null() {
            return Err(Refusal::null("team"));
        }
        // SAFETY: the caller's promise.
        let inherited = unsafe { told(builder) }?.inherited()?;
        let inherited = inherited.map_or(std::ptr::null_mut(), Team::boxed);
        // SAFETY: as above.
        unsafe { give("team", team, inherited) }
    })
}
