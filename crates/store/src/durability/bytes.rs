//! Numbers and texts as bytes: numbers in groups of seven bits, texts with their length before them.

/// Appends a number; a small one takes one byte.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a text.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// Appends a number that may be negative.
pub(crate) fn put_time(out: &mut Vec<u8>, time: i64) {
    out.extend_from_slice(&time.to_le_bytes());
}

/// What is wrong with bytes that end too early.
pub(crate) const TOO_SHORT: &str = "it ends too early";

/// Takes what was put from the front of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, String> {
        Ok(self.bytes(1)?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number that is too large".to_owned())
    }

    /// A number of things, each of which takes at least a byte.
    pub(crate) fn count(&mut self) -> Result<usize, String> {
        let number = usize::try_from(self.number()?).ok();
        number
            .filter(|it| *it <= self.0.len())
            .ok_or_else(|| TOO_SHORT.to_owned())
    }

    pub(crate) fn text(&mut self) -> Result<&'a [u8], String> {
        let length = self.count()?;
        self.bytes(length)
    }

    pub(crate) fn time(&mut self) -> Result<i64, String> {
        let eight = self.bytes(8)?;
        Ok(i64::from_le_bytes(eight.try_into().expect("eight bytes")))
    }

    /// The number of a database.
    pub(crate) fn database(&mut self) -> Result<u8, String> {
        let number = self.byte()?;
        match usize::from(number) < crate::commands::DATABASES {
            true => Ok(number),
            false => Err(format!("there is no database {number}")),
        }
    }
}
