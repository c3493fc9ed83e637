//! Tests of the file formats by the public interface.

mod garbage;
