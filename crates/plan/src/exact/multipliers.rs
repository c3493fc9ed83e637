//! Multipliers of members: a lower bound that takes account of every pair of members.
//!
//! **The bound.** Give each member a multiplier, which is collected by the member that informs it. A tree
//! in which everybody is informed by the time T collects all multipliers. The most that a holder can
//! collect when t is left is easily computed if members may be collected again:
//!
//! ```text
//! G(v, t) = max over c of  price(c) + G(c, t − send(v, c) − receive(v, c)) + G(v, t − send(v, c))
//! ```
//!
//! Where even this is less than the sum of the multipliers, T is too little. Members may be collected
//! several times here. Multipliers fall for members that are collected too often and rise for members that
//! are left out, until that hardly pays (Lagrangian relaxation with subgradient steps: Held and Karp 1970
//! for tours; state-space relaxation: Christofides, Mingozzi and Toth 1981. That it applies to trees in
//! time, and how well it does, is Corecast's.) Every set of multipliers gives a valid bound, so that the
//! bound holds however far the steps have come.
//!
//! **Exact sums.** Time is counted in steps of some ticks, costs rounded down. Multipliers are whole
//! numbers with a sum near 2²⁰, and all sums are capped, so that `f32` holds them exactly.
//!
//! # Cost
//!
//! n² × steps additions for one set of multipliers, 0.3 to 0.5 ns each (AMD EPYC at 2.6 GHz, November
//! 2026).

mod ascent;
mod grid;
mod table;
#[cfg(test)]
mod tests;
mod window;

pub(super) use ascent::{Ascent, work};
pub(super) use window::{Tables, Windows};
