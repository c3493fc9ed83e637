//! Marks that the kernel sets when a thread ends: its list of robust futexes, used for the news alone.
//!
//! A thread can give the kernel a list (`set_robust_list`). When the thread ends, the kernel goes through the list, and
//! in each word that holds the thread's number it replaces the number by a mark. Other processes that have mapped the
//! word see that. What makes the mark useful between processes:
//!
//! - it does not matter how the thread ends: by itself, by a signal, by the end of its process, or because its process
//!   calls `exec`, which ends all threads and which a descriptor of the process (pidfd) does not show;
//! - numbers of processes do not count, so it works between PID namespaces;
//! - a forked child has no copy of the list, unlike the descriptors and locks of files, so it cannot hold up the mark.
//!
//! ```text
//! head, in this process ──► node │ word  in one segment ──► node │ word  in another one ──► head
//! ```
//!
//! A node lies directly before its word, so that one offset holds for all. Words that nobody sleeps on are never woken,
//! so who wants to know has to look.
//!
//! **Invariant 1:** the thread can be killed between any two stores, so the list is whole at each moment: a node is
//! written before it is linked, and unlinked before its segment may go. **Invariant 2:** only the kernel follows the
//! nodes in memory that other processes can write; this process knows their order by itself. A corrupt node can
//! end the list early when the thread ends, or make the kernel mark another word that this process has mapped and that
//! holds the thread's number.
//!
//! There is no model of it under loom: each word has one writer, the thread and, after its end, the kernel, and what it
//! publishes is itself.

use crate::segment::LineRef;
use crate::sync::{AtomicU64, Ordering};
use crate::words::{WORDS, Words};
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// The kernel's bit in a word whose thread has ended.
const OWNER_DIED: u64 = 0x4000_0000;

/// The word of a mark that a thread has given up. The half that the kernel reads is 0, which is no thread's number.
const GIVEN_UP: u64 = 1 << 32;

/// A node and, behind it, a word that tells whether the thread that [keeps](RobustList::add) it has ended.
#[derive(Clone, Debug)]
pub struct EndMark {
    line: LineRef<Words>,
    node: usize,
}

impl EndMark {
    /// The mark in words `node` and `node + 1` of `line`, which nobody else writes.
    ///
    /// # Panics
    ///
    /// If there are no such words.
    pub fn new(line: LineRef<Words>, node: usize) -> Self {
        assert!(
            node < WORDS - 1,
            "word {node} of {WORDS} has none behind it"
        );
        Self { line, node }
    }

    /// Whether a thread keeps the mark, or has kept it until it gave it up or ended.
    pub fn is_known(&self) -> bool {
        self.line.get(self.node + 1) != 0
    }

    /// Whether the thread that kept the mark has ended.
    pub fn has_ended(&self) -> bool {
        self.line.get(self.node + 1) & OWNER_DIED != 0
    }

    /// Writes what a thread of process `pid` writes that keeps it; a scheduler then plays the kernel.
    #[cfg(corecast_simulated)]
    pub fn keep_for(&self, pid: u32) {
        self.line.set(self.node + 1, pid.into());
    }

    fn address(&self) -> u64 {
        core::ptr::from_ref(self.line.word(self.node)).addr() as u64
    }
}

/// What the kernel reads when the thread ends (`struct robust_list_head`).
#[derive(Debug)]
#[repr(C)]
struct Head {
    first: AtomicU64,
    /// Bytes from a node to its word.
    offset: i64,
    /// A node that is about to be linked; not used.
    pending: u64,
}

/// The marks that the calling thread keeps.
#[derive(Debug)]
pub struct RobustList {
    /// Freed once the kernel does not read it any more.
    head: ManuallyDrop<Box<Head>>,
    /// The thread's list before, which is that of the C library, and its length in bytes.
    before: (*mut libc::c_void, usize),
    /// The number of the thread, in its own PID namespace.
    thread: u64,
    /// The marks in the order of the list, with the caller's numbers.
    marks: Vec<(u64, EndMark)>,
    /// The list is that of a thread, so it stays there.
    thread_bound: PhantomData<*mut ()>,
}

impl RobustList {
    /// Makes the list of the calling thread. Until it is dropped the thread must lock no robust mutex of the C library,
    /// which would not be released if the thread ended. If a filter of system calls that was installed meanwhile refuses
    /// the list before back when this is dropped, that holds until the thread ends, and a few bytes are never freed.
    ///
    /// # Errors
    ///
    /// The kernel's error, where a filter refuses the call, and [`io::ErrorKind::Unsupported`] on machines with words
    /// of another layout.
    pub fn of_this_thread() -> io::Result<Self> {
        if cfg!(not(all(
            target_pointer_width = "64",
            target_endian = "little"
        ))) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut before: (*mut libc::c_void, usize) = (core::ptr::null_mut(), 0);
        // SAFETY: writes the two values, of this thread.
        let got = unsafe {
            libc::syscall(
                libc::SYS_get_robust_list,
                0,
                &raw mut before.0,
                &raw mut before.1,
            )
        };
        if got != 0 {
            return Err(io::Error::last_os_error());
        }
        let head = Box::new(Head {
            first: AtomicU64::new(0),
            offset: size_of::<u64>() as i64,
            pending: 0,
        });
        // Relaxed here and below: the kernel reads the list on behalf of this very thread. Release keeps the order of
        // the stores, on which Invariant 1 rests.
        let end = (&raw const *head).addr() as u64;
        head.first.store(end, Ordering::Relaxed);
        register((&raw const *head).cast(), size_of::<Head>())?;
        Ok(Self {
            before,
            thread: rustix::thread::gettid().as_raw_nonzero().get() as u64,
            marks: Vec::new(),
            head: ManuallyDrop::new(head),
            thread_bound: PhantomData,
        })
    }

    /// The address of the head, which ends the list.
    fn end(&self) -> u64 {
        (&raw const **self.head).addr() as u64
    }

    /// Keeps `mark` under the caller's `number`.
    ///
    /// # Cost
    ///
    /// Three stores. The kernel goes through 2048 marks at most.
    pub fn add(&mut self, number: u64, mark: EndMark) {
        mark.line
            .set(mark.node, self.head.first.load(Ordering::Relaxed));
        // Release: the node is written before (Invariant 1).
        self.head.first.store(mark.address(), Ordering::Release);
        // The word comes last: a word that holds the number is in the list.
        mark.line.set(mark.node + 1, self.thread);
        self.marks.insert(0, (number, mark));
    }

    /// Whether a mark with this number is kept.
    pub fn keeps(&self, number: u64) -> bool {
        self.marks.iter().any(|(known, _)| *known == number)
    }

    /// Keeps only the marks for whose number `keep` returns `true`. The end of the thread does not show in the others.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let mut index = 0;
        while let Some((number, _)) = self.marks.get(index) {
            if keep(*number) {
                index += 1;
                continue;
            }
            let after = self.marks.get(index + 1);
            let next = after.map_or(self.end(), |(_, mark)| mark.address());
            match index.checked_sub(1).map(|before| &self.marks[before].1) {
                // Release: what this mark's segment was used for comes before it may go (Invariant 1).
                None => self.head.first.store(next, Ordering::Release),
                Some(before) => before.line.set(before.node, next),
            }
            let (_, mark) = self.marks.remove(index);
            mark.line.set(mark.node + 1, GIVEN_UP);
        }
    }
}

impl Drop for RobustList {
    fn drop(&mut self) {
        self.retain(|_| false);
        // If a filter refuses the call by now, the kernel reads the head when the thread ends. It finds an empty list.
        if register(self.before.0, self.before.1).is_ok() {
            // SAFETY: it is dropped here alone, and nobody uses it afterwards.
            unsafe { ManuallyDrop::drop(&mut self.head) };
        }
    }
}

/// Makes `head` the list of the calling thread: that of a `Head`, or one that the thread had before.
fn register(head: *const libc::c_void, bytes: usize) -> io::Result<()> {
    // SAFETY: the kernel reads the list when the thread ends, and copes with any address; it writes only to words that
    // hold the thread's number.
    match unsafe { libc::syscall(libc::SYS_set_robust_list, head, bytes) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Segment;

    fn marks(count: usize) -> Vec<EndMark> {
        let segment = Segment::new(count * size_of::<Words>(), None).unwrap();
        let lines = segment.at::<Words>(0, count).unwrap();
        (0..count)
            .map(|i| EndMark::new(lines.get(i), i % 8))
            .collect()
    }

    /// The number of marks through which the kernel would go, from one to the next as it finds them in memory.
    fn followed(list: &RobustList) -> usize {
        let head: &Head = &list.head;
        let mut place = head.first.load(Ordering::Relaxed);
        let mut passed = 0;
        while place != core::ptr::from_ref(head).addr() as u64 {
            let mut marks = list.marks.iter().map(|(_, mark)| mark);
            let mark = marks.find(|mark| mark.address() == place).unwrap();
            (place, passed) = (mark.line.get(mark.node), passed + 1);
        }
        passed
    }

    #[test]
    fn the_end_of_a_thread_marks_what_it_keeps() {
        static LEFT: AtomicU64 = AtomicU64::new(0);
        let marks = marks(5);
        assert!(!marks.iter().any(EndMark::is_known));
        // The word tells, not the node before it.
        marks[3].line.set(marks[3].node, 1);
        marks[4].line.set(marks[4].node + 1, 1);
        assert!(!marks[3].is_known() && marks[4].is_known());
        let theirs = marks.clone();
        let thread = std::thread::spawn(move || {
            let mut list = RobustList::of_this_thread().unwrap();
            for (number, mark) in (0..).zip(&theirs) {
                assert_eq!(followed(&list), number as usize);
                list.add(number, mark.clone());
            }
            // The first and the last of the list, and one amid it.
            list.retain(|number| ![0, 2, 4].contains(&number));
            assert!(list.keeps(1) && !list.keeps(2));
            assert_eq!(followed(&list), 2);
            list.add(9, theirs[2].clone());
            assert!(theirs[1].is_known() && !theirs[1].has_ended());
            // As if the thread were killed: nothing is dropped. A checker of leaks finds it reachable.
            LEFT.store(Box::into_raw(Box::new(list)) as u64, Ordering::Relaxed);
        });
        thread.join().unwrap();
        // A thread is joined when its memory can be freed, which the kernel tells after it has gone through the list.
        let ended: Vec<bool> = marks.iter().map(EndMark::has_ended).collect();
        assert_eq!(ended, [false, true, true, true, false]);
        assert!(marks.iter().all(EndMark::is_known));
    }

    #[test]
    fn what_a_list_no_longer_keeps_is_not_marked() {
        let marks = marks(3);
        let theirs = marks.clone();
        let thread = std::thread::spawn(move || {
            let mut list = RobustList::of_this_thread().unwrap();
            for (number, mark) in (0..).zip(&theirs) {
                list.add(number, mark.clone());
            }
            list.retain(|_| false);
            assert_eq!(followed(&list), 0);
        });
        thread.join().unwrap();
        let given_up = |mark: &EndMark| mark.is_known() && !mark.has_ended();
        assert!(marks.iter().all(given_up));
        // The kernel would mark what holds the thread's number in its half of the word.
        let mut words = marks.iter().map(|mark| mark.line.get(mark.node + 1));
        assert!(words.all(|word| word as u32 == 0));
    }
}
