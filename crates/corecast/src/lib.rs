//! Communication between the cores of one machine, measured, planned and raced.
