//! Messages of a join: frames, and frames that only the two sides of a key exchange can read and write.

use std::io::{self, Read, Write};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::pake::Side;

/// Largest frame, in bytes: a list of members of several hundred nodes.
const FRAME_BYTES_MAX: usize = 60_000;

/// Sends a frame: two bytes with the length, one with its kind, and the contents.
pub(super) fn send(stream: &mut impl Write, kind: u8, contents: &[u8]) -> io::Result<()> {
    let length = u16::try_from(contents.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut frame = length.to_be_bytes().to_vec();
    frame.push(kind);
    frame.extend_from_slice(contents);
    stream.write_all(&frame)?;
    stream.flush()
}

/// Receives a frame: its kind and its contents.
pub(super) fn receive(stream: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 3];
    stream.read_exact(&mut head)?;
    let [high, low, kind] = head;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut contents = vec![0; length];
    stream.read_exact(&mut contents)?;
    Ok((kind, contents))
}

/// Encrypts and signs the messages of one side, and opens those of the other side. Each has its own key, and messages are numbered.
pub(super) struct Seal {
    to_send: LessSafeKey,
    to_open: LessSafeKey,
    sent: u64,
    opened: u64,
}

impl Seal {
    /// Derives both keys from the key of an exchange.
    pub(super) fn new(exchanged: &[u8], side: Side) -> Option<Self> {
        let joiner = derive(exchanged, b"shoal joiner to inviter")?;
        let inviter = derive(exchanged, b"shoal inviter to joiner")?;
        let (to_send, to_open) = match side {
            Side::Joiner => (joiner, inviter),
            Side::Inviter => (inviter, joiner),
        };
        Some(Self {
            to_send,
            to_open,
            sent: 0,
            opened: 0,
        })
    }

    /// Seals a message.
    pub(super) fn close(&mut self, message: &impl Serialize) -> Option<Vec<u8>> {
        let mut bytes = serde_json::to_vec(message).ok()?;
        let nonce = numbered(&mut self.sent);
        self.to_send
            .seal_in_place_append_tag(nonce, Aad::empty(), &mut bytes)
            .ok()?;
        Some(bytes)
    }

    /// Opens a message; `None` if the other side has another key, or the message was changed.
    pub(super) fn open<T: DeserializeOwned>(&mut self, mut bytes: Vec<u8>) -> Option<T> {
        let nonce = numbered(&mut self.opened);
        let message = self
            .to_open
            .open_in_place(nonce, Aad::empty(), &mut bytes)
            .ok()?;
        serde_json::from_slice(message).ok()
    }
}

fn derive(exchanged: &[u8], label: &[u8]) -> Option<LessSafeKey> {
    let secret = Salt::new(HKDF_SHA256, b"shoal join 1").extract(exchanged);
    let labels = [label];
    let key = secret.expand(&labels, &CHACHA20_POLY1305).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(key)))
}

fn numbered(count: &mut u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[NONCE_LEN - 8..].copy_from_slice(&count.to_be_bytes());
    *count += 1;
    Nonce::assume_unique_for_key(nonce)
}
