//! Measurements on the machine at hand. No absolute time is asserted.

mod deep;
mod machine;
