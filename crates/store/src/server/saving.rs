//! `SAVE`, `BGSAVE`, `BGREWRITEAOF` and `LASTSAVE`: snapshots that clients ask for.

use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::{Command, texts};
use crate::durability::Durability;
use crate::processes::ReplicaStore;
use crate::resp::Reply;
use crate::store::StoreHandle;

pub(super) fn run(
    command: &Command,
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
    let schedules = args.len() == 2 && args.is(1, "SCHEDULE");
    if command.name == "bgsave" && args.len() > 1 && !schedules {
        return reply.error(texts::SYNTAX);
    }
    let Some(durability) = &around.shared.durability else {
        // As where there is a folder and no snapshot yet.
        if command.name == "lastsave" {
            return reply.integer(around.shared.started_at);
        }
        return reply.error("ERR there is no folder to save to: start the server with --dir");
    };
    let is_saving = durability.saves().is_saving;
    match command.name {
        "lastsave" => reply.count(durability.saves().saved_at as usize),
        "save" => match save(durability, around.store) {
            true => reply.ok(),
            false => reply.error("ERR no snapshot was taken: the server has told why"),
        },
        "bgrewriteaof" => {
            durability.ask();
            match is_saving {
                true => reply.simple("Background append only file rewriting scheduled"),
                false => reply.simple("Background append only file rewriting started"),
            }
        }
        _ if is_saving && !schedules => reply.error("ERR Background save already in progress"),
        _ => {
            durability.ask();
            match is_saving {
                true => reply.simple("Background saving scheduled"),
                false => reply.simple("Background saving started"),
            }
        }
    }
}

/// Has a snapshot taken, and returns whether it was.
fn save(durability: &Durability, store: &mut StoreHandle) -> bool {
    match durability {
        // It is taken of a replica beside this event loop.
        Durability::Own(persistence) => persistence.saver.save(),
        Durability::Group(_) => store.replica().is_some_and(ReplicaStore::save),
    }
}
