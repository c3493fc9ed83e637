//! The example of two-phase commit over a team's trees, which checks what it did.

#[path = "../examples/two_phase_commit.rs"]
mod two_phase_commit;

#[test]
fn a_transaction_takes_from_all_or_from_none() {
    two_phase_commit::main().unwrap();
}
