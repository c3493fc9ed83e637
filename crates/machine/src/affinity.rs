//! Pins the calling thread, and finds out whether the pinning took effect and still holds.
//!
//! Containers refuse `sched_setaffinity`, accept it without effect, or change a thread's mask
//! later (a cpuset update, CPU hot-unplug). So nothing here trusts a return value: each change is
//! read back, and [`pin_state`] can be asked again at any time.
//!
//! The kernel's interface as used here takes numbers below 1024; larger machines are discovered
//! in full, and pinning beyond is refused with [`PinError::OutOfRange`].

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::{fs, io};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::cpulist::CpuList;

/// The first number that the kernel's mask, as used here, cannot hold.
pub const PIN_LIMIT: u32 = CpuSet::MAX_CPU as u32;

/// Why a thread could not be confined. Nothing was changed, except where the message says so.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The set of PUs is empty.
    #[error("cannot confine a thread to no PU at all; name at least one")]
    Empty,
    /// A number does not fit the kernel's mask.
    #[error(
        "cannot pin to PU {os_index}: only PUs below {PIN_LIMIT} can be pinned to; run on those or unpinned"
    )]
    OutOfRange {
        /// The number asked for.
        os_index: u32,
    },
    /// None of the PUs is online and within the process's cpuset.
    #[error(
        "cannot pin to PU {wanted}: offline or outside this container's cpuset; this thread may use {allowed}"
    )]
    NotAllowed {
        /// The PUs asked for.
        wanted: CpuList,
        /// The thread's mask as it is.
        allowed: CpuList,
    },
    /// The system refused the call, as seccomp profiles of containers do.
    #[error(
        "cannot pin to PU {wanted}: the system refused ({reason}); run unpinned or permit sched_setaffinity"
    )]
    Refused {
        /// The PUs asked for.
        wanted: CpuList,
        /// The error of the system.
        reason: io::Error,
    },
    /// The call succeeded but the mask reads back differently; the thread has the mask `found`.
    #[error(
        "pinning to PU {wanted} had no effect: the thread's mask reads {found}; treat it as unpinned"
    )]
    NoEffect {
        /// The PUs asked for.
        wanted: CpuList,
        /// The mask that was read back.
        found: CpuList,
    },
}

/// The state of an earlier pinning of the calling thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinState {
    /// The mask holds the one PU and the thread runs there.
    Held,
    /// The mask has been changed since, by the system or by another library.
    Lost {
        /// The mask as it is now.
        mask: CpuList,
    },
    /// The mask holds the one PU, yet the thread runs on another one: a sandbox that only
    /// pretends to pin.
    Ignored {
        /// The PU on which the thread runs.
        runs_on: u32,
    },
    /// The state is unknown, because the system does not tell.
    Unknown,
}

/// A successful change of the calling thread's mask.
///
/// Dropping it leaves the thread confined; [`Pinning::restore`] undoes it and
/// [`Pinning::guard`] undoes it at the end of a scope. It cannot leave its thread:
///
/// ```compile_fail,E0277
/// fn sendable<T: Send>() {}
/// sendable::<corecast_machine::Pinning>();
/// ```
#[derive(Debug)]
#[must_use = "tells whether the pinning was confirmed, and can restore the previous mask"]
pub struct Pinning {
    wanted: CpuList,
    previous: CpuList,
    confirmed: bool,
    /// Masks belong to threads: a restore from another thread would change the wrong one.
    this_thread: PhantomData<*const ()>,
}

impl Pinning {
    /// The PUs that the thread is confined to.
    pub fn pus(&self) -> &CpuList {
        &self.wanted
    }

    /// The thread's mask before; empty where it could not be read.
    pub fn previous(&self) -> &CpuList {
        &self.previous
    }

    /// Whether the thread was seen running within the mask afterwards. False under sandboxes
    /// that keep a mask without obeying it, and where the current PU cannot be asked for.
    pub fn confirmed(&self) -> bool {
        self.confirmed
    }

    /// Gives the thread its previous mask back.
    ///
    /// # Errors
    ///
    /// Those of [`confine_current`]; [`PinError::Empty`] where the previous mask was not known.
    pub fn restore(self) -> Result<(), PinError> {
        restore(&self.previous)
    }

    /// Restores the previous mask when the guard is dropped.
    pub fn guard(self) -> PinGuard {
        PinGuard { pinning: self }
    }
}

/// Restores the thread's previous mask when dropped, as far as the system permits.
///
/// # Examples
///
/// ```
/// use corecast_machine::{current_pu, pin_current};
///
/// let Some(pu) = current_pu() else { return };
/// match pin_current(pu) {
///     Ok(pinning) => {
///         let _guard = pinning.guard();
///         // Runs on `pu` until the end of this scope.
///     }
///     Err(error) => eprintln!("running unpinned: {error}"),
/// }
/// ```
#[derive(Debug)]
#[must_use = "the mask is restored as soon as the guard is dropped"]
pub struct PinGuard {
    pinning: Pinning,
}

impl PinGuard {
    /// The pinning that is undone at the end.
    pub fn pinning(&self) -> &Pinning {
        &self.pinning
    }

    /// Leaves the thread confined when the guard is dropped.
    pub fn keep(mut self) {
        self.pinning.previous = CpuList::new();
    }
}

impl Drop for PinGuard {
    fn drop(&mut self) {
        // No caller is there to hear of a failure, and a thread that stays confined does no harm.
        let _ = restore(&self.pinning.previous);
    }
}

/// Pins the calling thread to one PU, by the operating system's number, and checks that this had
/// effect.
///
/// # Errors
///
/// Any reason why the thread is not pinned; it then runs on as before. The function never panics.
///
/// # Examples
///
/// ```
/// use corecast_machine::{PinState, pin_current, pin_state, process_mask};
///
/// if let Some(pu) = process_mask().first()
///     && let Ok(pinning) = pin_current(pu)
/// {
///     assert!(!pinning.confirmed() || pin_state(pu) == PinState::Held);
///     pinning.restore()?;
/// }
/// # Ok::<(), corecast_machine::PinError>(())
/// ```
pub fn pin_current(os_index: u32) -> Result<Pinning, PinError> {
    confine_current(&CpuList::from([os_index]))
}

/// Confines the calling thread to a set of PUs and checks that this had effect.
///
/// # Errors
///
/// Those of [`pin_current`], and [`PinError::NoEffect`] where only a part of `pus` may be used. The
/// thread is then confined to that part.
pub fn confine_current(pus: &CpuList) -> Result<Pinning, PinError> {
    let mask = to_mask(pus)?;
    // The process's mask is read before the first change, so that `process_mask` stays what it was
    // at the start.
    process_mask();
    let previous = current_mask().unwrap_or_default();
    let found = set(pus, &mask)?;
    if let Some(found) = found.as_ref().filter(|found| *found != pus) {
        return Err(PinError::NoEffect {
            wanted: pus.clone(),
            found: found.clone(),
        });
    }
    let confirmed = found.is_some() && current_pu().is_some_and(|pu| pus.contains(pu));
    Ok(Pinning {
        wanted: pus.clone(),
        previous,
        confirmed,
        this_thread: PhantomData,
    })
}

/// The PU that the calling thread runs on at this moment; `None` where the system does not tell.
pub fn current_pu() -> Option<u32> {
    u32::try_from(sched_getcpu())
        .ok()
        .filter(|&pu| pu <= CpuList::MAX)
}

/// The PUs that the calling thread may run on.
///
/// # Errors
///
/// The error of the system, where neither the call nor `/proc` tells.
pub fn current_mask() -> io::Result<CpuList> {
    mask_of(None).or_else(|error| mask_in_proc("/proc/thread-self/status").ok_or(error))
}

/// The PUs that the process was allowed to use when Corecast first asked; empty where the system
/// does not tell.
///
/// "First asked" is at the latest the moment before Corecast's first pinning, so a thread's own
/// pinning never hides PUs from discovery. Where the calling thread was confined by others (an
/// OpenMP library binds its threads, for example), the main thread's mask is added.
pub fn process_mask() -> &'static CpuList {
    static START: OnceLock<CpuList> = OnceLock::new();
    START.get_or_init(|| {
        let own = current_mask().unwrap_or_default();
        let main = mask_of(Some(rustix::process::getpid()));
        let main = main
            .ok()
            .or_else(|| mask_in_proc("/proc/self/status"))
            .unwrap_or_default();
        own.union(&main)
    })
}

/// Says whether the calling thread is still confined to the one PU, and runs there.
///
/// # Cost
///
/// One system call: for checks between phases, not between operations.
pub fn pin_state(os_index: u32) -> PinState {
    state(os_index, current_mask(), current_pu)
}

fn state(
    os_index: u32,
    mask: io::Result<CpuList>,
    runs_on: impl FnOnce() -> Option<u32>,
) -> PinState {
    match mask {
        Err(_) => PinState::Unknown,
        Ok(mask) if mask.as_slice() != [os_index] => PinState::Lost { mask },
        Ok(_) => match runs_on() {
            Some(runs_on) if runs_on != os_index => PinState::Ignored { runs_on },
            Some(_) => PinState::Held,
            None => PinState::Unknown,
        },
    }
}

/// A thread of this process, so that others can ask for its pinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(Pid);

impl ThreadId {
    /// The calling thread.
    pub fn current() -> Self {
        Self(rustix::thread::gettid())
    }
}

/// Says what [`pin_state`] says, of any thread of this process; [`PinState::Unknown`] when it has
/// ended.
///
/// # Cost
///
/// One system call and one small file.
pub fn pin_state_of(thread: ThreadId, os_index: u32) -> PinState {
    // The file exists for threads of this process alone, while the system call takes those of any
    // process: the kernel gives the numbers of threads that have ended to new ones.
    let path = format!("/proc/self/task/{}/stat", thread.0.as_raw_nonzero());
    let Ok(stat) = fs::read_to_string(path) else {
        return PinState::Unknown;
    };
    state(os_index, mask_of(Some(thread.0)), || last_pu(&stat))
}

/// Field 39 of `/proc/…/stat`, counted from 1; the second is a name in brackets that may hold
/// anything.
fn last_pu(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(36)?.parse().ok()
}

/// Whether an earlier [`pin_current`] of the calling thread still holds; [`pin_state`] says more.
pub fn still_pinned(os_index: u32) -> bool {
    pin_state(os_index) == PinState::Held
}

fn mask_of(thread: Option<Pid>) -> io::Result<CpuList> {
    let set = sched_getaffinity(thread)?;
    Ok((0..PIN_LIMIT)
        .filter(|&pu| set.is_set(pu as usize))
        .collect())
}

/// The mask as `/proc` shows it, for kernels whose masks are longer than `CpuSet`.
fn mask_in_proc(path: &str) -> Option<CpuList> {
    let status = fs::read_to_string(path).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    line.parse().ok()
}

/// Gives the calling thread an earlier mask back, or what is left of it: PUs may have gone
/// offline, and those beyond `PIN_LIMIT` are out of reach.
fn restore(previous: &CpuList) -> Result<(), PinError> {
    let within = previous.iter().filter(|&pu| pu < PIN_LIMIT).collect();
    match set(&within, &to_mask(&within)?)? {
        Some(found) if !found.is_subset(&within) => Err(PinError::NoEffect {
            wanted: within,
            found,
        }),
        _ => Ok(()),
    }
}

fn to_mask(pus: &CpuList) -> Result<CpuSet, PinError> {
    match pus.last() {
        None => Err(PinError::Empty),
        Some(os_index) if os_index >= PIN_LIMIT => Err(PinError::OutOfRange { os_index }),
        Some(_) => {
            let mut mask = CpuSet::new();
            pus.iter().for_each(|pu| mask.set(pu as usize));
            Ok(mask)
        }
    }
}

/// Sets the calling thread's mask and reads it back; `None` where it cannot be read.
fn set(wanted: &CpuList, mask: &CpuSet) -> Result<Option<CpuList>, PinError> {
    sched_setaffinity(None, mask).map_err(|errno| match errno {
        rustix::io::Errno::INVAL => PinError::NotAllowed {
            wanted: wanted.clone(),
            allowed: current_mask().unwrap_or_default(),
        },
        errno => PinError::Refused {
            wanted: wanted.clone(),
            reason: errno.into(),
        },
    })?;
    Ok(current_mask().ok())
}
