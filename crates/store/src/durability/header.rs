//! The first bytes of each file: what it is, in which version of the format, and its place in the order.

/// Bytes of the header. What follows it is aligned as records are.
pub(crate) const BYTES: usize = 32;

const MAGIC: &[u8; 8] = b"corecast";
/// The version of the format. Whoever changes what files mean raises it.
pub(crate) const VERSION: u32 = 1;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A part of the log, from the entry of its index on.
    Segment = 1,
    /// The databases before the entry of its index.
    Snapshot = 2,
}

impl Kind {
    /// What names of such files begin with.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Segment => "log-",
            Self::Snapshot => "snapshot-",
        }
    }

    /// The name of the file of this index.
    pub(crate) fn name(self, index: u64) -> String {
        format!("{}{index:020}", self.prefix())
    }

    /// The index that is in a file's name, if it is such a file.
    pub(crate) fn index(self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(self.prefix())?;
        let is_it = digits.len() == 20 && digits.bytes().all(|it| it.is_ascii_digit());
        digits.parse().ok().filter(|_| is_it)
    }
}

/// The header of a file.
pub(crate) fn write(kind: Kind, index: u64) -> [u8; BYTES] {
    let mut header = [0; BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&(kind as u32).to_le_bytes());
    header[12..16].copy_from_slice(&VERSION.to_le_bytes());
    header[16..24].copy_from_slice(&index.to_le_bytes());
    let sum = crc32fast::hash(&header[..24]);
    header[24..28].copy_from_slice(&sum.to_le_bytes());
    header
}

/// Whether a file of this name begins as it has to; if not, why.
pub(crate) fn check(bytes: &[u8], kind: Kind, index: u64) -> Result<(), String> {
    let version = bytes
        .get(12..16)
        .map(|it| u32::from_le_bytes(it.try_into().expect("four bytes")));
    match version {
        Some(version) if bytes.starts_with(MAGIC) && version > VERSION => Err(format!(
            "it is of version {version} of the format, and this program knows {VERSION}: use the program that wrote it, or a later one"
        )),
        Some(_) if bytes.starts_with(&write(kind, index)) => Ok(()),
        _ => Err("it does not begin as a file of this name has to".to_owned()),
    }
}
