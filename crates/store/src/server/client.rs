//! `CLIENT`: about this connection and others.

use super::session::{Replies, Session};
use super::shared::ClientEntry;
use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::{subcommands, texts};
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
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
    // It was looked at before, as all words of commands are.
    match subcommands::find("client", args).unwrap_or_default() {
        "getname" => reply.bulk_or_null(Some(&session.name[..]).filter(|it| !it.is_empty())),
        "id" => reply.integer(i64::try_from(session.id).unwrap_or(i64::MAX)),
        "info" => {
            let clients = around.shared.clients();
            let entry = clients.get(&session.id);
            reply.verbatim(&entry.map_or_else(String::new, |it| line(session.id, it)));
        }
        "list" => {
            let clients = around.shared.clients();
            let all: String = clients.iter().map(|(id, it)| line(*id, it)).collect();
            reply.verbatim(&all);
        }
        "kill" => kill(session, args, around, reply),
        "no-evict" | "no-touch" if args.is(2, "ON") || args.is(2, "OFF") => reply.ok(),
        "no-evict" | "no-touch" => reply.error(texts::SYNTAX),
        "reply" if args.is(2, "ON") => {
            session.replies = Replies::On;
            reply.ok();
        }
        "reply" if args.is(2, "OFF") => session.replies = Replies::Off,
        "reply" if args.is(2, "SKIP") => {
            // It is silent already, and goes on so.
            if session.replies != Replies::Off {
                session.replies = Replies::SkipNext;
            }
        }
        "reply" => reply.error(texts::SYNTAX),
        "setinfo" if args.is(2, "LIB-NAME") || args.is(2, "LIB-VER") => {
            match is_name(args.get(3)) {
                true => reply.ok(),
                false => reply
                    .error("ERR lib-name cannot contain spaces, newlines or special characters."),
            }
        }
        "setinfo" => reply.error([b"ERR Unrecognized option '", args.get(2), b"'"].concat()),
        "setname" if is_name(args.get(2)) => {
            rename(session, around, args.get(2));
            reply.ok();
        }
        "setname" => reply.error(WRONG_NAME),
        _ => help("client", reply),
    }
}

/// Lists the subcommands.
pub(super) fn help(command: &str, reply: &mut Reply<'_>) {
    let all = subcommands::of(command);
    reply.array(all.len() + 1);
    reply.simple(&format!(
        "{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        command.to_uppercase()
    ));
    for (name, _) in all {
        reply.simple(&name.to_uppercase());
    }
}

/// A client as `CLIENT LIST` shows it.
fn line(id: u64, entry: &ClientEntry) -> String {
    format!(
        "id={id} addr={} name={} age={} replica={}\n",
        entry.peer,
        String::from_utf8_lossy(&entry.name),
        entry.since.elapsed().as_secs(),
        entry.event_loop,
    )
}

/// `CLIENT KILL`: by address, or by `ID`, `ADDR` and `SKIPME`.
fn kill(session: &mut Session, args: Args<'_>, around: &Surroundings<'_>, reply: &mut Reply<'_>) {
    let old_form = args.len() == 3;
    let (mut id, mut address, mut skip_own) = (None, None, !old_form);
    if old_form {
        address = Some(args.get(2));
    } else if !args.len().is_multiple_of(2) {
        return reply.error(texts::SYNTAX);
    }
    for at in (2..args.len()).step_by(2).filter(|_| !old_form) {
        let value = args.get(at + 1);
        match () {
            () if args.is(at, "ID") => match integer(value).and_then(|it| u64::try_from(it).ok()) {
                Some(number) if number > 0 => id = Some(number),
                _ => return reply.error("ERR client-id should be greater than 0"),
            },
            () if args.is(at, "ADDR") => address = Some(value),
            () if args.is(at, "SKIPME") && args.is(at + 1, "YES") => skip_own = true,
            () if args.is(at, "SKIPME") && args.is(at + 1, "NO") => skip_own = false,
            () => return reply.error(texts::SYNTAX),
        }
    }
    let mut loops = Vec::new();
    for (number, entry) in &mut *around.shared.clients() {
        let chosen = id.is_none_or(|it| it == *number)
            && address.is_none_or(|it| it == entry.peer.to_string().as_bytes());
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
