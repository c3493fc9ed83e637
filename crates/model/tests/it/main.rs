//! The file formats from outside.

mod garbage;
