//! The network as a fabric: MPI's point-to-point communication between the ranks that act for their hosts.

use crate::Handle;
use crate::functions::Status;
use crate::library::Library;
use crate::network::Network;
use corecast_wire::Fabric;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes of the longest message that is copied before it is sent: eager in all libraries, whose limits are 4 KiB at least and
/// mostly 8 KiB and more.
const MESSAGE_BYTES: usize = 4096;

/// Bytes that MPI is given in one piece, as its counts are numbers of 31 bits.
const PIECE_BYTES: usize = 1 << 30;

/// What was sent and not taken over by the library yet. Beyond it the oldest is waited for.
const SENDS_MAX: usize = 256;

/// What a message is, by its tag.
#[derive(Clone, Copy)]
#[repr(i32)]
enum Tag {
    Note = 1,
    Message = 2,
    Loan = 3,
}

/// Why the network has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// A function of the library's has failed, and its error handler has returned.
    #[error("{call} between hosts has failed with {code}")]
    Call {
        /// The function.
        call: &'static str,
        /// MPI's error code.
        code: c_int,
    },
    /// Two ranks disagree about a length.
    #[error("host {host} sends {sent} bytes where {expected} are expected")]
    Length {
        /// The host of the sender.
        host: usize,
        /// Bytes that it sends.
        sent: usize,
        /// Bytes that are expected.
        expected: usize,
    },
}

/// A send that the library may still read for.
struct Outgoing {
    request: Handle,
    /// The window that it reads, and where; `None` for a message, whose bytes are its own.
    lent: Option<(u64, Range<usize>)>,
    /// Bytes that were copied to be sent.
    _copy: Box<[u8]>,
}

/// One rank's end of the network between hosts.
///
/// Its ranks are hosts, and [`act`](Network::act) says which process acts for each. Nothing waits in an order: a loan is a send of its
/// own to each borrower, so a slow one holds no other up.
pub struct MpiFabric {
    library: &'static Library,
    /// A communicator of its own, so that no message of the program's is taken for one of the fabric's.
    comm: Handle,
    host: usize,
    /// The rank that acts for each host.
    acting: Vec<c_int>,
    out: Vec<Outgoing>,
    windows: u64,
    /// For loans that are read in place, aligned for all elements.
    room: Vec<u128>,
}

/// An open buffer.
pub struct MpiWindow<'w> {
    start: *mut u8,
    len: usize,
    number: u64,
    data: PhantomData<&'w mut [u8]>,
}

/// Ends the process if it is dropped: the library must not read memory that is given back.
struct NoUnwinding;

impl Drop for NoUnwinding {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl MpiFabric {
    /// The end of this process, whose host is number `host` of `hosts`, on a communicator for this fabric alone.
    ///
    /// # Safety
    ///
    /// The library is initialised for as long as the fabric lives, `comm` is a communicator that only fabrics of its members
    /// use, and the calls of the fabric are those that the level of threads allows.
    pub unsafe fn new(library: &'static Library, comm: Handle, host: usize, hosts: usize) -> Self {
        Self {
            library,
            comm,
            host,
            acting: vec![0; hosts],
            out: Vec::new(),
            windows: 0,
            room: Vec::new(),
        }
    }

    /// Sends bytes that stay as they are until the request has ended.
    ///
    /// # Safety
    ///
    /// `len` bytes from `start` on can be read until then.
    unsafe fn start(
        &mut self,
        host: usize,
        tag: Tag,
        (start, len): (*const u8, usize),
    ) -> Result<Handle, NetworkError> {
        let mut request: Handle = 0;
        // SAFETY: the caller's promise, and a place for a handle.
        let code = unsafe {
            (self.library.functions().isend)(
                start.cast(),
                len as c_int,
                self.library.byte(),
                self.acting[host],
                tag as c_int,
                self.comm,
                &mut request,
            )
        };
        ended("MPI_Isend", code)?;
        if self.out.len() >= SENDS_MAX {
            let oldest = self.out.remove(0);
            self.wait_one(oldest)?;
        }
        Ok(request)
    }

    /// Sends a copy.
    fn give(&mut self, host: usize, tag: Tag, payload: &[u8]) -> Result<(), NetworkError> {
        let copy: Box<[u8]> = payload.into();
        // SAFETY: the copy is kept with the request.
        let request = unsafe { self.start(host, tag, (copy.as_ptr(), copy.len())) }?;
        self.out.push(Outgoing {
            request,
            lent: None,
            _copy: copy,
        });
        Ok(())
    }

    /// Receives as many bytes as `into` has.
    fn take(&mut self, host: usize, tag: Tag, into: &mut [u8]) -> Result<(), NetworkError> {
        let mut status = Status::default();
        let status = status.as_mut_ptr().cast();
        // SAFETY: room for as many bytes as are said, and places for a status and a number.
        let (code, got) = unsafe {
            let code = (self.library.functions().recv)(
                into.as_mut_ptr().cast(),
                into.len() as c_int,
                self.library.byte(),
                self.acting[host],
                tag as c_int,
                self.comm,
                status,
            );
            let mut got: c_int = 0;
            (self.library.functions().get_count)(status, self.library.byte(), &mut got);
            (code, got)
        };
        ended("MPI_Recv", code)?;
        match usize::try_from(got) {
            Ok(got) if got != into.len() => Err(self.wrong_length(host, got, into.len())),
            _ => Ok(()),
        }
    }

    /// Waits for all sends that `which` chooses by what they read of windows.
    fn wait_for(
        &mut self,
        which: impl Fn(Option<&(u64, Range<usize>)>) -> bool,
    ) -> Result<(), NetworkError> {
        let mut at = 0;
        while at < self.out.len() {
            if which(self.out[at].lent.as_ref()) {
                let one = self.out.swap_remove(at);
                self.wait_one(one)?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    fn wait_one(&mut self, mut one: Outgoing) -> Result<(), NetworkError> {
        let mut status = Status::default();
        // SAFETY: a request that this fabric has started and that has not ended, and a place for a status.
        let code = unsafe {
            (self.library.functions().wait)(&mut one.request, status.as_mut_ptr().cast())
        };
        ended("MPI_Wait", code)
    }

    /// Opens a window.
    fn open<'w, R>(
        &mut self,
        (start, len): (*mut u8, usize),
        body: impl FnOnce(&mut Self, &mut MpiWindow<'w>) -> R,
    ) -> R {
        self.windows += 1;
        let number = self.windows;
        let mut window = MpiWindow {
            start,
            len,
            number,
            data: PhantomData,
        };
        let guard = NoUnwinding;
        let result = body(self, &mut window);
        // An operation that has failed may have left loans. What they read is given back now.
        let ended = self.wait_for(|lent| lent.is_some_and(|lent| lent.0 == number));
        std::mem::forget(guard);
        if let Err(error) = ended {
            // Nobody knows what the library still reads.
            eprintln!("corecast: MPI: {error}");
            std::process::abort();
        }
        result
    }
}

fn ended(call: &'static str, code: c_int) -> Result<(), NetworkError> {
    match code {
        0 => Ok(()),
        code => Err(NetworkError::Call { call, code }),
    }
}

/// The pieces in which MPI is given `len` bytes: one at least.
fn pieces(len: usize) -> impl Iterator<Item = Range<usize>> {
    let count = len.div_ceil(PIECE_BYTES).max(1);
    (0..count).map(move |at| at * PIECE_BYTES..len.min((at + 1) * PIECE_BYTES))
}

impl Network for MpiFabric {
    fn act(&mut self, host: usize, rank: usize) {
        self.acting[host] = rank as c_int;
    }

    fn finish(&mut self) -> Result<(), NetworkError> {
        self.wait_for(|_| true)
    }
}

impl Fabric for MpiFabric {
    type Error = NetworkError;
    type Window<'w> = MpiWindow<'w>;

    corecast_wire::no_shared_lines!();

    fn rank(&self) -> usize {
        self.host
    }

    fn size(&self) -> usize {
        self.acting.len()
    }

    fn notify(&mut self, peer: usize) -> Result<(), NetworkError> {
        self.give(peer, Tag::Note, &[])
    }

    fn wait(&mut self, peer: usize) -> Result<(), NetworkError> {
        self.take(peer, Tag::Note, &mut [])
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), NetworkError> {
        self.give(peer, Tag::Message, payload)
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), NetworkError> {
        self.take(peer, Tag::Message, payload)
    }

    fn message_bytes_max(&self) -> usize {
        MESSAGE_BYTES
    }

    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> NetworkError {
        NetworkError::Length {
            host: peer,
            sent,
            expected,
        }
    }

    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        _element: usize,
        _written: bool,
        body: impl FnOnce(&mut Self, &mut MpiWindow<'_>) -> R,
    ) -> R {
        self.open((data.as_mut_ptr(), data.len()), body)
    }

    fn with_window_to_read<R>(
        &mut self,
        data: &[u8],
        _element: usize,
        body: impl FnOnce(&mut Self, &mut MpiWindow<'_>) -> R,
    ) -> R {
        // Nobody views it for writing.
        self.open((data.as_ptr().cast_mut(), data.len()), body)
    }

    fn view<'b>(&self, window: &'b MpiWindow<'_>, range: Range<usize>) -> &'b [u8] {
        let len = range.len();
        assert!(range.end <= window.len && range.start <= range.end);
        // SAFETY: within the data of the window, which are borrowed for as long as it is open; the library only reads what is
        // lent of them.
        unsafe { std::slice::from_raw_parts(window.start.add(range.start), len) }
    }

    fn view_mut<'b>(
        &mut self,
        window: &'b mut MpiWindow<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], NetworkError> {
        let len = range.len();
        assert!(range.end <= window.len && range.start <= range.end);
        let number = window.number;
        self.wait_for(|lent| {
            lent.is_some_and(|(of, lent)| {
                *of == number && lent.start < range.end && range.start < lent.end
            })
        })?;
        // SAFETY: as above; no loan of this part is under way, and the window is borrowed for writing.
        Ok(unsafe { std::slice::from_raw_parts_mut(window.start.add(range.start), len) })
    }

    fn lend(
        &mut self,
        window: &MpiWindow<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), NetworkError> {
        assert!(range.end <= window.len && range.start <= range.end);
        for peer in peers {
            for piece in pieces(range.len()) {
                let piece = range.start + piece.start..range.start + piece.end;
                // SAFETY: within the window, whose closing waits for the request; `view_mut` waits before it is written.
                let request = unsafe {
                    let start = window.start.add(piece.start).cast_const();
                    self.start(peer, Tag::Loan, (start, piece.len()))
                }?;
                self.out.push(Outgoing {
                    request,
                    lent: Some((window.number, piece)),
                    _copy: Box::default(),
                });
            }
        }
        Ok(())
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), NetworkError> {
        let mut room = std::mem::take(&mut self.room);
        let words = len.min(PIECE_BYTES).div_ceil(size_of::<u128>());
        if room.len() < words {
            room.resize(words, 0);
        }
        let mut ended = Ok(());
        for piece in pieces(len) {
            let bytes = room.as_mut_ptr().cast::<c_void>();
            // SAFETY: so many bytes are there, and any bytes are numbers.
            let into = unsafe { std::slice::from_raw_parts_mut(bytes.cast::<u8>(), piece.len()) };
            ended = self.take(peer, Tag::Loan, into);
            if ended.is_err() {
                break;
            }
            each(piece.start, into);
        }
        self.room = room;
        ended
    }

    fn fetch(&mut self, peer: usize, into: &mut [u8]) -> Result<(), NetworkError> {
        for piece in pieces(into.len()) {
            self.take(peer, Tag::Loan, &mut into[piece])?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), NetworkError> {
        self.wait_for(|lent| lent.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fit_numbers_of_31_bits() {
        assert!(pieces(0).eq(std::iter::once(0..0)));
        assert!(pieces(5).eq(std::iter::once(0..5)));
        let all: Vec<_> = pieces(PIECE_BYTES + 1).collect();
        assert_eq!(all, [0..PIECE_BYTES, PIECE_BYTES..PIECE_BYTES + 1]);
    }
}
