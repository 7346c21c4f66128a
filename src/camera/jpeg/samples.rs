//! Sample images for the tests of the camera room; `samples/README.md` says how they were made.

/// Width and height of all samples, in pixels.
pub(in crate::camera) const SIZE_PX: (u32, u32) = (52, 38);
/// A gray image.
pub(in crate::camera) const GRAY: &[u8] = include_bytes!("samples/gray.jpg");
/// A color image with the sampling of most cameras, 4:2:2.
pub(in crate::camera) const COLOR: &[u8] = include_bytes!("samples/422.jpg");
/// A color image with three restart intervals.
pub(in crate::camera) const RESTART: &[u8] = include_bytes!("samples/restart.jpg");
/// One image for each usual sampling, and the one with restart intervals.
pub(in crate::camera) const ALL: [&[u8]; 6] = [
    GRAY,
    COLOR,
    RESTART,
    include_bytes!("samples/444.jpg"),
    include_bytes!("samples/420.jpg"),
    include_bytes!("samples/440.jpg"),
];

/// Returns the luma of a pixel in all samples.
pub(in crate::camera) fn level(x: u32, y: u32) -> u8 {
    (40 + x * 3 % 90 + y * 2 % 80) as u8
}

/// Returns the position of the first marker of this kind.
pub(in crate::camera) fn marker(jpeg: &[u8], kind: u8) -> usize {
    let found = jpeg.windows(2).position(|pair| pair == [0xff, kind]);
    found.expect("the samples contain the marker")
}

/// Returns a copy without the segments of one kind.
pub(in crate::camera) fn without(jpeg: &[u8], kind: u8) -> Vec<u8> {
    let mut copy = jpeg.to_vec();
    while let Some(at) = copy.windows(2).position(|pair| pair == [0xff, kind]) {
        let length = usize::from(u16::from_be_bytes([copy[at + 2], copy[at + 3]]));
        copy.drain(at..at + 2 + length);
    }
    copy
}

/// Returns a copy with other bytes after the first marker of a kind: `offset` 0 is the first byte of its content.
pub(in crate::camera) fn changed(jpeg: &[u8], kind: u8, offset: usize, to: &[u8]) -> Vec<u8> {
    let mut copy = jpeg.to_vec();
    let at = marker(jpeg, kind) + 4 + offset;
    copy[at..at + to.len()].copy_from_slice(to);
    copy
}
