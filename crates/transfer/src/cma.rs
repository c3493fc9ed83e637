//! Kernel copies: reading the memory of another process, with one copy and one system call
//! (`process_vm_readv`).
//!
//! An address that a peer wrote is passed only to the kernel, together with the peer's process id. The
//! kernel may give the id to another process once the peer has ended. So a pidfd of the peer is kept, which
//! tells after each read whether the peer still lives. If it does, no other process had its id meanwhile.

use crate::unfetched::Unfetched;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::OwnedFd;

/// A process whose memory this one may read.
#[derive(Debug)]
pub struct Process {
    pid: libc::pid_t,
    /// A pidfd, which is readable once the process has ended.
    end: OwnedFd,
}

impl Process {
    /// Opens process `pid`, if its memory can be read: `expected` is the word that must be found there at
    /// `address`.
    ///
    /// # Errors
    ///
    /// The kernel's error: hardened systems and filters of system calls refuse, and kernels before 5.3 have
    /// no pidfds. [`io::ErrorKind::InvalidData`] if another word is found.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_transfer::Process;
    /// let word = Box::new(77_u64);
    /// let address = (&raw const *word).addr() as u64;
    /// // Where it is allowed.
    /// if Process::open(std::process::id(), (address, 77)).is_ok() {
    ///     let error = Process::open(std::process::id(), (address, 78)).unwrap_err();
    ///     assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    /// }
    /// ```
    pub fn open(pid: u32, (address, expected): (u64, u64)) -> io::Result<Self> {
        let number = i32::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
        let process = Pid::from_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
        let end = pidfd_open(process, PidfdFlags::empty())?;
        let found = Self { pid: number, end };
        let mut word = [0; 8];
        let read = found.read_some(address, &mut word)?;
        match read == word.len() && u64::from_ne_bytes(word) == expected && found.lives() {
            true => Ok(found),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn lives(&self) -> bool {
        let mut end = [PollFd::new(&self.end, PollFlags::IN)];
        poll(&mut end, Some(&Timespec::default())) == Ok(0)
    }

    /// Copies the bytes of that process from `address` on to `into`. If the process has ended meanwhile,
    /// wipes `into`, as the bytes may be those of another process, and returns [`Unfetched::Revoked`]. If
    /// the kernel refuses, or there are no such bytes, returns [`Unfetched::Refused`].
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unfetched> {
        let mut done = 0;
        let mut refused = false;
        while done < into.len() && !refused {
            let from = address.wrapping_add(done as u64);
            match self.read_some(from, &mut into[done..]) {
                Ok(0) | Err(_) => refused = true,
                Ok(read) => done += read,
            }
        }
        if !self.lives() {
            into.fill(0);
            return Err(Unfetched::Revoked);
        }
        match refused {
            true => Err(Unfetched::Refused),
            false => Ok(()),
        }
    }

    /// Reads by one system call, and returns the number of bytes read, which may be less than asked for.
    fn read_some(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let here = libc::iovec {
            iov_base: into.as_mut_ptr().cast(),
            iov_len: into.len(),
        };
        let there = libc::iovec {
            iov_base: core::ptr::without_provenance_mut(address as usize),
            iov_len: into.len(),
        };
        // SAFETY: writes to `into` alone, which is ours to write; the other address is looked up by the
        // kernel in that process, and refused where nothing lies.
        let read = unsafe { libc::process_vm_readv(self.pid, &here, 1, &there, 1, 0) };
        usize::try_from(read).map_err(|_| io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests;
