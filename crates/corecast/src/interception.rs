//! Whether unmodified programs are left as they are: `CORECAST_DISABLE`.
//!
//! `corecast run` and the libraries that it loads before programs ask here; programs do not need it.

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
