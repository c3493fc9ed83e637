//! A barrier of channels: every rank sends a word to the first one, which answers when all have come.

use crate::engine::{Engine, Member};
use std::fmt;
use std::sync::{Mutex, PoisonError, mpsc};

/// Words that a channel holds: at most one is under way.
const ROOM: usize = 1;

/// For each rank but the first, an end to send by and one to receive by.
type Ends<T, R> = Vec<Mutex<Option<(T, R)>>>;

/// A barrier over channels of one library.
pub struct Channels<T, R> {
    name: &'static str,
    setting: &'static str,
    /// The ends of rank 1 and on.
    ranks: Ends<T, R>,
    /// The ends of rank 0, in the order of the other ranks.
    first: Ends<T, R>,
    send: fn(&T),
    receive: fn(&R),
}

type Crossbeam = Channels<crossbeam_channel::Sender<()>, crossbeam_channel::Receiver<()>>;
type Std = Channels<mpsc::SyncSender<()>, mpsc::Receiver<()>>;

const GONE: &str = "all ends last as long as the race";

impl Crossbeam {
    /// A barrier of `ranks` ranks over `crossbeam_channel::bounded`.
    pub fn crossbeam(ranks: usize) -> Self {
        Channels::new(
            "crossbeam-channel",
            "bounded, by way of rank 0",
            ranks,
            || crossbeam_channel::bounded(ROOM),
            |sender| sender.send(()).expect(GONE),
            |receiver| receiver.recv().expect(GONE),
        )
    }
}

impl Std {
    /// A barrier of `ranks` ranks over [`mpsc::sync_channel`].
    pub fn std(ranks: usize) -> Self {
        Channels::new(
            "std::sync::mpsc",
            "sync_channel, by way of rank 0",
            ranks,
            || mpsc::sync_channel(ROOM),
            |sender| sender.send(()).expect(GONE),
            |receiver| receiver.recv().expect(GONE),
        )
    }
}

impl<T, R> Channels<T, R> {
    fn new(
        name: &'static str,
        setting: &'static str,
        ranks: usize,
        channel: impl Fn() -> (T, R),
        send: fn(&T),
        receive: fn(&R),
    ) -> Self {
        let mut channels = Channels {
            name,
            setting,
            ranks: Vec::new(),
            first: Vec::new(),
            send,
            receive,
        };
        for _ in 1..ranks {
            let ((there, come), (back, go)) = (channel(), channel());
            channels.ranks.push(Mutex::new(Some((there, go))));
            channels.first.push(Mutex::new(Some((back, come))));
        }
        channels
    }
}

impl<T, R> fmt::Debug for Channels<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channels({}, {})", self.name, self.ranks.len() + 1)
    }
}

fn take<E>(ends: &Mutex<Option<E>>) -> E {
    let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
    ends.take().expect("a barrier of channels serves one race")
}

impl<T: Send, R: Send> Engine for Channels<T, R> {
    fn name(&self) -> &str {
        self.name
    }

    fn setting(&self) -> String {
        self.setting.to_owned()
    }

    fn ranks(&self) -> usize {
        self.ranks.len() + 1
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let (send, receive) = (self.send, self.receive);
        if rank == 0 {
            let ends: Vec<(T, R)> = self.first.iter().map(take).collect();
            return Box::new(move |operations| {
                for _ in 0..operations {
                    ends.iter().for_each(|(_, come)| receive(come));
                    ends.iter().for_each(|(back, _)| send(back));
                }
            });
        }
        let (there, go) = take(&self.ranks[rank - 1]);
        Box::new(move |operations| {
            for _ in 0..operations {
                send(&there);
                receive(&go);
            }
        })
    }
}
