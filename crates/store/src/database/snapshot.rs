//! A database as bytes, for another process.

use std::cmp::Reverse;

use super::{Database, Entry, STRIPES, text};
use crate::bytes::{ByteReader, ByteWriter};
use crate::places::Places;

impl Database {
    /// Appends the database, so that what is read back goes on as this one does.
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.word(self.changes);
        to.word(self.expired);
        to.word(self.removed.len() as u64);
        self.removed.iter().for_each(|it| to.word(*it));
        to.word(self.due.len() as u64);
        for Reverse((at, hash)) in &self.due {
            to.word(*at as u64);
            to.word(u64::from(*hash));
        }
        to.word(self.entries.len() as u64);
        for entry in &self.entries {
            to.bytes(&entry.key);
            to.bytes(&entry.value);
            to.word(entry.expires as u64);
            to.word(entry.version);
        }
        self.places.encode(to);
    }

    /// Reads what was appended.
    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Option<Self> {
        let changes = from.word()?;
        let expired = from.word()?;
        let removed = from.list(|from| from.word())?;
        if !(removed.is_empty() || removed.len() == STRIPES) {
            return None;
        }
        let due = from.list(|from| {
            let at = from.word()? as i64;
            Some(Reverse((at, u32::try_from(from.word()?).ok()?)))
        })?;
        let entries = from.list(|from| {
            Some(Entry {
                key: text(from.bytes()?),
                value: text(from.bytes()?),
                expires: from.word()? as i64,
                version: from.word()?,
            })
        })?;
        let expiring = entries.iter().filter(|it| it.expires != super::NEVER);
        Some(Self {
            places: Places::decode(from, entries.len())?,
            expiring: expiring.count(),
            entries,
            due: due.into(),
            changes,
            removed,
            expired,
        })
    }
}
