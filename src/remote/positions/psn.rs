//! Places to packets of PosiStageNet. **Source**: VYV Corporation and MA Lighting 2019, "PosiStageNet Protocol description v2.03". All
//! numbers are little-endian.

use super::place::{BYTES_MAX, Place};

/// Ids of the chunks of a packet of data.
const DATA_PACKET: u16 = 0x6755;
const DATA_TRACKERS: u16 = 1;
const POSITION: u16 = 0;
const SPEED: u16 = 1;
const STATUS: u16 = 3;
/// Ids of the chunks of a packet of names.
const INFO_PACKET: u16 = 0x6756;
const INFO_SYSTEM_NAME: u16 = 1;
const INFO_TRACKERS: u16 = 2;
const TRACKER_NAME: u16 = 0;
/// Id of the header in both packets.
const HEADER: u16 = 0;
/// Version 2.0: no chunk of a later one is sent.
const VERSION: [u8; 2] = [2, 0];
/// Bytes of a packet without its trackers: the heads of packet, header and list, the header, and a name.
const FRAME_BYTES: usize = 4 + 4 + 12 + 4 + 4 + SYSTEM_NAME.len();
/// Name of the sender.
const SYSTEM_NAME: &str = "Shoal";

/// Start of all packets of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// Microseconds since the sender was started.
    pub(super) time_us: u64,
    /// Number of the frame.
    pub(super) frame: u8,
}

/// Returns the packets with the places: meters to the right, up, and away from the viewer, from the middle of the picture.
pub(super) fn data(places: &[Place], header: Header) -> Vec<Vec<u8>> {
    let tracker = |place: &Place| {
        let (at, speed) = (place.foot_m, place.velocity_mps);
        let fields = [
            chunk(POSITION, false, &floats(&[at.x, 0.0, -at.y])),
            chunk(SPEED, false, &floats(&[speed.x, 0.0, -speed.y])),
            chunk(STATUS, false, &floats(&[1.0])),
        ];
        chunk(id_of(place), true, &fields.concat())
    };
    let trackers: Vec<_> = places.iter().map(tracker).collect();
    packets(&trackers, header, |header, trackers| {
        let list = chunk(DATA_TRACKERS, true, trackers);
        chunk(DATA_PACKET, true, &[header, list].concat())
    })
}

/// Returns the packets with the names.
pub(super) fn info(places: &[Place], header: Header) -> Vec<Vec<u8>> {
    let tracker = |place: &Place| {
        let name = format!("visitor {}", id_of(place));
        chunk(
            id_of(place),
            true,
            &chunk(TRACKER_NAME, false, name.as_bytes()),
        )
    };
    let trackers: Vec<_> = places.iter().map(tracker).collect();
    packets(&trackers, header, |header, trackers| {
        let name = chunk(INFO_SYSTEM_NAME, false, SYSTEM_NAME.as_bytes());
        let list = chunk(INFO_TRACKERS, true, trackers);
        chunk(INFO_PACKET, true, &[header, name, list].concat())
    })
}

/// Ids have 16 bits here. Two visitors of the same frame have the same only if 65,536 others came between them.
fn id_of(place: &Place) -> u16 {
    (place.id & 0xffff) as u16
}

fn packets(
    trackers: &[Vec<u8>],
    header: Header,
    packet: impl Fn(Vec<u8>, &[u8]) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let largest = trackers.iter().map(Vec::len).max().unwrap_or(1);
    let count = (BYTES_MAX - FRAME_BYTES) / largest;
    let parts: Vec<&[Vec<u8>]> = match trackers {
        [] => vec![&[]],
        trackers => trackers.chunks(count).collect(),
    };
    let mut bytes = header.time_us.to_le_bytes().to_vec();
    bytes.extend(VERSION);
    bytes.extend([header.frame, parts.len() as u8]);
    let header = chunk(HEADER, false, &bytes);
    let of_part = |part: &&[Vec<u8>]| packet(header.clone(), &part.concat());
    parts.iter().map(of_part).collect()
}

/// A chunk: its id, the length of its data (15 bits), whether the data are chunks (1 bit), the data.
fn chunk(id: u16, has_chunks: bool, data: &[u8]) -> Vec<u8> {
    let length = data.len() as u16 | u16::from(has_chunks) << 15;
    let mut bytes = Vec::with_capacity(4 + data.len());
    bytes.extend(id.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(data);
    bytes
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}
