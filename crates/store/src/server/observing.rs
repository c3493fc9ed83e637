//! `TIME`, `ROLE`, `LATENCY` and `SLOWLOG`: what programs ask for that watch servers.
//!
//! No delays and no slow commands are kept, which is told as Redis tells it where there were none.

use super::client::help;
use super::clock::since_1970;
use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::{Command, subcommands, texts};
use crate::number::integer;
use crate::resp::Reply;

pub(super) fn run(
    command: &Command,
    args: Args<'_>,
    around: &Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
    // It was looked at before, as all words of commands are.
    let subcommand = subcommands::find(command, args).unwrap_or_default();
    match (command.name, subcommand) {
        ("time", _) => {
            let since = since_1970();
            reply.array(2);
            reply.bulk(since.as_secs().to_string().as_bytes());
            reply.bulk(since.subsec_micros().to_string().as_bytes());
        }
        // All replicas are one server to clients.
        ("role", _) => {
            reply.array(3);
            reply.bulk(b"master");
            reply.integer(i64::try_from(around.store.seen()).unwrap_or(i64::MAX));
            reply.array(0);
        }
        ("latency", "history" | "latest") => reply.array(0),
        ("latency", "histogram") => reply.map(0),
        ("latency", "reset") | ("slowlog", "len") => reply.integer(0),
        ("slowlog", "get") => match args.len() {
            2 => reply.array(0),
            3 if integer(args.get(2)).is_some_and(|it| it >= -1) => reply.array(0),
            3 => reply.error("ERR count should be greater than or equal to -1"),
            _ => reply.error(texts::words("slowlog", args)),
        },
        ("slowlog", "reset") => reply.ok(),
        _ => help(command, reply),
    }
}
