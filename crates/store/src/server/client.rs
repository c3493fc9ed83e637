//! `CLIENT`: about this connection and others.

use std::collections::HashSet;

use super::client_list::{ClientEntry, line, own_info, own_line};
use super::clock::now;
use super::pause::Waits;
use super::session::Session;
use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::{Command, subcommands, texts};
use crate::number::integer;
use crate::resp::Reply;

pub(super) const WRONG_NAME: &str =
    "ERR Client names cannot contain spaces, newlines or special characters.";

/// Whether a client may be called so: what `CLIENT LIST` shows must stay one word.
pub(super) fn is_name(name: &[u8]) -> bool {
    name.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

pub(super) fn rename(session: &mut Session, around: &Surroundings<'_>, name: &[u8]) {
    name.clone_into(&mut session.name);
    if let Some(entry) = around.shared.clients().get_mut(&session.id) {
        name.clone_into(&mut entry.name);
    }
}

pub(super) fn run(
    session: &mut Session,
    command: &Command,
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
    // It was looked at before, as all words of commands are.
    match subcommands::find(command, args).unwrap_or_default() {
        "getname" => reply.bulk_or_null(Some(&session.name[..]).filter(|it| !it.is_empty())),
        "id" => reply.integer(i64::try_from(session.id).unwrap_or(i64::MAX)),
        "info" => {
            let clients = around.shared.clients();
            let entry = clients.get(&session.id);
            let shown = entry.map_or_else(String::new, |it| own_info(session, it, args) + "\n");
            reply.verbatim(&shown);
        }
        // No client is in tracking mode.
        "caching" => reply.error(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
        ),
        "getredir" => reply.integer(-1),
        "tracking" if args.is(2, "OFF") => reply.ok(),
        "tracking" if args.is(2, "ON") => reply.error("ERR Client tracking is not served"),
        "tracking" => reply.error(texts::SYNTAX),
        "trackinginfo" => {
            reply.map(3);
            reply.bulk(b"flags");
            reply.set(1);
            reply.bulk(b"off");
            reply.bulk(b"redirect");
            reply.integer(-1);
            reply.bulk(b"prefixes");
            reply.array(0);
        }
        "unblock" => unblock(args, reply),
        "pause" => match pause(args, around) {
            Ok(()) => reply.ok(),
            Err(text) => reply.error(text),
        },
        "unpause" => {
            around.shared.pause.end();
            around.shared.wake_all();
            reply.ok();
        }
        "list" => list(session, args, around, reply),
        "kill" => kill(session, args, around, reply),
        name @ ("no-evict" | "no-touch") if args.is(2, "ON") || args.is(2, "OFF") => {
            if name == "no-evict" {
                session.no_evict = args.is(2, "ON");
            }
            reply.ok();
        }
        "no-evict" | "no-touch" => reply.error(texts::SYNTAX),
        "reply" if args.is(2, "ON") => {
            session.replies.off = false;
            session.replies.skips = false;
            reply.ok();
        }
        "reply" if args.is(2, "OFF") => session.replies.off = true,
        "reply" if args.is(2, "SKIP") => {
            // It is silent already, and goes on so.
            session.replies.skips_next |= !session.replies.off;
        }
        "reply" => reply.error(texts::SYNTAX),
        "setinfo" if args.is(2, "LIB-NAME") || args.is(2, "LIB-VER") => {
            match is_name(args.get(3)) {
                true => reply.ok(),
                false => reply
                    .error("ERR lib-name cannot contain spaces, newlines or special characters."),
            }
        }
        "setinfo" => reply.error(
            [
                b"ERR Unrecognized option '",
                texts::shown(args.get(2)),
                b"'",
            ]
            .concat(),
        ),
        "setname" if is_name(args.get(2)) => {
            rename(session, around, args.get(2));
            reply.ok();
        }
        "setname" => reply.error(WRONG_NAME),
        _ => help(command, reply),
    }
}

/// Lists the subcommands.
pub(super) fn help(command: &Command, reply: &mut Reply<'_>) {
    let all = command.subcommands;
    reply.array(all.len() + 1);
    reply.simple(&format!(
        "{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        command.name.to_uppercase()
    ));
    for subcommand in all {
        reply.simple(&subcommand.last_name().to_uppercase());
    }
}

/// `CLIENT UNBLOCK`: no command waits for anything that others do.
fn unblock(args: Args<'_>, reply: &mut Reply<'_>) {
    match args.len() {
        5.. => reply.error(texts::words("client", args)),
        4 if !args.is(3, "TIMEOUT") && !args.is(3, "ERROR") => {
            reply.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
        }
        _ if integer(args.get(2)).is_none() => reply.error(texts::NO_INTEGER),
        _ => reply.integer(0),
    }
}

/// `CLIENT PAUSE`.
fn pause(args: Args<'_>, around: &mut Surroundings<'_>) -> Result<(), Vec<u8>> {
    let waits = match args.len() {
        5.. => return Err(texts::words("client", args)),
        4 if args.is(3, "WRITE") => Waits::Writes,
        4 if !args.is(3, "ALL") => {
            return Err(b"ERR CLIENT PAUSE mode must be WRITE or ALL".into());
        }
        _ => Waits::All,
    };
    let Some(timeout) = integer(args.get(2)) else {
        return Err(b"ERR timeout is not an integer or out of range".into());
    };
    if timeout < 0 {
        return Err(b"ERR timeout is negative".into());
    }
    let Some(end) = timeout.checked_add(now()) else {
        return Err(b"ERR timeout is out of range".into());
    };
    // The others would go on, and a pause that some clients do not keep is none.
    if around.store.replica().is_some() {
        return Err(b"ERR CLIENT PAUSE is not served by replicas that are processes".into());
    }
    around.shared.pause.begin(waits, end);
    Ok(())
}

/// Whether clients of a type are there, of which all here are the first; or what the type is taken for.
fn is_normal(kind: &[u8]) -> Result<bool, Vec<u8>> {
    let kind = texts::shown(kind);
    let is = |name: &str| kind.eq_ignore_ascii_case(name.as_bytes());
    match () {
        () if is("normal") => Ok(true),
        () if ["master", "slave", "replica", "pubsub"].into_iter().any(is) => Ok(false),
        () => Err([b"ERR Unknown client type '", kind, b"'"].concat()),
    }
}

/// `CLIENT LIST`: all, or those of a `TYPE`, or by `ID`.
fn list(session: &Session, args: Args<'_>, around: &Surroundings<'_>, reply: &mut Reply<'_>) {
    let mut ids = None;
    let mut any = true;
    match args.len() {
        2 => {}
        4 if args.is(2, "TYPE") => match is_normal(args.get(3)) {
            Ok(normal) => any = normal,
            Err(text) => return reply.error(text),
        },
        4.. if args.is(2, "ID") => match args.from(3).map(integer).collect::<Option<Vec<i64>>>() {
            Some(numbers) => ids = Some(numbers),
            None => return reply.error("ERR Invalid client ID"),
        },
        _ => return reply.error(texts::SYNTAX),
    }
    let clients = around.shared.clients();
    let show = |(id, entry): (&u64, &ClientEntry)| match *id == session.id {
        true => own_line(session, entry, args),
        false => line(*id, entry),
    };
    let shown: String = match &ids {
        None => clients.iter().filter(|_| any).map(show).collect(),
        // In the order in which they were asked for, and each once: a request may have millions of words.
        Some(ids) => {
            let mut shown = HashSet::new();
            let known = ids.iter().filter_map(|it| u64::try_from(*it).ok());
            let found = known.filter_map(|it| clients.get_key_value(&it));
            found
                .filter(|(id, _)| shown.insert(**id))
                .map(show)
                .collect()
        }
    };
    reply.verbatim(&shown);
}

/// `CLIENT KILL`: by address, or by `ID`, `ADDR`, `LADDR`, `TYPE`, `USER` and `SKIPME`.
fn kill(session: &mut Session, args: Args<'_>, around: &Surroundings<'_>, reply: &mut Reply<'_>) {
    let old_form = args.len() == 3;
    let (mut id, mut address, mut local, mut skip_own) = (None, None, None, !old_form);
    let mut any = true;
    if old_form {
        address = Some(args.get(2));
    }
    for at in (2..args.len()).step_by(2).filter(|_| !old_form) {
        // What comes before is looked at first.
        if at + 1 == args.len() {
            return reply.error(texts::SYNTAX);
        }
        let value = args.get(at + 1);
        match () {
            () if args.is(at, "ID") => match integer(value).and_then(|it| u64::try_from(it).ok()) {
                Some(number) if number > 0 => id = Some(number),
                _ => return reply.error("ERR client-id should be greater than 0"),
            },
            () if args.is(at, "ADDR") => address = Some(value),
            () if args.is(at, "LADDR") => local = Some(value),
            () if args.is(at, "TYPE") => match is_normal(value) {
                Ok(normal) => any &= normal,
                Err(text) => return reply.error(text),
            },
            // All are the one user that there is.
            () if args.is(at, "USER") && value == b"default" => {}
            () if args.is(at, "USER") => {
                return reply.error([b"ERR No such user '", texts::shown(value), b"'"].concat());
            }
            () if args.is(at, "SKIPME") && args.is(at + 1, "YES") => skip_own = true,
            () if args.is(at, "SKIPME") && args.is(at + 1, "NO") => skip_own = false,
            () => return reply.error(texts::SYNTAX),
        }
    }
    let mut loops = Vec::new();
    for (number, entry) in &mut *around.shared.clients() {
        let chosen = any
            && id.is_none_or(|it| it == *number)
            && address.is_none_or(|it| it == entry.peer.to_string().as_bytes())
            && local.is_none_or(|it| {
                let own = entry.local.map(|it| it.to_string());
                own.is_some_and(|own| own.as_bytes() == it)
            });
        let own = *number == session.id;
        if chosen && !entry.killed && !(own && skip_own) {
            entry.killed = true;
            session.ends |= own;
            loops.push(entry.event_loop);
        }
    }
    let killed = loops.len();
    loops.dedup();
    loops.iter().for_each(|it| around.shared.tell_killed(*it));
    match old_form {
        true if killed > 0 => reply.ok(),
        true => reply.error("ERR No such client"),
        false => reply.count(killed),
    }
}
