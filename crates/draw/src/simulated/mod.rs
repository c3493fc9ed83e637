//! Pictures of the simulator and of the symbolic model.
//!
//! A graph of acts is drawn with its critical path, as in the figures of Ramos and Hoefler (CLa, TPDS
//! 2016): E1 is dotted, E2 solid, E3 without arrows, E4 dashed; acts and edges of the critical path are red. Of machines of
//! several hosts it is drawn how busy the parts of each level were.

mod critical;
mod graph_dot;
mod graph_svg;
mod levels;
mod levels_svg;
mod levels_text;
mod trace;

pub use graph_dot::graph_dot;
pub use graph_svg::graph_svg;
pub use levels::Levels;
pub use trace::trace_svg;
