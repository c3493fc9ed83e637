//! Pictures of plans: trees as an outline, as SVG and in Graphviz's language; operations over time in
//! the terminal and as SVG; rounds in words.
//!
//! Pictures of trees show for each member its rank, its NUMA node and the time at which it has what it waits for
//! ([`Timeline::avail`](corecast_plan::Timeline)), and on each edge the place in the parent's list, counted
//! from one. Members of a group share a line with their parent and have one place. A barrier with a fan-in and a
//! fan-out tree is drawn as two trees. Pictures over time show for each member when it sends, receives, waits
//! and is done, as Smelt's Fig. 4 and 7 do.
//!
//! [`Drawing`] holds the data; each file below adds one picture to it as a method.

mod dot;
mod drawing;
mod outline;
mod rounds;
mod svg;
mod timeline_svg;
mod timeline_text;
mod view;

pub use drawing::Drawing;
pub use rounds::rounds_text;
