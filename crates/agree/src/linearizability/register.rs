//! A model of a key-value store: each key is a register by itself.

use super::search::Model;

/// Bytes.
type Bytes = Vec<u8>;

/// What a call on a key asks for. `value` and `expected` are `None` for a key that is not there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// Reads a key; answers its value.
    Get {
        /// The key.
        key: Bytes,
    },
    /// Sets or deletes a key; answers nothing, `None`.
    Set {
        /// The key.
        key: Bytes,
        /// What it is to hold.
        value: Option<Bytes>,
    },
    /// Sets or deletes a key; answers what it held before.
    Swap {
        /// The key.
        key: Bytes,
        /// What it is to hold.
        value: Option<Bytes>,
    },
    /// Sets or deletes a key if it holds what is expected; answers what it held before.
    CompareAndSwap {
        /// The key.
        key: Bytes,
        /// What it must hold.
        expected: Option<Bytes>,
        /// What it is to hold then.
        value: Option<Bytes>,
    },
}

impl Request {
    /// Reads a key.
    pub fn get(key: &[u8]) -> Self {
        Self::Get { key: key.to_vec() }
    }

    /// Sets a key to a value.
    pub fn set(key: &[u8], value: &[u8]) -> Self {
        let (key, value) = (key.to_vec(), Some(value.to_vec()));
        Self::Set { key, value }
    }

    /// The key.
    pub fn key(&self) -> &[u8] {
        match self {
            Self::Get { key }
            | Self::Set { key, .. }
            | Self::Swap { key, .. }
            | Self::CompareAndSwap { key, .. } => key,
        }
    }
}

/// The model of a store: all keys are absent in the beginning, and each key is a part of its own.
#[derive(Clone, Copy, Debug)]
pub struct Registers;

impl Model for Registers {
    type Request = Request;
    type Response = Option<Bytes>;
    type State = Option<Bytes>;
    type Part = Bytes;

    fn part(request: &Request) -> Bytes {
        request.key().to_vec()
    }

    fn apply(
        state: &Option<Bytes>,
        request: &Request,
        response: Option<&Option<Bytes>>,
    ) -> Option<Option<Bytes>> {
        let (answer, after) = match request {
            Request::Get { .. } => (state, state),
            Request::Set { value, .. } => (&None, value),
            Request::Swap { value, .. } => (state, value),
            Request::CompareAndSwap {
                expected, value, ..
            } => match state == expected {
                true => (state, value),
                false => (state, state),
            },
        };
        let fits = response.is_none_or(|response| response == answer);
        fits.then(|| after.clone())
    }
}
