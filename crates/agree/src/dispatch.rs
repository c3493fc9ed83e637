//! What a sequential structure must offer to be replicated.

/// Which part of a structure an operation touches: two operations conflict if their footprints have a key in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// One key, by its hash: keys that share one are taken to be the same.
    Key(u64),
    /// Everything: the operation conflicts with all others. Structures without keys have no other footprint.
    Everything,
}

/// A sequential structure that can be replicated: each replica applies the same writes in the same order, so a write must
/// depend on nothing but the structure and the operation. Clocks and random numbers come with the operation.
pub trait Dispatch: Send + 'static {
    /// An operation that changes nothing, and may borrow what it is called with: it runs on the caller's own replica.
    type Read<'a>;
    /// An operation that changes the structure. It is applied to each replica by reference: nothing is cloned or compared.
    type Write: Send + Sync + 'static;
    /// What an operation answers. A write's is kept at the replica of its caller alone.
    type Response: Send;
    /// The whole structure at one point of the order of writes, by which another replica begins.
    type Snapshot: Send + 'static;

    /// Runs an operation that changes nothing.
    fn read(&self, operation: Self::Read<'_>) -> Self::Response;

    /// Applies an operation; all replicas do so in one order.
    fn write(&mut self, operation: &Self::Write) -> Self::Response;

    /// The part that a read looks at.
    fn read_footprint(operation: &Self::Read<'_>) -> Footprint {
        let _ = operation;
        Footprint::Everything
    }

    /// The part that a write changes.
    fn write_footprint(operation: &Self::Write) -> Footprint {
        let _ = operation;
        Footprint::Everything
    }

    /// The structure as it is.
    fn snapshot(&self) -> Self::Snapshot;

    /// A structure as `snapshot` found it.
    fn install(snapshot: Self::Snapshot) -> Self;
}
