//! Memory in which lines live: page-aligned, zeroed, placed on a NUMA node.
//!
//! A segment belongs to the thread that *reads* its lines, and lies on that thread's NUMA node (Smelt §3.2: messages
//! are placed on the receiver's node). The mapping goes when the last reference goes. A segment has one of three forms:
//!
//! | form | made by | memory | lines by |
//! | --- | --- | --- | --- |
//! | private | [`Segment::new`] | touched at once | [`Segment::lines`], handed out once, or [`Segment::at`] |
//! | private, lazy | [`Segment::reserve`] | each page when it is first written | [`Segment::lines`] or [`Segment::at`] |
//! | shared | [`Segment::shared`], [`Segment::attach`] | reserved at once but for a spare part, sealed | [`Segment::at`], by offsets that all processes agree on |

#[cfg(not(loom))]
mod carve;
mod error;
mod lines;
#[cfg(not(loom))]
mod mapped;
#[cfg(loom)]
mod modelled;
#[cfg(loom)]
mod modelled_carve;
#[cfg(not(loom))]
mod numa;
mod placement;
#[cfg(not(loom))]
mod room;
#[cfg(not(loom))]
mod shared;
mod view;

pub use error::SegmentError;
pub use lines::Lines;
#[cfg(not(loom))]
pub use mapped::Segment;
#[cfg(loom)]
pub use modelled::Segment;
pub use placement::Placement;
pub use view::{LineRef, LineSlice};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{AtomicU32, Ordering};
    use crate::{Flag, PAIR_BYTES};

    #[test]
    fn lines_are_zeroed_aligned_and_disjoint() {
        let segment = Segment::new(Segment::bytes_for::<Flag>(40), None).unwrap();
        let lines = segment.lines::<Flag>(40).unwrap();
        for (i, line) in lines.iter().enumerate() {
            assert_eq!((&raw const *line).addr() % PAIR_BYTES, 0);
            assert_eq!(line.seq(), 0);
            line.raise(i as u64 + 1);
        }
        assert!((1..=40).eq(lines.iter().map(Flag::seq)));
    }

    #[test]
    fn a_full_segment_says_what_is_left() {
        let segment = Segment::new(4096, None).unwrap();
        segment.lines::<Flag>(31).unwrap();
        let error = segment.lines::<Flag>(2).unwrap_err().to_string();
        assert_eq!(error, "the segment has 128 bytes left, 256 are wanted");
        segment.lines::<Flag>(1).unwrap();
    }

    /// Numbers of lines whose bytes are more than a number of bytes can say, or than a segment has.
    #[test]
    fn lines_without_end_are_refused_and_take_nothing() {
        let segment = Segment::new(4096, None).unwrap();
        for count in [33, 1 << 56, 1 << 57, (1 << 57) + 1, 1 << 63, usize::MAX] {
            let error = segment.lines::<Flag>(count).unwrap_err().to_string();
            assert!(
                error.starts_with("the segment has 4096 bytes left"),
                "{error}"
            );
        }
        for count in [1 << 57, usize::MAX] {
            let bytes = Segment::bytes_for::<Flag>(count);
            let said = match (Segment::new(bytes, None), Segment::reserve(bytes, None)) {
                (Err(error), Err(_)) => error.to_string(),
                made => panic!("{made:?}"),
            };
            assert!(said.contains(&format!("{bytes} bytes")), "{said}");
        }
        assert_eq!(segment.lines::<Flag>(32).unwrap().len(), 32);
    }

    /// A thread that asks for too many takes no lines from another one, and does not let it have lines twice.
    #[test]
    #[cfg_attr(miri, ignore = "8192 pairs of lines take long there")]
    fn refused_lines_do_not_disturb_others() {
        let segment = Segment::new(1 << 20, None).unwrap();
        let (begun, done) = (AtomicU32::new(0), AtomicU32::new(0));
        /// Ends the other thread, also when an assertion fails: the scope waits for it.
        struct Done<'a>(&'a AtomicU32);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(1, Ordering::Relaxed);
            }
        }
        std::thread::scope(|scope| {
            let end = Done(&done);
            let greedy = scope.spawn(|| {
                while done.load(Ordering::Relaxed) == 0 {
                    for count in [1 << 14, (1 << 57) - 1] {
                        assert!(segment.lines::<Flag>(count).is_err());
                    }
                    begun.store(1, Ordering::Relaxed);
                }
            });
            while begun.load(Ordering::Relaxed) == 0 && !greedy.is_finished() {
                std::thread::yield_now();
            }
            let all = || {
                let first = segment.lines::<Flag>(1)?;
                for number in 1..1 << 13 {
                    let line = segment.lines::<Flag>(1)?;
                    line[0].raise(number);
                    assert_eq!((first[0].seq(), line[0].seq()), (0, number));
                }
                Ok::<_, SegmentError>(())
            };
            let all = all();
            drop(end);
            all.unwrap();
        });
    }

    #[test]
    fn lines_outlive_the_segment_handle() {
        let line = Segment::one::<Flag>(None).unwrap();
        line.raise(7);
        assert_eq!(line.clone().seq(), 7);
    }

    #[test]
    #[cfg_attr(miri, ignore = "its heap is no mapping")]
    fn a_segment_gives_its_addresses_back() {
        let (bytes, mut resident) = (1 << 20, [0_u8; (1 << 20) / 4096]);
        // Another thread may map something there at once, but not each time.
        let given_back = (0..20).any(|_| {
            let segment = Segment::reserve(bytes, None).unwrap();
            assert!(!segment.is_shared());
            let address = segment.base.as_ptr().addr();
            drop(segment);
            // SAFETY: asks about addresses, whatever lies there, and writes no more bytes than there are.
            unsafe { libc::mincore(address as *mut _, bytes, resident.as_mut_ptr()) != 0 }
        });
        assert!(given_back);
    }

    #[test]
    #[cfg_attr(miri, ignore = "it knows no NUMA nodes")]
    fn placement_on_node_0_is_granted_or_explained() {
        for segment in [
            Segment::new(4096, Some(0)),
            Segment::reserve(1 << 20, Some(0)),
        ] {
            match segment.unwrap().placement() {
                Placement::On(node) => assert_eq!(*node, 0),
                Placement::Elsewhere(why) => assert!(!why.is_empty()),
                Placement::Anywhere => panic!("a node was asked for"),
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "it knows no NUMA nodes")]
    fn a_node_that_does_not_exist_is_explained() {
        for node in [900, 5000] {
            for segment in [
                Segment::new(4096, Some(node)),
                Segment::reserve(4096, Some(node)),
            ] {
                let said = segment.unwrap().placement().to_string();
                assert!(said.contains(&node.to_string()), "{said}");
            }
        }
    }

    #[test]
    fn a_view_lies_within_the_segment_and_on_its_alignment() {
        for segment in [Segment::new(1, None), Segment::reserve(4096, None)].map(Result::unwrap) {
            let end = segment.bytes();
            let view = |offset, count| {
                let view = segment.at::<Flag>(offset, count);
                view.map(|v| v.len()).map_err(|e| e.to_string())
            };
            assert_eq!(view(0, end / 128), Ok(end / 128));
            assert_eq!(view(end - 128, 1), Ok(1));
            assert_eq!(view(end, 0), Ok(0));
            for (offset, count) in [
                (end, 1),
                (end - 128, 2),
                (usize::MAX, 1),
                (0, usize::MAX),
                (128, usize::MAX / 128),
                (usize::MAX - 127, 1),
            ] {
                let said = view(offset, count).unwrap_err();
                let expected = format!(
                    "{count} values of 128 bytes at offset {offset} do not lie in a segment of {end} bytes"
                );
                assert_eq!(said, expected);
            }
            let said = view(64, 1).unwrap_err();
            assert!(
                said.starts_with("offset 64 is no multiple of 128"),
                "{said}"
            );
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "its heap is no mapping")]
    fn what_is_reserved_takes_no_memory_until_it_is_written() {
        // Resident KiB of this mapping alone, because another test may take memory meanwhile.
        let resident = |address: usize| {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let mut inside = false;
            for line in maps.lines() {
                if let Some((low, high)) = line.split(' ').next().unwrap().split_once('-')
                    && let Ok(low) = usize::from_str_radix(low, 16)
                    && let Ok(high) = usize::from_str_radix(high, 16)
                {
                    inside = (low..high).contains(&address);
                } else if inside && let Some(rss) = line.strip_prefix("Rss:") {
                    let rss = rss.trim().strip_suffix("kB").unwrap();
                    return rss.trim().parse::<usize>().unwrap();
                }
            }
            panic!("no mapping holds {address:x}");
        };
        let segment = Segment::reserve(1 << 32, None).unwrap();
        let all = segment.at::<Flag>(0, (1 << 32) / 128).unwrap();
        let address = (&raw const all[1 << 20]).addr();
        // Neighbouring mappings that the kernel has joined count too, but are less than 1 GiB.
        let before = resident(address);
        assert!(before < 1 << 20, "{before} KiB");
        all[1 << 20].raise(1);
        assert!(resident(address) < before + 1024);
    }
}
