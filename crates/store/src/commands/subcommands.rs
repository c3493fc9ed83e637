//! The subcommands of `CLIENT`, `COMMAND`, `CONFIG` and others.

use super::command::Kind::{Read, Session};
use super::command::{Command, NONE, SECOND, command};
use super::{keys, texts};
use crate::arguments::Args;

#[rustfmt::skip]
pub(super) static CLIENT: &[Command] = &[
    command("client|caching", 3, NONE, Session, "connection", "(YES | NO)", "Refused, as keys are not tracked").is("noscript loading stale"),
    command("client|getname", 2, NONE, Session, "connection", "", "Tell the name of this connection").is("noscript loading stale"),
    command("client|getredir", 2, NONE, Session, "connection", "", "Tell that keys are not tracked").is("noscript loading stale"),
    command("client|help", 2, NONE, Session, "connection", "", "List the subcommands").is("loading stale"),
    command("client|id", 2, NONE, Session, "connection", "", "Tell the number of this connection").is("noscript loading stale"),
    command("client|info", 2, NONE, Session, "connection", "", "Tell about this connection").is("noscript loading stale").hints("nondeterministic_output"),
    command("client|kill", -3, NONE, Session, "connection", "[ip:port] [ID client-id] [TYPE (NORMAL | MASTER | REPLICA | PUBSUB)] [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME (YES | NO)]", "End connections").is("admin noscript loading stale"),
    command("client|list", -2, NONE, Session, "connection", "[TYPE (NORMAL | MASTER | REPLICA | PUBSUB)] [ID client-id [client-id ...]]", "Tell about connections").is("admin noscript loading stale").hints("nondeterministic_output"),
    command("client|no-evict", 3, NONE, Session, "connection", "(ON | OFF)", "Show this connection as one that is not cut off").is("admin noscript loading stale"),
    command("client|no-touch", 3, NONE, Session, "connection", "(ON | OFF)", "Taken, and changes nothing").is("noscript loading stale"),
    command("client|pause", -3, NONE, Session, "connection", "timeout [WRITE | ALL]", "Have commands wait").is("admin noscript loading stale"),
    command("client|reply", 3, NONE, Session, "connection", "(ON | OFF | SKIP)", "Turn replies on or off").is("noscript loading stale"),
    command("client|setinfo", 4, NONE, Session, "connection", "(LIB-NAME libname | LIB-VER libver)", "Taken, and changes nothing").is("noscript loading stale"),
    command("client|setname", 3, NONE, Session, "connection", "connection-name", "Give this connection a name").is("noscript loading stale"),
    command("client|tracking", -3, NONE, Session, "connection", "(ON | OFF)", "Turned off; to turn it on is refused").is("noscript loading stale"),
    command("client|trackinginfo", 2, NONE, Session, "connection", "", "Tell that keys are not tracked").is("noscript loading stale"),
    command("client|unblock", -3, NONE, Session, "connection", "client-id [TIMEOUT | ERROR]", "Tell that no command blocks").is("admin noscript loading stale"),
    command("client|unpause", 2, NONE, Session, "connection", "", "Have commands wait no longer").is("admin noscript loading stale"),
];
#[rustfmt::skip]
pub(super) static COMMAND: &[Command] = &[
    command("command|count", 2, NONE, Session, "server", "", "Count the commands").is("loading stale").among("connection"),
    command("command|docs", -2, NONE, Session, "server", "[command-name [command-name ...]]", "Tell what commands are for").is("loading stale").among("connection").hints("nondeterministic_output_order"),
    command("command|getkeys", -4, NONE, Session, "server", "command arg [arg ...]", "Tell the keys of a command").is("loading stale").among("connection"),
    command("command|getkeysandflags", -4, NONE, Session, "server", "command arg [arg ...]", "Tell the keys of a command, and what becomes of them").is("loading stale").among("connection"),
    command("command|help", 2, NONE, Session, "server", "", "List the subcommands").is("loading stale").among("connection"),
    command("command|info", -2, NONE, Session, "server", "[command-name [command-name ...]]", "Tell what commands take").is("loading stale").among("connection").hints("nondeterministic_output_order"),
    command("command|list", -2, NONE, Session, "server", "[FILTERBY (MODULE module-name | ACLCAT category | PATTERN pattern)]", "List the names of commands").is("loading stale").among("connection").hints("nondeterministic_output_order"),
];
#[rustfmt::skip]
pub(super) static CONFIG: &[Command] = &[
    command("config|get", -3, NONE, Session, "server", "parameter [parameter ...]", "Ask for settings").is("admin noscript loading stale"),
    command("config|help", 2, NONE, Session, "server", "", "List the subcommands").is("loading stale"),
    command("config|resetstat", 2, NONE, Session, "server", "", "Begin to count anew").is("admin noscript loading stale"),
    command("config|rewrite", 2, NONE, Session, "server", "", "Refused, as there is no file of settings").is("admin noscript loading stale"),
    command("config|set", -4, NONE, Session, "server", "parameter value [parameter value ...]", "Change settings").is("admin noscript loading stale").hints("request_policy:all_nodes response_policy:all_succeeded"),
];

#[rustfmt::skip]
pub(super) static LATENCY: &[Command] = &[
    command("latency|help", 2, NONE, Session, "server", "", "List the subcommands").is("loading stale"),
    command("latency|histogram", -2, NONE, Session, "server", "[command [command ...]]", "Tell that no delays are kept").is("admin noscript loading stale").hints("nondeterministic_output request_policy:all_nodes response_policy:special"),
    command("latency|history", 3, NONE, Session, "server", "event", "Tell that no delays are kept").is("admin noscript loading stale").hints("nondeterministic_output request_policy:all_nodes response_policy:special"),
    command("latency|latest", 2, NONE, Session, "server", "", "Tell that no delays are kept").is("admin noscript loading stale").hints("nondeterministic_output request_policy:all_nodes response_policy:special"),
    command("latency|reset", -2, NONE, Session, "server", "[event [event ...]]", "Taken, and changes nothing").is("admin noscript loading stale").hints("request_policy:all_nodes response_policy:all_succeeded"),
];
#[rustfmt::skip]
pub(super) static MEMORY: &[Command] = &[
    command("memory|help", 2, NONE, Session, "server", "", "List the subcommands").is("loading stale"),
    command("memory|usage", -3, SECOND, Read(keys::memory), "server", "key [SAMPLES count]", "Tell how much memory a key takes").uses(&["RO"]),
];
#[rustfmt::skip]
pub(super) static SLOWLOG: &[Command] = &[
    command("slowlog|get", -2, NONE, Session, "server", "[count]", "Tell that no slow commands are kept").is("admin loading stale").hints("request_policy:all_nodes nondeterministic_output"),
    command("slowlog|help", 2, NONE, Session, "server", "", "List the subcommands").is("loading stale"),
    command("slowlog|len", 2, NONE, Session, "server", "", "Tell that no slow commands are kept").is("admin loading stale").hints("request_policy:all_nodes response_policy:agg_sum nondeterministic_output"),
    command("slowlog|reset", 2, NONE, Session, "server", "", "Taken, and changes nothing").is("admin loading stale").hints("request_policy:all_nodes response_policy:all_succeeded"),
];

/// The subcommand that is called, or the empty word where there is none, if it takes that many words.
pub(crate) fn find(command: &Command, args: Args<'_>) -> Result<&'static str, Vec<u8>> {
    let all = command.subcommands;
    if all.is_empty() || args.len() == 1 {
        return Ok("");
    }
    let Some(found) = all.iter().find(|it| {
        let name = it.last_name().as_bytes();
        args.get(1).eq_ignore_ascii_case(name)
    }) else {
        let shown = texts::shown(args.get(1));
        let shown = &shown[..shown.len().min(128)];
        let way_out = format!("'. Try {} HELP.", command.name.to_uppercase());
        return Err([b"ERR unknown subcommand '", shown, way_out.as_bytes()].concat());
    };
    match found.takes(args.len()) {
        true => Ok(found.last_name()),
        false => Err(texts::arity(found.name).into_bytes()),
    }
}
