//! The settings of a builder with any values, and what teams are made of them.

use super::statuses::{number, refused, text, told};
use arbitrary::{Result, Unstructured};
use corecast_c::builder::*;
use corecast_c::settings::*;
use corecast_c::status::Status;
use corecast_c::succession::{corecast_team_refilled, corecast_team_without};
use corecast_c::team::*;
use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};
use std::time::Duration;

/// After less patience than this a team of honest members may have failed on a busy machine.
const LONG: Duration = Duration::from_secs(5);

/// The checker of addresses writes an eighth of each stack that an operation has ended on, however little of it was used.
const STACK_BYTES_MAX: usize = 1 << 24;

/// What a case has told a builder that its team then shows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// Members may give up on each other.
    pub(super) is_hasty: bool,
    /// There are no operations in flight, or there may be none.
    pub(super) no_flight: bool,
    pub(super) may_lack_flight: bool,
}

/// Words that settings know, and some that none knows.
const WORDS: [&str; 24] = [
    "",
    "spin",
    "balanced",
    "park",
    "20us",
    "0",
    "999999999999999999999s",
    "ump",
    "fastforward",
    "strict",
    "loose",
    "smelt",
    "binomial",
    "dissemination:2",
    "dissemination:0",
    "binary",
    "0",
    "0,0",
    "0-1",
    "9-1",
    "0-4294967295",
    "allreduce=ring@4K..1M,doubling@..4K;barrier=tree",
    "barrier=counter",
    "allreduce=rsag;scan=chain;broadcast=whole",
];

/// A text of C: a known word, any bytes, or both.
pub(super) fn any_text(u: &mut Unstructured) -> Result<CString> {
    let word = u.choose(&WORDS)?.as_bytes();
    let len = if u.ratio(1, 3)? {
        u.int_in_range(0..=40)?
    } else {
        0
    };
    Ok(text(&[word, u.bytes(len)?].concat()))
}

/// Below this there is nothing.
fn nowhere(u: &mut Unstructured) -> Result<CString> {
    Ok(text(
        &[b"/nonexistent/corecast/", any_text(u)?.as_bytes()].concat(),
    ))
}

/// A pointer to a text, or NULL.
fn or_null(u: &mut Unstructured, text: &CString) -> Result<*const c_char> {
    Ok(if u.ratio(1, 16)? {
        null()
    } else {
        text.as_ptr()
    })
}

/// Makes a builder of a team of up to 3 ranks, whose settings are any.
pub(super) fn builder(u: &mut Unstructured) -> Result<(*mut Builder, Told)> {
    let mut builder = null_mut();
    // SAFETY: a place for a handle; here and below, the handle lives, and texts end.
    unsafe {
        refused(corecast_builder_new(null_mut()));
        assert_eq!(told(corecast_builder_new(&raw mut builder)), Status::Ok);
        // Nothing that was measured on this machine.
        let folder = corecast_builder_profile_folder(builder, c"/nonexistent/corecast".as_ptr());
        assert_eq!(told(folder), Status::Ok);
        assert_eq!(
            told(corecast_builder_threads(builder, u.int_in_range(1..=3)?)),
            Status::Ok
        );
        // Addresses cost time where they are checked.
        assert_eq!(
            told(corecast_builder_symmetric(builder, 1 << 16)),
            Status::Ok
        );
    }
    let mut says = Told::default();
    for _ in 0..u.int_in_range(0..=4)? {
        // SAFETY: as above.
        unsafe { one(u, builder, &mut says)? };
    }
    Ok((builder, says))
}

/// Changes one setting.
///
/// # Safety
///
/// `builder` is a live handle.
unsafe fn one(u: &mut Unstructured, builder: *mut Builder, says: &mut Told) -> Result<()> {
    let (any, path) = (any_text(u)?, nowhere(u)?);
    let is_null = u.ratio(1, 16)?;
    let on = if is_null { null_mut() } else { builder };
    let (word, path) = (or_null(u, &any)?, or_null(u, &path)?);
    let wide: u64 = number(u)? as u64;
    let is_short = Duration::from_nanos(wide) < LONG;
    // SAFETY: the caller's promise, NULL, and texts that end.
    let status = unsafe {
        match u.int_in_range(0..=17)? {
            0 => corecast_builder_cores(on, word),
            1 => corecast_builder_machine_file(on, path),
            2 => corecast_builder_profile_folder(on, path),
            3 => corecast_builder_pattern(on, word),
            4 => corecast_builder_algorithms(on, word),
            5 => corecast_builder_root(on, number(u)?),
            6 => corecast_builder_pin(on, u.arbitrary()?),
            7 => corecast_builder_wait(on, word),
            8 => corecast_builder_policy(on, wide as u32, u.arbitrary()?, u.arbitrary()?),
            9 => {
                says.is_hasty |= is_short && !is_null;
                corecast_builder_patience(on, wide)
            }
            10 => {
                says.is_hasty |= is_short && !is_null;
                corecast_builder_join_limit(on, wide)
            }
            11 => corecast_builder_deterministic(on, u.arbitrary()?),
            12 => {
                // Thousands of stacks take the checker of addresses seconds.
                let depth = match number(u)? {
                    65..=0x10000 => 64,
                    depth => depth,
                };
                if !is_null {
                    says.no_flight = depth == 0;
                }
                corecast_builder_depth(on, depth)
            }
            13 => {
                let bytes = match number(u)? {
                    STACK_BYTES_MAX..=0x7fff_ffff_ffff => STACK_BYTES_MAX,
                    bytes => bytes,
                };
                says.may_lack_flight |= bytes > STACK_BYTES_MAX;
                corecast_builder_stack(on, bytes)
            }
            14 => corecast_builder_backend(on, word),
            15 => corecast_builder_slots(on, within_memory(number(u)?)),
            16 => corecast_builder_symmetric(on, within_memory(number(u)?)),
            _ => corecast_builder_start(on, word),
        }
    };
    match told(status) {
        Status::Ok => assert!(!is_null),
        status => assert_eq!(status, Status::Invalid),
    }
    Ok(())
}

/// A number that asks for little memory in place of one that asks for more than tests should take.
fn within_memory(number: usize) -> usize {
    match number {
        0x4001..=0x7fff_ffff_ffff => 0x4000,
        number => number,
    }
}

/// Makes a team of at most 3 ranks; NULL where it is refused or larger.
pub(super) fn team(builder: *mut Builder) -> *mut Team {
    let mut team = null_mut();
    // SAFETY: a live handle and a place for one.
    let (built, size) = unsafe {
        refused(corecast_builder_build(null(), &raw mut team));
        refused(corecast_builder_build(builder, null_mut()));
        let built = corecast_builder_build(builder, &raw mut team);
        (told(built), corecast_team_size(team))
    };
    if built != Status::Ok {
        assert_eq!(built, Status::Unbuildable);
        assert!(team.is_null());
        return team;
    }
    assert!(size > 0);
    if size <= 3 {
        return team;
    }
    // SAFETY: a live handle, which nobody uses afterwards.
    assert_eq!(told(unsafe { corecast_team_free(team) }), Status::Ok);
    null_mut()
}

/// Ways to a team that end without one, or with one in which this process is alone.
pub(super) fn refusals(u: &mut Unstructured) -> Result<()> {
    let (builder, _) = builder(u)?;
    let mut team = null_mut();
    let ranks = (0..4).map(|_| number(u)).collect::<Result<Vec<usize>>>()?;
    let (size, count) = (number(u)?, number(u)?);
    let tail = any_text(u)?;
    let name = text(
        &[
            format!("fuzz-{}-", std::process::id()).as_bytes(),
            tail.as_bytes(),
        ]
        .concat(),
    );
    // An address with a '/' would be a file.
    let is_name = !name.as_bytes().contains(&b'/');
    // Nobody else comes, so that a team that waits for others ends by its limit.
    let limit = Duration::from_millis(5).as_nanos() as u64;
    // SAFETY: live handles and places for them; what is too long for `ranks` or more than one process
    // brings is refused before it is read.
    unsafe {
        let large = usize::MAX - u.int_in_range(0..=5)?;
        let few = corecast_team_new(if u.arbitrary()? { large } else { 0 }, &raw mut team);
        assert_eq!(told(few), Status::Unbuildable);
        refused(corecast_team_new(1, null_mut()));
        refused(corecast_builder_threads(builder, 0));
        assert_eq!(told(corecast_builder_threads(builder, large)), Status::Ok);
        assert_eq!(
            told(corecast_builder_build(builder, &raw mut team)),
            Status::Unbuildable
        );
        assert_eq!(told(corecast_builder_threads(builder, 1)), Status::Ok);
        assert_eq!(
            told(corecast_builder_join_limit(builder, limit)),
            Status::Ok
        );
        let in_reach = count <= ranks.len() || count > size || count > 4096;
        let list = if in_reach && u.arbitrary()? {
            ranks.as_ptr()
        } else {
            null()
        };
        if is_name && (count <= 8 || count > 4096 || count > size) {
            let met =
                corecast_builder_enter(builder, name.as_ptr(), size, list, count, &raw mut team);
            match told(met) {
                Status::Ok => {
                    assert_eq!(corecast_team_size(team), size);
                    assert_eq!(told(corecast_team_free(team)), Status::Ok);
                }
                Status::Invalid | Status::NotMet | Status::Unbuildable => {}
                status => panic!("{status:?}"),
            }
        }
        refused(corecast_builder_enter(
            builder,
            null(),
            1,
            null(),
            1,
            &raw mut team,
        ));
        refused(corecast_builder_enter(
            builder,
            name.as_ptr(),
            1,
            null(),
            1,
            null_mut(),
        ));
        refused(corecast_builder_inherited(builder, null_mut()));
        assert_eq!(
            told(corecast_builder_inherited(builder, &raw mut team)),
            Status::Ok
        );
        assert!(team.is_null(), "nobody has started this for a team");
        nothing(u)?;
        corecast_builder_free(builder);
    }
    Ok(())
}

/// Calls of functions of teams without one.
///
/// # Safety
///
/// None is asked for.
unsafe fn nothing(u: &mut Unstructured) -> Result<()> {
    let (mut next, mut member) = (null_mut(), null_mut());
    let (mut room, mut pus, mut count) = ([0; 2], [0; 2], 0);
    // SAFETY: NULL is refused.
    unsafe {
        refused(corecast_team_run(null(), None, null_mut()));
        refused(corecast_team_join(null(), number(u)?, &raw mut member));
        refused(corecast_team_pin_here(null(), number(u)?, null_mut()));
        refused(corecast_team_explain(null(), null_mut(), 0, null_mut()));
        refused(corecast_team_failure(null()));
        refused(corecast_team_ranks(
            null(),
            room.as_mut_ptr(),
            2,
            &raw mut count,
        ));
        refused(corecast_team_pus(null(), pus.as_mut_ptr(), 2));
        refused(corecast_team_without(
            null(),
            null(),
            0,
            &raw mut next,
            null_mut(),
        ));
        refused(corecast_team_refilled(null(), &raw mut next, null_mut()));
        assert_eq!(told(corecast_team_free(null_mut())), Status::Ok);
    }
    Ok(())
}
