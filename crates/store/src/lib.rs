//! A key-value store that speaks the Redis protocol.
