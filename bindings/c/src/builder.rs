//! The handle of a builder, and the teams that it makes.

use crate::memory::{give, numbers, word};
use crate::status::{Refusal, StatusCode, entry};
use crate::team::Team;
use corecast::process::{Address, RANKS_MAX};
use std::ffi::c_char;

/// Makes teams. What it is not told it finds out: the machine, its costs, the plans. It keeps what it
/// was told, and one builder can make several teams.
#[derive(Debug)]
pub struct Builder {
    inner: corecast::Builder,
}

/// Any rank, among those that a process brings. cbindgen.toml has it for C, as `SIZE_MAX`.
pub const ANY_RANK: usize = usize::MAX;

/// The body of every function that changes a setting: it runs `entry`, checks the handle, and calls `change`.
///
/// # Safety
///
/// `builder` is NULL, or a live handle that nobody else uses meanwhile.
pub(crate) unsafe fn tell(
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

/// Makes a builder that has been told nothing: its team has one rank for each PU that this process may
/// use.
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

/// Frees a builder. NULL is allowed and does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `builder` is NULL or a live handle, which is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_builder_free(builder: *mut Builder) {
    if !builder.is_null() {
        // SAFETY: made by `corecast_builder_new`, and the caller's promise.
        drop(unsafe { Box::from_raw(builder) });
    }
}

/// A copy of a builder with its settings.
///
/// # Safety
///
/// `builder` is NULL, or a live handle that nobody changes meanwhile.
unsafe fn told(builder: *const Builder) -> Result<corecast::Builder, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    let builder = unsafe { builder.as_ref() }.ok_or_else(|| Refusal::null("builder"))?;
    Ok(builder.inner.clone())
}

/// Discovers the machine, chooses, and makes a team of threads of this process.
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

/// Meets other processes at `address` and makes one team of `size` ranks with them. This process
/// brings `count` ranks: those in `ranks`, of which `CORECAST_ANY_RANK` is one that is free; or any
/// free ones, where `ranks` is NULL. Returns when all processes have come, at the latest after the
/// limit of `corecast_builder_join_limit`.
///
/// An address with a '/' is a path, at which there is a socket meanwhile; any other one is a name of
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
        if count > RANKS_MAX {
            return Err(Refusal::invalid(format!(
                "this process brings {count} ranks: it can bring {RANKS_MAX} at most"
            )));
        }
        // SAFETY: the caller's promise.
        let address = unsafe { word("address", address)? };
        let address = match address.contains('/') {
            true => Address::Path(address.into()),
            false => Address::Name(address.to_owned()),
        };
        let preferences: Vec<Option<usize>> = match ranks.is_null() {
            true => vec![None; count],
            false => {
                // SAFETY: as above.
                let ranks = unsafe { numbers("ranks", ranks, count)? };
                let preference = |&rank: &usize| (rank != ANY_RANK).then_some(rank);
                ranks.iter().map(preference).collect()
            }
        };
        if let Some(rank) = preferences.iter().flatten().find(|&&rank| rank >= size) {
            return Err(Refusal::invalid(format!(
                "rank {rank} is outside of a team of {size}"
            )));
        }
        // SAFETY: as above.
        let met = unsafe { told(builder) }?.enter(&address, size, &preferences)?;
        // SAFETY: as above.
        unsafe { give("team", team, Team::boxed(met)) }
    })
}

/// Makes this process part of the team for which a launcher has started it, such as
/// `corecast run -n 4 -- PROGRAM`. Without a launcher the team is NULL, which is no error.
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
