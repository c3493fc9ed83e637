//! What `corecast run` and the libraries that it loads before unmodified programs need, and programs do not: whether these are
//! left as they are (`CORECAST_DISABLE`), and the record of calls that no team has.

use crate::record::Kind;
use crate::recorded_teams;
use std::num::NonZeroUsize;

/// The environment variable that turns interception off.
pub const DISABLE: &str = "CORECAST_DISABLE";

/// Whether [`DISABLE`] is set, and neither empty nor 0.
///
/// # Examples
///
/// ```
/// assert!(!corecast::interception::is_disabled());
/// ```
pub fn is_disabled() -> bool {
    std::env::var_os(DISABLE).is_some_and(|text| !text.is_empty() && text != "0")
}

/// Names this process's rank in its job, which records say of calls by addresses of code; else they say that of the team. The
/// first call counts.
///
/// # Examples
///
/// ```
/// corecast::interception::set_rank(3);
/// ```
pub fn set_rank(rank: usize) {
    recorded_teams::set_rank(rank);
}

/// Adds a call to the record that this process writes at its end, if the environment asks for one; else nothing happens.
///
/// `code` is the address to which the program's call returns, `is_own` whether Corecast ran it, and the call began at `began`
/// ticks of [`cycles`](corecast_wire::arch::cycles) and ends now. It is not split.
///
/// # Cost
///
/// A lock of the process's, and for the first call of a place a look at the objects of the process.
///
/// # Examples
///
/// ```
/// use corecast::interception::note;
/// use corecast::record::Kind;
///
/// let began = corecast_wire::arch::cycles();
/// let code = std::num::NonZero::new(0x1000).unwrap();
/// note(code, Kind::BARRIER, false, began);
/// ```
pub fn note(code: NonZeroUsize, kind: Kind, is_own: bool, began: u64) {
    recorded_teams::note(code, kind, is_own, began);
}
