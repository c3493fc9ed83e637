//! The tuner from outside, on synthetic machines.

mod never_slower;
mod sequential_test;
mod synthetic;
mod transfer_path;
