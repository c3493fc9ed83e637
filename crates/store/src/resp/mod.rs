//! The Redis serialization protocol, RESP2 and RESP3: requests are parsed, replies written.
//!
//! | file | what |
//! | --- | --- |
//! | `parser.rs` | finds the words of requests in bytes that arrive in any pieces |
//! | `inline.rs` | requests as people type them |
//! | `reply.rs` | writes replies |

mod inline;
mod parser;
mod reply;

pub(crate) use inline::split;
pub use parser::{BULK_BYTES_MAX, Parsed, Parser, ProtocolError, REQUEST_BYTES_MAX};
pub(crate) use reply::Reply;
