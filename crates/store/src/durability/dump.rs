//! Databases as the chunks of a snapshot: keys with their values and times, in the order in which they lie there.

use super::bytes::{Take, put_text, put_time};
use super::entry;
use super::recovery::Restore;
use crate::commands::Databases;
use crate::keyspace::Keyspace;
use corecast_agree::Dispatch;

/// A chunk holds so much, or one key with its value if that is more.
const CHUNK_BYTES: usize = 1 << 20;

/// Gives the chunks to `put`.
pub(crate) fn write<E>(
    databases: &Databases,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut chunk = Vec::new();
    for (number, database) in databases.all().iter().enumerate() {
        for entry in database.entries() {
            chunk.push(number as u8);
            put_time(&mut chunk, entry.expires());
            put_text(&mut chunk, &entry.key);
            put_text(&mut chunk, &entry.value);
            if chunk.len() >= CHUNK_BYTES {
                put(&chunk)?;
                chunk.clear();
            }
        }
    }
    match chunk.is_empty() {
        true => Ok(()),
        false => put(&chunk),
    }
}

impl Restore for Keyspace {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut take = Take(bytes);
        while !take.is_empty() {
            let number = usize::from(take.database()?);
            let expires = take.time()?;
            let (key, value) = (take.text()?, take.text()?);
            if !self.databases_mut().all_mut()[number].restore(key, value, expires) {
                return Err("a key that is there twice".to_owned());
            }
        }
        Ok(())
    }

    fn entry(&mut self, bytes: &[u8]) -> Result<(), String> {
        // What it answered has been said.
        self.write(&entry::read(bytes)?);
        Ok(())
    }
}
