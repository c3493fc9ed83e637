//! When what was written is made durable.

use std::str::FromStr;

/// When what was written is made durable, by the words of Redis's `appendfsync`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AppendFsync {
    /// Before it is answered: what was answered outlives a loss of power.
    Always,
    /// Once a second: what was answered outlives the server, and a loss of power takes a second or two of it.
    #[default]
    EverySecond,
    /// When the kernel likes, half a minute later or so: what was answered outlives the server.
    No,
}

impl AppendFsync {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Always, Self::EverySecond, Self::No];

    /// Redis's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::EverySecond => "everysec",
            Self::No => "no",
        }
    }
}

impl FromStr for AppendFsync {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.name() == word);
        found.ok_or_else(|| format!("`{word}`: `always`, `everysec` and `no` are possible"))
    }
}
