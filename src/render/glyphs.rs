//! Glyphs for the text of the overlay: one gray atlas of all supported characters, and the position of each character in it.
//!
//! **Source**: Noto Sans Mono, rasterized by the crate `noto-sans-mono-bitmap`.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Height of the rasterized glyphs, in pixels.
const HEIGHT: RasterHeight = RasterHeight::Size32;
/// Weight of the font.
const WEIGHT: FontWeight = FontWeight::Regular;
/// Glyphs per row of the atlas.
const COLUMNS: usize = 16;
/// First supported character: the space, where printable ASCII begins.
const FIRST: u32 = 0x20;
/// Last supported character: the end of Latin-1.
const LAST: u32 = 0xFF;
/// Free pixels on each side of a glyph, so that filtering does not mix the glyph with its neighbors.
const MARGIN: usize = 1;

/// Width of a glyph divided by its height; equal for all glyphs.
pub(super) fn aspect() -> f32 {
    get_raster_width(WEIGHT, HEIGHT) as f32 / HEIGHT.val() as f32
}

/// Width and height of the atlas.
pub(super) fn atlas_size_px() -> [u32; 2] {
    let [width, height] = cell_px();
    let rows = (LAST - FIRST + 1) as usize / COLUMNS;
    [(COLUMNS * width) as u32, (rows * height) as u32]
}

/// Width and height of one glyph with its margin.
fn cell_px() -> [usize; 2] {
    [
        get_raster_width(WEIGHT, HEIGHT) + 2 * MARGIN,
        HEIGHT.val() + 2 * MARGIN,
    ]
}

/// Returns the index of a character in the atlas; for an unsupported character, the index of `?`.
fn index_of(letter: char) -> usize {
    let code = u32::from(letter);
    let known = if (FIRST..=LAST).contains(&code) {
        code
    } else {
        u32::from('?')
    };
    (known - FIRST) as usize
}

/// Returns the left, top, right and bottom edge of a character in the atlas, each 0..1; for an unsupported character, those of
/// `?`.
pub(super) fn glyph_uv(letter: char) -> [f32; 4] {
    let at = index_of(letter);
    let [width, height] = cell_px();
    let [all_x, all_y] = atlas_size_px().map(|s| s as f32);
    let left = ((at % COLUMNS) * width + MARGIN) as f32;
    let top = ((at / COLUMNS) * height + MARGIN) as f32;
    [
        left / all_x,
        top / all_y,
        (left + (width - 2 * MARGIN) as f32) / all_x,
        (top + (height - 2 * MARGIN) as f32) / all_y,
    ]
}

/// Returns the atlas: one byte of coverage per pixel, rows from the top.
pub(super) fn atlas() -> Vec<u8> {
    let [width, height] = atlas_size_px().map(|s| s as usize);
    let [cell_width, cell_height] = cell_px();
    let mut bytes = vec![0; width * height];
    for letter in (FIRST..=LAST).filter_map(char::from_u32) {
        let Some(raster) = get_raster(letter, WEIGHT, HEIGHT) else {
            continue;
        };
        let at = index_of(letter);
        let left = (at % COLUMNS) * cell_width + MARGIN;
        let top = (at / COLUMNS) * cell_height + MARGIN;
        for (y, row) in raster.rows().enumerate() {
            let start = (top + y) * width + left;
            if let Some(to) = bytes.get_mut(start..start + row.len()) {
                to.copy_from_slice(row);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_is_in_the_atlas() {
        let [width, height] = atlas_size_px().map(|s| s as usize);
        let bytes = atlas();
        assert_eq!(bytes.len(), width * height);
        let ink = |letter| {
            let [left, top, right, bottom] = glyph_uv(letter);
            let (x0, x1) = (left * width as f32, right * width as f32);
            let (y0, y1) = (top * height as f32, bottom * height as f32);
            let rows = bytes.chunks_exact(width);
            rows.skip(y0.round() as usize)
                .take((y1 - y0).round() as usize)
                .map(|row| {
                    let part = &row[x0.round() as usize..x1.round() as usize];
                    part.iter().map(|&b| u64::from(b)).sum::<u64>()
                })
                .collect::<Vec<_>>()
        };
        assert!(ink(' ').iter().all(|&i| i == 0));
        assert_ne!(ink('a'), ink('b'));
        assert!(ink('ä').iter().sum::<u64>() > 1000);
        assert_eq!(ink('漢'), ink('?'));
        assert!((0.3..0.7).contains(&aspect()));
    }
}
