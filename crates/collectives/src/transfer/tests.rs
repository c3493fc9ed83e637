//! The parts of a transfer are as many as announced.

use super::*;

#[test]
fn parts_take_as_many_transfers_as_they_say() {
    let ways = [
        TransferProtocol::fitting(48, 8),
        TransferProtocol::push(48, 8),
        TransferProtocol::pull(48, 8),
    ];
    for (len, transfers) in [
        (0, [1, 1, 1]),
        (48, [1, 1, 1]),
        (56, [1, 2, 1]),
        (480, [1, 10, 1]),
    ] {
        assert_eq!(
            ways.map(|protocol| protocol.transfers(len)),
            transfers,
            "{len} bytes"
        );
    }
    // Elements of 64 bytes fit no message: all ways lend.
    assert_eq!(
        TransferProtocol::push(48, 64),
        TransferProtocol::fitting(48, 64)
    );
    assert_eq!(TransferProtocol::push(48, 64).transfers(6400), 1);
}

#[test]
fn overlapped_parts_are_cut_into_loans_without_gaps() {
    let cut = TransferProtocol {
        cut: (24, 128 << 10),
        ..TransferProtocol::pull(48, 24)
    };
    for (len, loans) in [
        (0, 1),
        (24, 1),
        (16 << 10, 1),
        ((16 << 10) + 8, 3),
        (128 << 10, 17),
        ((128 << 10) + 24, 1),
    ] {
        assert_eq!(cut.transfers(len), loans, "{len} bytes");
        let mut end = 100;
        for loan in cut.loans(100..100 + len) {
            assert_eq!(loan.start, end);
            assert!(loan.len() <= 8184 || loans == 1);
            end = loan.end;
        }
        assert_eq!(end, 100 + len);
    }
}
