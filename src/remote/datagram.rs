//! Datagrams to messages of OSC, and back. The library recurses into bundles and arrays, so both are bounded before it sees them.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType, decoder, encoder};

/// Start of a bundle. A time tag of 8 bytes follows.
const BUNDLE: &[u8] = b"#bundle\0";
/// Bytes of the time tag. Its time is ignored: everything applies at once.
const TIME_BYTES: usize = 8;

/// Largest number of datagrams that are read before the thread does something else. A flood is read at this rate and no faster, and the
/// system drops the rest.
const BURST: usize = 32;
/// Pause after a full burst.
const FLOOD_PAUSE: Duration = Duration::from_millis(20);

/// Whether datagrams of a machine are taken: if it is named, or if none is named and it is this one.
pub(super) fn is_allowed(from: &[IpAddr], peer: SocketAddr) -> bool {
    let ip = peer.ip().to_canonical();
    match from {
        [] => ip.is_loopback(),
        from => from.contains(&ip),
    }
}

/// Takes the waiting datagrams, or waits for one as long as the socket does. Returns the pause before the next call.
pub(super) fn receive_burst(
    socket: &UdpSocket,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8], SocketAddr),
) -> Duration {
    for _ in 0..BURST {
        match socket.recv_from(buffer) {
            Ok((length, peer)) => take(buffer.get(..length).unwrap_or_default(), peer),
            // An error that an earlier answer caused, for example because nobody listens there.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(_) => return Duration::ZERO,
        }
    }
    FLOOD_PAUSE
}

/// "Immediately", as the time of a bundle.
const NOW: OscTime = OscTime {
    seconds: 0,
    fractional: 1,
};

/// Returns a message.
pub(super) fn message(address: &str, args: Vec<OscType>) -> OscPacket {
    OscPacket::Message(OscMessage {
        addr: address.to_owned(),
        args,
    })
}

/// Returns bundles of at most `bytes_max` bytes that each have `head` and `end`, and together all groups of messages.
pub(super) fn bundles(
    bytes_max: usize,
    head: &[OscPacket],
    groups: &[Vec<OscPacket>],
    end: &[OscPacket],
) -> Vec<Vec<u8>> {
    let bundle = |groups: &[Vec<OscPacket>]| {
        let content = head.iter().chain(groups.iter().flatten()).chain(end);
        let bundle = OscPacket::Bundle(OscBundle {
            timetag: NOW,
            content: content.cloned().collect(),
        });
        // A bundle of messages can always be encoded.
        encoder::encode(&bundle).unwrap_or_default()
    };
    // Each message of a bundle has its size before it.
    let size = |message: &OscPacket| encoder::encode(message).map_or(0, |bytes| bytes.len() + 4);
    let sizes = (groups.iter()).map(|group| group.iter().map(size).sum::<usize>());
    let largest = sizes.max().unwrap_or_default().max(1);
    let count = (bytes_max.saturating_sub(bundle(&[]).len()) / largest).max(1);
    match groups {
        [] => vec![bundle(&[])],
        groups => groups.chunks(count).map(bundle).collect(),
    }
}

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
