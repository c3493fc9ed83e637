//! A place in a team that this process's launcher has reserved: the descriptor of the memory, the rank and the size
//! come in the environment.

use crate::error::{EnterError, InheritError};
use crate::segment_header::{SIZE_MAX, SegmentHeader};
use corecast_wire::Segment;
use rustix::fs::{Mode, OFlags};
use std::os::fd::{AsFd, OwnedFd};

/// The environment variable with the number of the inherited descriptor.
pub const TEAM_FD: &str = "CORECAST_TEAM_FD";
/// The environment variable with this process's rank.
pub const TEAM_RANK: &str = "CORECAST_TEAM_RANK";
/// The environment variable with the size of the team.
pub const TEAM_SIZE: &str = "CORECAST_TEAM_SIZE";

/// A place in a team that was reserved for this process before it started.
#[derive(Debug)]
pub struct Inherited {
    /// A new descriptor of the team's memory. The inherited one stays open, because other code of this process may
    /// use its number.
    pub fd: OwnedFd,
    /// This process's rank.
    pub rank: u32,
    /// Number of ranks of the team.
    pub size: u32,
}

impl Inherited {
    /// Checks that the memory is that of a team of this size, before a caller plans for so many ranks.
    ///
    /// # Errors
    ///
    /// [`EnterError::Segment`], [`EnterError::SegmentHeader`].
    pub fn check(&self) -> Result<(), EnterError> {
        let segment = Segment::attach_with_spare(self.fd.as_fd())?;
        Ok(SegmentHeader::check(&segment, self.size as usize)?)
    }
}

/// Returns the place in a team that the environment reserves for this process; `None` if it reserves none.
///
/// # Errors
///
/// [`InheritError`].
///
/// # Examples
///
/// ```
/// // Not started for a team.
/// assert!(corecast_process::inherited()?.is_none());
/// # Ok::<(), corecast_process::InheritError>(())
/// ```
pub fn inherited() -> Result<Option<Inherited>, InheritError> {
    from(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
}

fn from(get: impl Fn(&str) -> Option<String>) -> Result<Option<Inherited>, InheritError> {
    if [TEAM_FD, TEAM_RANK, TEAM_SIZE]
        .iter()
        .all(|name| get(name).is_none())
    {
        return Ok(None);
    }
    let number = |variable, min, max| {
        let value = get(variable);
        let number = value.as_ref().and_then(|value| value.parse::<u32>().ok());
        let found = number.filter(|number| (min..=max).contains(number));
        found.ok_or(InheritError::Variable {
            variable,
            value,
            min,
            max,
        })
    };
    let size = number(TEAM_SIZE, 1, SIZE_MAX as u32)?;
    let rank = number(TEAM_RANK, 0, size - 1)?;
    let number = number(TEAM_FD, 0, i32::MAX as u32)?;
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = rustix::fs::open(format!("/proc/self/fd/{number}"), flags, Mode::empty());
    let fd = fd.map_err(|source| InheritError::Descriptor {
        number,
        source: source.into(),
    })?;
    Ok(Some(Inherited { fd, rank, size }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_wire::Flag;
    use std::os::fd::AsRawFd;

    fn with(values: [Option<&str>; 3]) -> Result<Option<Inherited>, InheritError> {
        from(|name| {
            let names = [TEAM_FD, TEAM_RANK, TEAM_SIZE];
            let place = names.iter().position(|n| *n == name).unwrap();
            values[place].map(str::to_owned)
        })
    }

    #[test]
    fn the_memory_is_the_one_that_was_passed_on() {
        let (segment, fd) = Segment::shared(4096).unwrap();
        let number = fd.as_raw_fd().to_string();
        let inherited = with([Some(&number), Some("1"), Some("2")])
            .unwrap()
            .unwrap();
        assert_eq!((inherited.rank, inherited.size), (1, 2));
        let again = Segment::attach(inherited.fd.as_fd()).unwrap();
        again.at::<Flag>(0, 1).unwrap()[0].raise(4);
        assert_eq!(segment.at::<Flag>(0, 1).unwrap()[0].seq(), 4);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert!(with([None; 3]).unwrap().is_none());
        for (values, variable) in [
            ([Some("3"), Some("0"), None], TEAM_SIZE),
            ([Some("3"), None, Some("2")], TEAM_RANK),
            ([None, Some("0"), Some("2")], TEAM_FD),
            ([Some("3"), Some("2"), Some("2")], TEAM_RANK),
            ([Some("-1"), Some("0"), Some("2")], TEAM_FD),
            ([Some("999999"), Some("0"), Some("2")], "999999"),
            (
                [Some("0"), Some("0"), Some("0")],
                "Some(\"0\"), a number from 1",
            ),
            ([Some("0"), Some("0"), Some("99999999")], "99999999"),
            ([Some("0"), Some("0"), Some("1e9")], "1e9"),
        ] {
            let said = with(values).unwrap_err().to_string();
            assert!(said.contains(variable), "{said}");
        }
    }
}
