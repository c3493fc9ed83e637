//! `COMMAND`: what `redis-cli` asks for its hints, and clients for the places of keys.

use super::client::help;
use crate::arguments::Args;
use crate::commands::{Command, Kind, TABLE, find, subcommands, texts};
use crate::glob;
use crate::resp::Reply;

pub(super) fn run(args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len() == 1 {
        reply.array(TABLE.len());
        return TABLE.iter().for_each(|it| entry(it, reply));
    }
    match subcommands::find("command", args) {
        Ok("count") => reply.count(TABLE.len()),
        Ok("list") => list(args, reply),
        Ok("info") if args.len() == 2 => {
            reply.array(TABLE.len());
            TABLE.iter().for_each(|it| entry(it, reply));
        }
        Ok("info") => {
            reply.array(args.len() - 2);
            for name in args.from(2) {
                match find(name) {
                    Some(command) => entry(command, reply),
                    None => reply.null_array(),
                }
            }
        }
        Ok("docs") => {
            let named: Vec<&Command> = args.from(2).filter_map(find).collect();
            match args.len() {
                2 => documents(TABLE.iter(), reply),
                _ => documents(named.into_iter(), reply),
            }
        }
        Ok("getkeys") => keys(args, reply),
        Ok(_) => help("command", reply),
        Err(text) => reply.error(text),
    }
}

/// `COMMAND LIST`, of all commands or of those that one filter lets through.
fn list(args: Args<'_>, reply: &mut Reply<'_>) {
    let wanted: Vec<&Command> = match args.len() {
        2 => TABLE.iter().collect(),
        5 if args.is(2, "FILTERBY") => {
            // Names are in lower case, and Redis compares without case.
            let text = args.get(4).to_ascii_lowercase();
            let all = TABLE.iter();
            match () {
                () if args.is(3, "PATTERN") => all
                    .filter(|it| glob::matches(&text, it.name.as_bytes()))
                    .collect(),
                () if args.is(3, "ACLCAT") => {
                    all.filter(|it| category(it).as_bytes() == text).collect()
                }
                // There are no modules.
                () if args.is(3, "MODULE") => Vec::new(),
                () => return reply.error(texts::SYNTAX),
            }
        }
        _ => return reply.error(texts::SYNTAX),
    };
    reply.array(wanted.len());
    wanted.iter().for_each(|it| reply.bulk(it.name.as_bytes()));
}

fn category(command: &Command) -> &'static str {
    match command.kind {
        Kind::Read(_) => "read",
        Kind::Write { .. } => "write",
        Kind::Session => "connection",
    }
}

/// What `COMMAND INFO` says of a command.
fn entry(command: &Command, reply: &mut Reply<'_>) {
    let kind = match command.kind {
        Kind::Read(_) => Some("readonly"),
        Kind::Write { .. } => Some("write"),
        Kind::Session => None,
    };
    reply.array(10);
    reply.bulk(command.name.as_bytes());
    reply.integer(command.arity.into());
    reply.set(kind.iter().len());
    kind.iter().for_each(|it| reply.simple(it));
    let (first, last, step) = command.keys;
    for place in [first, last, step] {
        reply.integer(place.into());
    }
    reply.set(1);
    reply.simple(&format!("@{}", category(command)));
    // Tips, other places of keys, subcommands.
    for _ in 0..3 {
        reply.array(0);
    }
}

fn documents<'a>(commands: impl ExactSizeIterator<Item = &'a Command>, reply: &mut Reply<'_>) {
    reply.map(commands.len());
    for command in commands {
        reply.bulk(command.name.as_bytes());
        reply.map(2);
        for (name, text) in [("summary", command.summary), ("group", command.group)] {
            reply.bulk(name.as_bytes());
            reply.bulk(text.as_bytes());
        }
    }
}

/// `COMMAND GETKEYS`: the keys among the words of a command.
fn keys(args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(command) = find(args.get(2)) else {
        return reply.error("ERR Invalid command specified");
    };
    let words = args.len() - 2;
    if command.keys.0 == 0 {
        return reply.error("ERR The command has no key arguments");
    }
    if !command.takes(words) {
        return reply.error("ERR Invalid number of arguments specified for command");
    }
    let (first, last, step) = command.keys;
    let end = match usize::try_from(last) {
        Ok(last) => last + 1,
        // From the end.
        Err(_) => words,
    };
    let places = (usize::from(first.unsigned_abs())..end).step_by(step.unsigned_abs().into());
    let keys: Vec<&[u8]> = places.map(|place| args.get(2 + place)).collect();
    reply.array(keys.len());
    keys.iter().for_each(|key| reply.bulk(key));
}
