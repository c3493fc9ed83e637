//! The tuner from outside, on synthetic machines.

mod sequential_test;
mod synthetic;
