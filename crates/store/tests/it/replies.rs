//! Where a reply ends, for tests that compare bytes.

/// The length of the reply that `bytes` begin with, if it is whole.
pub(crate) fn reply_length(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|it| it == b"\r\n")? + 2;
    let number = || {
        std::str::from_utf8(&bytes[1..line - 2])
            .unwrap()
            .parse::<i64>()
            .unwrap()
    };
    let elements = match bytes[0] {
        b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => return Some(line),
        b'$' | b'=' => {
            let length = number();
            let end = if length < 0 {
                line
            } else {
                line + length as usize + 2
            };
            return (bytes.len() >= end).then_some(end);
        }
        b'*' | b'~' | b'>' => number().max(0),
        b'%' => 2 * number(),
        other => panic!("no reply begins with {:?}", char::from(other)),
    };
    let mut at = line;
    for _ in 0..elements {
        at += reply_length(bytes.get(at..)?).filter(|_| at < bytes.len())?;
    }
    Some(at)
}

/// The elements of a reply that is an array, as they are; `None` if it is none.
pub(crate) fn elements(reply: &[u8]) -> Option<Vec<Vec<u8>>> {
    if !matches!(reply.first(), Some(b'*' | b'~')) {
        return None;
    }
    let mut at = reply.windows(2).position(|it| it == b"\r\n")? + 2;
    let mut found = Vec::new();
    while at < reply.len() {
        let length = reply_length(&reply[at..])?;
        found.push(reply[at..at + length].to_vec());
        at += length;
    }
    Some(found)
}
