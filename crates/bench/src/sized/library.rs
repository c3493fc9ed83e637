//! What a library must do to take part in races of sized operations.

use crate::engine::Role;

/// One library at one setting, made for one [`Task`](super::Task).
pub trait Library: Sync {
    /// Short name, unique within a race together with the setting.
    fn name(&self) -> &str;

    /// How it was set up, as a line that lets others repeat it; empty where nothing can be set.
    fn setting(&self) -> String {
        String::new()
    }

    /// Its role in a comparison.
    fn role(&self) -> Role {
        Role::Peer
    }

    /// Number of teams that take [turns](Player::turn).
    fn teams(&self) -> usize {
        1
    }

    /// Returns the player of `rank`. Called once per rank and race, on the thread that will use it.
    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a>;
}

/// One rank of a library. All ranks make the same calls in the same order.
///
/// A failed call ends the race of this library: the calls of all other ranks must then fail or
/// return, sooner or later.
pub trait Player {
    /// Waits until all ranks have called it.
    ///
    /// # Errors
    ///
    /// A message of the library.
    fn barrier(&mut self) -> Result<(), String>;

    /// Lets `write` fill this rank's next input at `place`, of [`Task::gives`](super::Task::gives)
    /// elements. Not called where a rank gives nothing, and never timed by itself.
    fn prepare(&mut self, place: usize, write: &mut dyn FnMut(&mut [f64]));

    /// Performs the operation at `place` of [`Task::places`](super::Task::places).
    ///
    /// # Errors
    ///
    /// A message of the library.
    fn perform(&mut self, place: usize) -> Result<(), String>;

    /// Shows `read` the result of the last operation at `place` for this rank, of
    /// [`Task::gets`](super::Task::gets) elements. Not called where a rank gets nothing.
    fn result(&mut self, place: usize, read: &mut dyn FnMut(&[f64]));

    /// The algorithm of the operations that were performed, for libraries that choose among several and know it.
    fn algorithm(&self) -> Option<&'static str> {
        None
    }

    /// Moves to another place in memory, for libraries that have several; called on all ranks
    /// before each batch.
    fn turn(&mut self) {}
}
