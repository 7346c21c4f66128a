//! Numbers of paths.

/// Number that identifies a path. One agent may follow several; `number` is the index among them.
pub(super) fn path_id(agent: u32, number: usize) -> u64 {
    u64::from(agent) << 8 | number as u64
}
