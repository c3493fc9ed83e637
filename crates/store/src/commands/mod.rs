//! The commands on keys: each is a function of the databases, the time and its words, and writes its reply.
//!
//! | file | what |
//! | --- | --- |
//! | `command.rs` | what a command is: words, keys, who runs it |
//! | `table.rs` | all commands, those of the session too, and how they are found |
//! | `syntax.rs` | the words that they take, as people write them |
//! | `strings.rs` | values as texts: `GET`, `SET`, `APPEND` and their like |
//! | `counters.rs` | values as numbers: `INCR` and its like |
//! | `expiry.rs` | times: `EXPIRE`, `TTL` and their like |
//! | `keys.rs` | keys by themselves: `DEL`, `KEYS`, `SCAN`, `RENAME`, `FLUSHALL` and their like |
//! | `options.rs` | the options that several of them take |
//! | `databases.rs` | what they work on, and when |
//! | `subcommands.rs` | those of `CLIENT`, `COMMAND`, `CONFIG` and others |
//! | `texts.rs` | errors in Redis's words |

mod command;
mod counters;
mod databases;
mod expiry;
mod keys;
mod options;
mod strings;
pub(crate) mod subcommands;
mod syntax;
mod table;
pub(crate) mod texts;

pub(crate) use command::{Answers, Command, Kind};
pub(crate) use databases::{Context, DATABASES, Databases, Lookups};
pub(crate) use options::database;
pub(crate) use syntax::{Argument, arguments};
pub(crate) use table::{TABLE, find, find_any};
