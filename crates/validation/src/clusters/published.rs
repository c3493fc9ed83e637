//! Table 2 of Mallon and others.

use super::machines::System;

/// The message sizes of Table 2, in bytes.
pub const SIZES: [usize; 5] = [256, 4 << 10, 64 << 10, 1 << 20, 16 << 20];

/// A row of Table 2: the bandwidth in MB/s at each of [`SIZES`].
pub type Row = [f64; 5];

/// Table 2: Pull, and Pull-f-f.
pub const TABLE_2: [(System, Row, Row); 5] = [
    (
        System::FinisTerrae,
        [665.2, 9706.0, 63465.0, 48409.0, 48647.0],
        [650.5, 9865.0, 84944.0, 162280.0, 167094.0],
    ),
    (
        System::Superdome,
        [172.2, 2501.0, 7284.0, 7764.0, 10750.0],
        [172.6, 2610.0, 13003.0, 26265.0, 24031.0],
    ),
    (
        System::Svg,
        [11.86, 188.0, 1900.0, 4094.0, 4096.0],
        [11.83, 184.5, 1824.0, 3194.0, 3322.0],
    ),
    (
        System::JulichDedicated,
        [1550.0, 22493.0, 124537.0, 108300.0, 83310.0],
        [1521.0, 22881.0, 157871.0, 248346.0, 270849.0],
    ),
    (
        System::Juropa,
        [4369.0, 68478.0, 476794.0, 320855.0, 275361.0],
        [4387.0, 66841.0, 582289.0, 1155182.0, 1222592.0],
    ),
];
