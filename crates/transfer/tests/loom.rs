//! Models of the transfer of long data, checked in every interleaving that the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p corecast-transfer --test loom --release`. Each model
//! also has seeded faults that it must catch: a model that cannot fail proves nothing.
#![cfg(loom)]

#[path = "../../wire/tests/loom/check.rs"]
mod check;
#[path = "loom/cma.rs"]
mod cma;
#[path = "loom/descriptor.rs"]
mod descriptor;
