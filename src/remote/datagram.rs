//! Datagrams to messages. The library recurses into bundles and arrays, so both are bounded before it sees them.

use rosc::{OscMessage, OscPacket, decoder};

/// Begin of a bundle. A time tag of 8 bytes follows.
const BUNDLE: &[u8] = b"#bundle\0";
/// Bytes of the time tag. Its time is ignored: everything applies at once.
const TIME_BYTES: usize = 8;

/// Returns the messages of a datagram, in order.
///
/// # Errors
/// When it is longer than `bytes_max`, no message and no bundle of up to `messages_max` messages, or contains a bundle in a bundle, or an
/// array.
pub(super) fn messages_of(
    datagram: &[u8],
    bytes_max: usize,
    messages_max: usize,
) -> Result<Vec<OscMessage>, String> {
    if datagram.len() > bytes_max {
        return Err(format!("a datagram of over {bytes_max} bytes"));
    }
    let Some(bundle) = datagram.strip_prefix(BUNDLE) else {
        return Ok(vec![message_of(datagram)?]);
    };
    let mut rest = bundle.get(TIME_BYTES..).ok_or("a bundle without a time")?;
    let mut messages = Vec::new();
    while let Some((size, after)) = rest.split_first_chunk::<4>() {
        let size = usize::try_from(u32::from_be_bytes(*size)).unwrap_or(usize::MAX);
        let element = after.get(..size).ok_or("a bundle that is cut off")?;
        if messages.len() == messages_max {
            return Err(format!("a bundle of over {messages_max} messages"));
        }
        messages.push(message_of(element)?);
        rest = after.get(size..).unwrap_or_default();
    }
    match rest {
        [] => Ok(messages),
        _ => Err("a bundle that is cut off".to_owned()),
    }
}

fn message_of(bytes: &[u8]) -> Result<OscMessage, String> {
    if bytes.starts_with(BUNDLE) {
        return Err("a bundle in a bundle".to_owned());
    }
    if types_of(bytes).contains(&b'[') {
        return Err("an array".to_owned());
    }
    match decoder::decode_udp(bytes) {
        Ok(([], OscPacket::Message(message))) => Ok(message),
        Ok(_) => Err("bytes behind a message".to_owned()),
        Err(error) => Err(format!("no OSC message: {error}")),
    }
}

/// Returns the type tags of a message, or more bytes if it is damaged.
fn types_of(bytes: &[u8]) -> &[u8] {
    let address = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let types = bytes.get(address..).unwrap_or_default();
    let begin = types
        .iter()
        .position(|byte| *byte == b',')
        .unwrap_or(types.len());
    let types = types.get(begin..).unwrap_or_default();
    types.split(|byte| *byte == 0).next().unwrap_or_default()
}
