//! The tuner from outside, on synthetic machines.

mod judge;
mod synthetic;
