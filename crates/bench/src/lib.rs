//! Corecast's interleaved comparisons: the raw floor, Corecast's plans and their peers.
