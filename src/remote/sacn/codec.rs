//! Datagrams to the channels of a universe, and which of several sources counts.

use std::time::{Duration, Instant};

/// Longest datagram: 512 channels.
pub(super) const BYTES_MAX: usize = 638;
/// Bytes before the channels, with the start code.
const HEAD_BYTES: usize = 126;
/// Start of the root layer.
const ROOT: &[u8] = b"\x00\x10\x00\x00ASC-E1.17\0\0\0";
/// Begins of the lengths of the layers.
const LAYERS: [usize; 3] = [16, 38, 115];
/// Vector of the root layer for data, and for what is not used here: synchronization and lists of universes.
const DATA: [u8; 4] = [0, 0, 0, 4];
const EXTENDED: [u8; 4] = [0, 0, 0, 8];
/// Time without data after which a source is lost (E1.31, `E131_NETWORK_DATA_LOSS_TIMEOUT`).
const LOSS_TIME: Duration = Duration::from_millis(2500);
/// Largest number of sources.
const SOURCES_MAX: usize = 8;

/// Data of one universe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Data<'a> {
    /// Number of the sender, which it keeps.
    pub(super) sender: [u8; 16],
    pub(super) priority: u8,
    pub(super) sequence: u8,
    pub(super) universe: u16,
    /// Whether the sender will send no more.
    pub(super) is_last: bool,
    /// The values of the channels, from channel 1.
    pub(super) channels: &'a [u8],
}

/// Returns the data of a datagram; `None` if it has none for a fixture: another kind of packet, a preview, or another start code.
///
/// # Errors
/// When it is no packet of E1.31.
pub(super) fn data_of(datagram: &[u8]) -> Result<Option<Data<'_>>, &'static str> {
    const NONE: &str = "no packet of E1.31";
    if !datagram.starts_with(ROOT) {
        return Err(NONE);
    }
    let vector = datagram.get(18..22).ok_or(NONE)?;
    if vector == EXTENDED {
        return Ok(None);
    }
    let head: &[u8; HEAD_BYTES] = datagram.first_chunk().ok_or(NONE)?;
    let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let end = HEAD_BYTES - 1 + usize::from(number(123));
    // Four bits of flags, then the length to the end of the packet.
    let is_length = |layer: &usize| number(*layer) == 0x7000 | (end - layer) as u16;
    let is_data = vector == DATA
        && head[40..44] == [0, 0, 0, 2]
        && head[117..123] == [2, 0xa1, 0, 0, 0, 1]
        && (HEAD_BYTES..=BYTES_MAX).contains(&end)
        && LAYERS.iter().all(is_length);
    let channels = datagram
        .get(HEAD_BYTES..end)
        .filter(|_| is_data)
        .ok_or(NONE)?;
    let (options, start_code) = (head[112], head[125]);
    if options & 0x80 != 0 || start_code != 0 {
        return Ok(None);
    }
    let mut sender = [0; 16];
    sender.copy_from_slice(&head[22..38]);
    Ok(Some(Data {
        sender,
        priority: head[108],
        sequence: head[111],
        universe: number(113),
        is_last: options & 0x40 != 0,
        channels,
    }))
}

/// The sources of a universe.
#[derive(Debug, Default)]
pub(super) struct Sources {
    sources: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    sender: [u8; 16],
    priority: u8,
    sequence: u8,
    heard_at: Instant,
}

impl Sources {
    /// Takes data. Returns whether they count: of several sources the one with the highest priority, of equal ones the first.
    ///
    /// # Errors
    /// When there are too many sources, or the data came late.
    pub(super) fn take(&mut self, data: &Data<'_>, now: Instant) -> Result<bool, &'static str> {
        let is_there = |source: &Source| now.saturating_duration_since(source.heard_at) < LOSS_TIME;
        self.sources.retain(is_there);
        let known = (self.sources.iter()).position(|source| source.sender == data.sender);
        let index = match known {
            Some(index) => {
                let ahead = data.sequence.wrapping_sub(self.sources[index].sequence) as i8;
                // E1.31, 6.7.2.
                if (-19..=0).contains(&ahead) {
                    return Err("data that came late");
                }
                index
            }
            None if data.is_last => return Ok(false),
            None if self.sources.len() == SOURCES_MAX => return Err("more than 8 sources"),
            None => self.sources.len(),
        };
        if data.is_last {
            self.sources.remove(index);
            return Ok(false);
        }
        let source = Source {
            sender: data.sender,
            priority: data.priority,
            sequence: data.sequence,
            heard_at: now,
        };
        match self.sources.get_mut(index) {
            Some(known) => *known = source,
            None => self.sources.push(source),
        }
        let better = |other: &Source| other.priority > data.priority;
        let is_beaten = self.sources.iter().any(better)
            || self.sources[..index]
                .iter()
                .any(|other| other.priority == data.priority);
        Ok(!is_beaten)
    }
}
