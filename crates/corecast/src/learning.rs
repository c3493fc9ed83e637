//! Whether teams learn while they run: what the program says, else `CORECAST_TUNE`.

use corecast_team::Options;

use crate::error::Error;

/// The environment variable by which teams learn while they run where the program does not say: `online`, or `off`.
pub const CORECAST_TUNE: &str = "CORECAST_TUNE";

/// Whether the environment asks for teams that learn.
///
/// # Errors
///
/// [`Error::Learning`], which quotes a value that is not known.
pub(crate) fn of_environment() -> Result<bool, Error> {
    let value = std::env::var_os(CORECAST_TUNE).unwrap_or_default();
    match value.to_str().map(str::trim) {
        Some("" | "off") => Ok(false),
        Some("online") => Ok(true),
        _ => Err(Error::Learning {
            value: value.to_string_lossy().into_owned(),
        }),
    }
}

/// Who asked for a team that learns, in a sentence for its explanation; `None` for one that learns nothing.
pub(crate) fn sentence(asked: Option<bool>, options: &Options) -> Option<String> {
    let by = match asked {
        Some(_) => "the program",
        None => "CORECAST_TUNE=online",
    };
    let learns = options.learn && !options.deterministic;
    learns.then(|| format!("other lengths are raced in the first calls (asked for by {by})"))
}
