//! What a library must do to take part in races of sized operations.

use crate::engine::Role;

/// One library at one setting, made for one [`Task`](super::Task).
pub trait Library: Sync {
    /// Short name, unique within a race together with the setting.
    fn name(&self) -> &str;

    /// How it was set up, as a line that lets others repeat it.
    fn setting(&self) -> String;

    /// What it is in a comparison.
    fn role(&self) -> Role {
        Role::Peer
    }

    /// The part of `rank`. Called once per rank and race, on the thread that will play it.
    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a>;
}

/// One rank's part. All ranks make the same calls in the same order.
///
/// A failed call ends the race of this library: it must make the calls of all other ranks fail as
/// well, sooner or later, or return.
pub trait Player {
    /// Waits until all ranks have come.
    ///
    /// # Errors
    ///
    /// What the library says.
    fn barrier(&mut self) -> Result<(), String>;

    /// Lets `write` put in this rank's next input at `place`, of
    /// [`Task::gives`](super::Task::gives) blocks. Not called where a rank gives nothing, and never
    /// timed.
    fn prepare(&mut self, place: usize, write: &mut dyn FnMut(&mut [f64]));

    /// The operation, at `place` of [`Task::places`](super::Task::places).
    ///
    /// # Errors
    ///
    /// What the library says.
    fn perform(&mut self, place: usize) -> Result<(), String>;

    /// Shows what the last operation at `place` left for this rank, of
    /// [`Task::gets`](super::Task::gets) blocks. Not called where a rank gets nothing.
    fn result(&mut self, place: usize, read: &mut dyn FnMut(&[f64]));

    /// Moves to another place in memory, for libraries that have several; called on all ranks
    /// before each batch.
    fn turn(&mut self) {}
}
