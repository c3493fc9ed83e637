//! `CONFIG`: settings by the names that Redis has for them.

use corecast_wire::sync::Ordering;

use super::client::help;
use super::listener::{BACKLOG, KEEP_ALIVE};
use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::{Command, DATABASES, subcommands, texts};
use crate::durability::GROWN_BYTES_MIN;
use crate::glob;
use crate::number::integer;
use crate::resp::{BULK_BYTES_MAX, REQUEST_BYTES_MAX, Reply};

pub(super) fn run(
    command: &Command,
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
    match subcommands::find(command, args) {
        Ok("get") => get(args, around, reply),
        Ok("set") => match set(args, around) {
            Ok(()) => reply.ok(),
            Err(text) => reply.error(text),
        },
        Ok("resetstat") => {
            let expired = around.facts().expired;
            around.shared.count_anew(expired);
            reply.ok();
        }
        // Settings come from the command line.
        Ok("rewrite") => reply.error("ERR The server is running without a config file"),
        Ok(_) => help(command, reply),
        Err(text) => reply.error(text),
    }
}

/// All settings with their values.
fn settings(around: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    let shared = around.shared;
    let options = &shared.options;
    let yes = |it: bool| if it { "yes" } else { "no" }.to_owned();
    vec![
        ("appendfsync", options.append_fsync.name().to_owned()),
        ("appendonly", yes(options.dir.is_some())),
        // Of the last snapshot, as `durability/saver.rs` has it.
        ("auto-aof-rewrite-min-size", GROWN_BYTES_MIN.to_string()),
        ("auto-aof-rewrite-percentage", "100".to_owned()),
        ("bind", options.bind.to_string()),
        ("client-query-buffer-limit", REQUEST_BYTES_MAX.to_string()),
        ("databases", DATABASES.to_string()),
        (
            "dir",
            options
                .dir
                .as_ref()
                .map_or_else(String::new, |it| it.display().to_string()),
        ),
        (
            "maxclients",
            shared.clients_max.load(Ordering::Relaxed).to_string(),
        ),
        ("maxmemory", "0".to_owned()),
        ("maxmemory-clients", options.buffers_bytes_max.to_string()),
        ("maxmemory-policy", "noeviction".to_owned()),
        ("port", shared.address.port().to_string()),
        ("proto-max-bulk-len", BULK_BYTES_MAX.to_string()),
        ("protected-mode", yes(options.protected)),
        ("requirepass", options.password.clone().unwrap_or_default()),
        ("save", String::new()),
        ("tcp-backlog", BACKLOG.to_string()),
        ("tcp-keepalive", KEEP_ALIVE.as_secs().to_string()),
        (
            "timeout",
            shared.idle_seconds_max.load(Ordering::Relaxed).to_string(),
        ),
    ]
}

fn get(args: Args<'_>, around: &Surroundings<'_>, reply: &mut Reply<'_>) {
    let settings = settings(around);
    let wanted = settings.iter().filter_map(|(name, value)| {
        let is_meant = |it: &&[u8]| glob::matches(&it.to_ascii_lowercase(), name.as_bytes());
        let by = args.from(2).find(is_meant)?;
        // A name, not a pattern, comes back as it was written.
        let is_name = by.eq_ignore_ascii_case(name.as_bytes());
        Some((if is_name { by } else { name.as_bytes() }, value))
    });
    let found: Vec<(&[u8], &String)> = wanted.collect();
    reply.map(found.len());
    for (name, value) in found {
        reply.bulk(name);
        reply.bulk(value.as_bytes());
    }
}

/// Why a setting was not changed, in Redis's words.
fn failure(name: &str, why: &str) -> Vec<u8> {
    let text = "ERR CONFIG SET failed (possibly related to argument '";
    format!("{text}{name}') - {why}").into_bytes()
}

/// Changes settings, all or none. Those that cannot be changed may be set to what they are.
fn set(args: Args<'_>, around: &Surroundings<'_>) -> Result<(), Vec<u8>> {
    if !args.len().is_multiple_of(2) {
        return Err(texts::SYNTAX.into());
    }
    let settings = settings(around);
    let mut named: Vec<(&str, &String, &[u8])> = Vec::new();
    for (name, value) in args.pairs(2) {
        let is_it = |it: &&(&str, String)| name.eq_ignore_ascii_case(it.0.as_bytes());
        let Some((known, before)) = settings.iter().find(is_it) else {
            let text = b"ERR Unknown option or number of arguments for CONFIG SET - '".as_slice();
            return Err([text, texts::shown(name), b"'"].concat());
        };
        // As in Redis, before any value is looked at.
        if named.iter().any(|it| it.0 == *known) {
            return Err(failure(known, "duplicate parameter"));
        }
        named.push((*known, before, value));
    }
    let mut changes = Vec::new();
    for (known, before, value) in &named {
        let failed = |why: &str| Err(failure(known, why));
        let (setting, range) = match *known {
            "maxclients" => (&around.shared.clients_max, 1..=u64::from(u32::MAX)),
            "timeout" => (&around.shared.idle_seconds_max, 0..=i32::MAX as u64),
            _ if before.as_bytes() == *value => continue,
            _ => return failed("can't set immutable config"),
        };
        let Some(number) = integer(value) else {
            return failed("argument couldn't be parsed into an integer");
        };
        match u64::try_from(number) {
            Ok(number) if range.contains(&number) => changes.push((setting, number)),
            _ => {
                let (least, most) = range.into_inner();
                return failed(&format!(
                    "argument must be between {least} and {most} inclusive"
                ));
            }
        }
    }
    for (setting, value) in changes {
        setting.store(value, Ordering::Relaxed);
    }
    Ok(())
}
