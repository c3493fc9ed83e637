//! Corecast's queues.

use crate::link::{Message, Rx, Tx, WORDS};
use corecast_wire::queue::{self, Backend, Options, Receiver, Sender};
use corecast_wire::{SegmentError, WaitConfig};

/// Creates a queue of Corecast, which carries messages in one direction.
pub(crate) fn wire(
    backend: Backend,
    slots: usize,
    wait_config: WaitConfig,
) -> Result<(Sender, Receiver), SegmentError> {
    queue::queue(&Options {
        backend,
        slots,
        wait_config,
        ..Options::default()
    })
}

const _: () = assert!(WORDS * 8 == queue::SLOT_PAYLOAD_BYTES);

const GONE: &str = "both ends last as long as the race";

impl Tx for Sender {
    #[inline(always)]
    fn send(&mut self, message: Message) {
        Sender::send(self, bytemuck::bytes_of(&message.0)).expect(GONE);
    }
}

impl Rx for Receiver {
    #[inline(always)]
    fn receive(&mut self) -> Message {
        let mut message = Message::default();
        Receiver::receive(self, bytemuck::bytes_of_mut(&mut message.0)).expect(GONE);
        message
    }
}
