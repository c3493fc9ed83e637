//! `SAVE`, `BGSAVE`, `BGREWRITEAOF` and `LASTSAVE`: snapshots that clients ask for.

use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::{Command, texts};
use crate::durability::Durability;
use crate::resp::Reply;

pub(super) fn run(
    command: &Command,
    args: Args<'_>,
    around: &Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
    let Some(Durability { saver, .. }) = &around.shared.durability else {
        return reply.error("ERR there is no folder to save to: start the server with --dir");
    };
    let is_saving = saver.state().is_saving;
    let schedules = args.len() == 2 && args.is(1, "SCHEDULE");
    match command.name {
        "lastsave" => reply.count(saver.state().saved_at as usize),
        // The snapshot is taken of a replica beside this event loop.
        "save" => match saver.save() {
            true => reply.ok(),
            false => reply.error("ERR no snapshot was taken: the server has told why"),
        },
        "bgrewriteaof" => {
            saver.ask();
            match is_saving {
                true => reply.simple("Background append only file rewriting scheduled"),
                false => reply.simple("Background append only file rewriting started"),
            }
        }
        _ if args.len() > 1 && !schedules => reply.error(texts::SYNTAX),
        _ if is_saving && !schedules => reply.error("ERR Background save already in progress"),
        _ => {
            saver.ask();
            match is_saving {
                true => reply.simple("Background saving scheduled"),
                false => reply.simple("Background saving started"),
            }
        }
    }
}
