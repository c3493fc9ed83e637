//! What teams of several processes need before they share a line: finding each other, and noticing
//! that one of them has died.

pub mod keeper;
mod life;
