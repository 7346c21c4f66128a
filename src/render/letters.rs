//! Letters for marks over the picture: one gray picture of all that can be written, and where each stands in it.
//!
//! **Source**: Noto Sans Mono, drawn beforehand in the crate `noto-sans-mono-bitmap`.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

const HEIGHT: RasterHeight = RasterHeight::Size32;
const WEIGHT: FontWeight = FontWeight::Regular;
/// Letters in a row of the picture.
const COLUMNS: usize = 16;
/// What can be written: printable ASCII, then Latin-1.
const FIRST: u32 = 0x20;
const LAST: u32 = 0xFF;
/// Free pixels around a letter, so that neighbors do not shine in.
const MARGIN: usize = 1;

/// Width of a letter as a share of its height.
pub fn width() -> f32 {
    get_raster_width(WEIGHT, HEIGHT) as f32 / HEIGHT.val() as f32
}

/// Width and height of the picture of letters.
pub fn size_px() -> [u32; 2] {
    let [width, height] = cell();
    let rows = (LAST - FIRST + 1) as usize / COLUMNS;
    [(COLUMNS * width) as u32, (rows * height) as u32]
}

fn cell() -> [usize; 2] {
    [
        get_raster_width(WEIGHT, HEIGHT) + 2 * MARGIN,
        HEIGHT.val() + 2 * MARGIN,
    ]
}

fn place(letter: char) -> usize {
    let code = u32::from(letter);
    let known = if (FIRST..=LAST).contains(&code) {
        code
    } else {
        u32::from('?')
    };
    (known - FIRST) as usize
}

/// Left, top, right and bottom of a letter in the picture, 0..1; what cannot be written is a question mark.
pub fn uv(letter: char) -> [f32; 4] {
    let at = place(letter);
    let [width, height] = cell();
    let [all_x, all_y] = size_px().map(|s| s as f32);
    let left = ((at % COLUMNS) * width + MARGIN) as f32;
    let top = ((at / COLUMNS) * height + MARGIN) as f32;
    [
        left / all_x,
        top / all_y,
        (left + (width - 2 * MARGIN) as f32) / all_x,
        (top + (height - 2 * MARGIN) as f32) / all_y,
    ]
}

/// The picture of letters: one byte a pixel, rows from the top.
pub fn picture() -> Vec<u8> {
    let [width, height] = size_px().map(|s| s as usize);
    let [cell_width, cell_height] = cell();
    let mut bytes = vec![0; width * height];
    for letter in (FIRST..=LAST).filter_map(char::from_u32) {
        let Some(raster) = get_raster(letter, WEIGHT, HEIGHT) else {
            continue;
        };
        let at = place(letter);
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
    fn every_letter_has_its_own_ink() {
        let [width, height] = size_px().map(|s| s as usize);
        let bytes = picture();
        assert_eq!(bytes.len(), width * height);
        let ink = |letter| {
            let [left, top, right, bottom] = uv(letter);
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
        assert!((0.3..0.7).contains(&width_of_letter()));
    }

    fn width_of_letter() -> f32 {
        super::width()
    }
}
