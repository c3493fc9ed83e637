//! `COMMAND`: what `redis-cli` asks for its hints, and clients for the places of keys.

use std::collections::HashSet;

use super::client::help;
use crate::arguments::Args;
use crate::commands::{Argument, Command, TABLE, arguments, find, find_any, subcommands, texts};
use crate::glob;
use crate::resp::Reply;

pub(super) fn run(command: &Command, args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len() == 1 {
        return entries(TABLE, reply);
    }
    match subcommands::find(command, args) {
        Ok("count") => reply.count(TABLE.len()),
        Ok("list") => list(args, reply),
        Ok("info") if args.len() == 2 => entries(TABLE, reply),
        Ok("info") => {
            reply.array(args.len() - 2);
            // A request may have millions of words, for each of which there is much to say.
            for name in args.from(2) {
                if reply.overflowed() {
                    return;
                }
                match find_any(name) {
                    Some(command) => entry(command, reply),
                    None => reply.null(),
                }
            }
        }
        Ok("docs") => {
            // Each once, however often it is named.
            let mut shown = HashSet::new();
            let named = args.from(2).filter_map(find_any);
            let named = named.filter(|it| shown.insert(it.name));
            match args.len() {
                2 => documents(&TABLE.iter().collect::<Vec<_>>(), reply),
                _ => documents(&named.collect::<Vec<_>>(), reply),
            }
        }
        Ok("getkeys") => keys(args, reply, false),
        Ok("getkeysandflags") => keys(args, reply, true),
        Ok(_) => help(command, reply),
        Err(text) => reply.error(text),
    }
}

/// `COMMAND LIST`, of all commands and subcommands or of those that one filter lets through.
fn list(args: Args<'_>, reply: &mut Reply<'_>) {
    let all = TABLE.iter();
    let all = all.flat_map(|it| [it].into_iter().chain(it.subcommands));
    let wanted: Vec<&Command> = match args.len() {
        2 => all.collect(),
        5 if args.is(2, "FILTERBY") => {
            // Names are in lower case, and Redis compares without case.
            let text = args.get(4).to_ascii_lowercase();
            match () {
                () if args.is(3, "PATTERN") => all
                    .filter(|it| glob::matches(&text, it.name.as_bytes()))
                    .collect(),
                () if args.is(3, "ACLCAT") => {
                    let is_it = |category: &&str| category.as_bytes() == text;
                    all.filter(|it| it.all_categories().iter().any(is_it))
                        .collect()
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

fn entries(commands: &[Command], reply: &mut Reply<'_>) {
    reply.array(commands.len());
    commands.iter().for_each(|it| entry(it, reply));
}

/// What `COMMAND INFO` says of a command.
fn entry(command: &Command, reply: &mut Reply<'_>) {
    let texts = |all: &[&str], reply: &mut Reply<'_>| {
        reply.set(all.len());
        all.iter().for_each(|it| reply.simple(it));
    };
    let (first, last, step) = command.keys;
    reply.array(10);
    reply.bulk(command.name.as_bytes());
    reply.integer(command.arity.into());
    texts(&command.all_flags(), reply);
    for place in [first, last, step] {
        reply.integer(place.into());
    }
    let categories = command.all_categories();
    reply.set(categories.len());
    categories
        .iter()
        .for_each(|it| reply.simple(&format!("@{it}")));
    let tips: Vec<&str> = command.tips.split_ascii_whitespace().collect();
    reply.set(tips.len());
    tips.iter().for_each(|it| reply.bulk(it.as_bytes()));
    reply.set(command.uses.len());
    for (at, used) in command.uses.iter().enumerate() {
        let used: Vec<&str> = used.split(' ').collect();
        // Where two keys are used differently, each is a place of its own; otherwise there is one, whose end counts from its beginning.
        let last = if last < 0 { last } else { 0 };
        place(&used, i64::from(first) + at as i64, last, step, reply);
    }
    match command.subcommands {
        [] => reply.set(0),
        all => entries(all, reply),
    }
}

/// A place where keys are, and how they are used.
fn place(used: &[&str], first: i64, last: i8, step: i8, reply: &mut Reply<'_>) {
    let searched = |kind: &str, numbers: &[(&str, i64)], reply: &mut Reply<'_>| {
        reply.map(2);
        reply.bulk(b"type");
        reply.bulk(kind.as_bytes());
        reply.bulk(b"spec");
        reply.map(numbers.len());
        for (name, number) in numbers {
            reply.bulk(name.as_bytes());
            reply.integer(*number);
        }
    };
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(used.len());
    used.iter().for_each(|it| reply.simple(it));
    reply.bulk(b"begin_search");
    searched("index", &[("index", first)], reply);
    reply.bulk(b"find_keys");
    let range = [
        ("lastkey", last.into()),
        ("keystep", step.into()),
        ("limit", 0),
    ];
    searched("range", &range, reply);
}

/// What `COMMAND DOCS` says of commands.
fn documents(commands: &[&Command], reply: &mut Reply<'_>) {
    reply.map(commands.len());
    for command in commands {
        let arguments = arguments(command.syntax);
        let subcommands: Vec<&Command> = command.subcommands.iter().collect();
        reply.bulk(command.name.as_bytes());
        reply.map(2 + usize::from(!arguments.is_empty()) + usize::from(!subcommands.is_empty()));
        for (name, text) in [("summary", command.summary), ("group", command.group)] {
            reply.bulk(name.as_bytes());
            reply.bulk(text.as_bytes());
        }
        if !arguments.is_empty() {
            reply.bulk(b"arguments");
            explain(&arguments, reply);
        }
        if !subcommands.is_empty() {
            reply.bulk(b"subcommands");
            documents(&subcommands, reply);
        }
    }
}

fn explain(arguments: &[Argument], reply: &mut Reply<'_>) {
    reply.array(arguments.len());
    for argument in arguments {
        let flags = [
            (argument.is_optional, "optional"),
            (argument.is_multiple, "multiple"),
        ];
        let flags: Vec<&str> = flags
            .iter()
            .filter(|it| it.0)
            .map(|(_, name)| *name)
            .collect();
        let parts = &argument.parts;
        let has = [
            argument.token.is_some(),
            !flags.is_empty(),
            !parts.is_empty(),
        ];
        reply.map(2 + has.iter().filter(|it| **it).count());
        for (name, text) in [("name", &argument.name[..]), ("type", argument.kind.name())] {
            reply.bulk(name.as_bytes());
            reply.bulk(text.as_bytes());
        }
        if let Some(token) = argument.token {
            reply.bulk(b"token");
            reply.bulk(token.as_bytes());
        }
        if !flags.is_empty() {
            reply.bulk(b"flags");
            reply.set(flags.len());
            flags.iter().for_each(|it| reply.simple(it));
        }
        if !parts.is_empty() {
            reply.bulk(b"arguments");
            explain(parts, reply);
        }
    }
}

/// `COMMAND GETKEYS` and `COMMAND GETKEYSANDFLAGS`: the keys among the words of a command, and what becomes of them.
fn keys(args: Args<'_>, reply: &mut Reply<'_>, flags: bool) {
    let own = find(args.get(2)).and_then(|it| match it.subcommands {
        [] => Some(it),
        _ => find_any(&[args.get(2), args.get(3)].join(&b'|')),
    });
    let Some(command) = own else {
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
    for (at, key) in keys.iter().enumerate() {
        if !flags {
            reply.bulk(key);
            continue;
        }
        let gets = || (5..args.len()).any(|at| args.is(at, "GET"));
        let used = match command.uses {
            // What it may do with its key depends on its words.
            _ if command.name == "set" && !gets() => "OW update",
            [one] => one,
            all => all[at],
        };
        let used = used.split(' ').filter(|it| *it != "variable_flags");
        let used: Vec<&str> = used.collect();
        reply.array(2);
        reply.bulk(key);
        reply.set(used.len());
        used.iter().for_each(|it| reply.simple(it));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Span;

    /// What is answered to `COMMAND` with one word and a thousand times the longest other one, and whether it had room.
    fn answer(word: &str) -> (usize, bool) {
        let words = ["COMMAND", word].into_iter();
        let words = words.chain(std::iter::repeat_n("client", 1000));
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for word in words {
            spans.push(Span::new(bytes.len(), bytes.len() + word.len()));
            bytes.extend_from_slice(word.as_bytes());
        }
        let mut out = Vec::new();
        let mut reply = Reply::new(&mut out, false, 50_000);
        run(
            find(b"command").unwrap(),
            Args::new(&bytes, &spans),
            &mut reply,
        );
        let fits = !reply.overflowed();
        (out.len(), fits)
    }

    #[test]
    fn answers_to_many_words_take_no_more_memory_than_allowed() {
        let (docs, fits) = answer("DOCS");
        assert!(docs < 10_000 && fits, "{docs}");
        let (infos, fits) = answer("INFO");
        assert!(infos < 60_000 && !fits, "{infos}");
    }
}
