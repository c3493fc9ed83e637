//! Descriptors: the data that are lent are a cell, which the lender writes before and after, and the
//! borrower reads, or fills, in between. Loom fails a model in which two of these accesses overlap.

use crate::check::check;
use corecast_transfer::descriptor::{self, Borrower, DescriptorFields, Way};
use corecast_wire::mutant::Mutant;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

/// The data, one cell for each loan. Descriptors name a cell by its place in this table instead of by
/// its address.
type Table = Arc<[UnsafeCell<u64>; 2]>;

fn table() -> Table {
    Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)])
}

fn write(table: &Table, place: usize, value: u64) {
    // SAFETY: loom checks that no access overlaps another: that is the test.
    table[place].with_mut(|cell| unsafe { *cell = value });
}

fn read(table: &Table, place: usize) -> u64 {
    // SAFETY: as above.
    table[place].with(|cell| unsafe { *cell })
}

fn said(place: usize, tag: u32) -> DescriptorFields {
    DescriptorFields {
        start: place as u64,
        len: 1,
        left: 1,
        tag,
        way: Way::InPlace,
    }
}

fn to_fill(place: usize, tag: u32) -> DescriptorFields {
    DescriptorFields {
        way: Way::Fill,
        ..said(place, tag)
    }
}

/// Waits for the next descriptor.
fn next(borrower: &Borrower) -> DescriptorFields {
    loop {
        match borrower.look() {
            Some(said) => return said,
            None => thread::yield_now(),
        }
    }
}

/// Borrows the next `count` loans, and checks that their data equal their tags.
fn borrow(mut borrower: Borrower, table: &Table, count: u32) -> Borrower {
    for tag in 1..=count {
        let said = next(&borrower);
        assert_eq!((said.tag, said.len, said.left), (tag, 1, 1));
        assert!(borrower.begin(), "nobody revokes");
        assert_eq!(read(table, said.start as usize), u64::from(tag));
        borrower.give_back();
        borrower.finish();
    }
    borrower
}

/// Two places are lent in turn by two descriptors, so the third loan uses a place and a descriptor a
/// second time. A place is written again as soon as its own loan has been returned, while the borrower
/// may be reading the other one.
#[test]
fn loans_are_read_before_they_are_written_again() {
    let faults = [
        Mutant::DescriptorRelaxed,
        Mutant::AcceptRelaxed,
        Mutant::HandBackRelaxed,
        Mutant::RegainRelaxed,
    ];
    check("loans", Some(4), &faults, || {
        let (mut lender, borrower) = descriptor::link();
        let table = table();
        let other = {
            let table = table.clone();
            thread::spawn(move || borrow(borrower, &table, 3))
        };
        for number in 1..=3u64 {
            let place = (number - 1) as usize % 2;
            while number > 2 && lender.returned() < number - 2 {
                thread::yield_now();
            }
            write(&table, place, number);
            lender.offer(said(place, number as u32));
            assert_eq!(lender.made(), number);
        }
        while lender.returned() < 3 {
            thread::yield_now();
        }
        write(&table, 0, 9);
        write(&table, 1, 9);
        drop(other.join().unwrap());
    });
}

/// The lender revokes its descriptors while the borrower may be about to read, or reading. When `revoke`
/// returns, the data are the lender's, and the borrower reads what was lent or nothing.
fn revocation(loans: u32) {
    let (mut lender, mut borrower) = descriptor::link();
    let table = table();
    let other = {
        let table = table.clone();
        thread::spawn(move || {
            for tag in 1..=loans {
                let Some(said) = borrower.look() else { break };
                if !borrower.begin() {
                    break;
                }
                assert_eq!(read(&table, said.start as usize), u64::from(tag));
                borrower.give_back();
                borrower.finish();
            }
        })
    };
    for tag in 1..=loans {
        write(&table, tag as usize - 1, u64::from(tag));
        lender.offer(said(tag as usize - 1, tag));
    }
    lender.revoke(1);
    for tag in 1..=loans {
        write(&table, tag as usize - 1, 9);
    }
    other.join().unwrap();
}

/// `AcceptRelaxed` is no fault here, because in a model the borrower's fence also orders the load of the
/// descriptor.
#[test]
fn a_loan_is_revoked_before_it_is_read_or_after() {
    let faults = [
        Mutant::NoLightFence,
        Mutant::NoHeavyFence,
        Mutant::DescriptorRelaxed,
        Mutant::FinishRelaxed,
        Mutant::PastRelaxed,
    ];
    check("revocation", None, &faults, || revocation(1));
}

/// A borrower that has returned the first loan may be reading the second one.
#[test]
fn all_loans_are_revoked() {
    let faults = [
        Mutant::NoLightFence,
        Mutant::NoHeavyFence,
        Mutant::FinishRelaxed,
        Mutant::PastRelaxed,
    ];
    check("revocation of two", Some(4), &faults, || revocation(2));
}

/// The lender has its place filled twice, and reads it when it was returned.
#[test]
fn what_is_filled_is_read_when_it_was_returned() {
    let faults = [
        Mutant::DescriptorRelaxed,
        Mutant::AcceptRelaxed,
        Mutant::HandBackRelaxed,
        Mutant::RegainRelaxed,
    ];
    check("fills", Some(4), &faults, || {
        let (mut lender, mut borrower) = descriptor::link();
        let table = table();
        let other = {
            let table = table.clone();
            thread::spawn(move || {
                for tag in 1..=2 {
                    let said = next(&borrower);
                    assert_eq!((said.tag, said.way), (tag, Way::Fill));
                    assert!(borrower.begin(), "nobody revokes");
                    write(&table, said.start as usize, u64::from(tag));
                    borrower.give_back();
                    borrower.finish();
                }
                borrower
            })
        };
        write(&table, 0, 9);
        for number in 1..=2 {
            lender.offer(to_fill(0, number as u32));
            while lender.returned() < number {
                thread::yield_now();
            }
            assert_eq!(read(&table, 0), number);
        }
        drop(other.join().unwrap());
    });
}

/// The lender revokes what the borrower may be about to fill, or filling. When `revoke` returns, the data are the lender's.
#[test]
fn a_part_is_revoked_before_it_is_filled_or_after() {
    let faults = [
        Mutant::NoLightFence,
        Mutant::NoHeavyFence,
        Mutant::DescriptorRelaxed,
        Mutant::FinishRelaxed,
        Mutant::PastRelaxed,
    ];
    check("revocation of fills", None, &faults, || {
        let (mut lender, mut borrower) = descriptor::link();
        let table = table();
        let other = {
            let table = table.clone();
            thread::spawn(move || {
                let Some(said) = borrower.look() else { return };
                if borrower.begin() {
                    write(&table, said.start as usize, 1);
                    borrower.give_back();
                    borrower.finish();
                }
            })
        };
        write(&table, 0, 9);
        lender.offer(to_fill(0, 1));
        lender.revoke(1);
        write(&table, 0, 9);
        assert_eq!(read(&table, 0), 9);
        other.join().unwrap();
    });
}
