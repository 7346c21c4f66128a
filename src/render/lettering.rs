//! Texts of the overlay: lines of shaped glyphs, and one gray atlas of the glyphs that were drawn.
//!
//! In: texts in any script of the font. Out: for each glyph its place in the line and in the atlas. Lines and glyphs are kept, so a text
//! that was drawn before allocates nothing. Fonts of the system are not used, so a picture is the same on every machine.
//!
//! **Source**: Noto Sans (SIL Open Font License), shaped and rasterized by the crate `cosmic-text`.

use std::collections::HashMap;
use std::sync::Arc;

use cosmic_text::fontdb::{Database, Source};
use cosmic_text::{
    Attrs, Buffer, CacheKey, Family, FontSystem, LayoutGlyph, Metrics, Shaping, SwashCache,
    SwashContent, Wrap,
};
use glam::Vec2;

/// The font.
static FONT: &[u8] = include_bytes!("../../fonts/NotoSans-Regular.ttf");
/// Name of the font's family.
const FAMILY: &str = "Noto Sans";
/// Height of a line in which glyphs are rasterized, in pixels. Larger letters are blurred.
const LINE_PX: f32 = 80.0;
/// Size of the font as a share of the height of its line.
const FONT_SHARE: f32 = 0.78;
/// Position of the baseline as a share of the height of a line, from the top.
const BASELINE: f32 = 0.79;
/// Width and height of the atlas, in pixels: about 300 glyphs.
pub(super) const ATLAS_PX: u32 = 1024;
/// Number of mip levels of the atlas.
pub(super) const LEVELS: u32 = 3;
/// Free pixels on each side of a glyph, so that filtering does not mix it with its neighbors, also in the smallest mip level.
const MARGIN_PX: u32 = 4;
/// Largest number of texts that are kept.
const TEXTS_MAX: usize = 512;

/// A glyph of a line. Places in the line are shares of the height of the line, from its upper left corner.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineGlyph {
    /// Upper left corner.
    pub(super) low: Vec2,
    /// Lower right corner.
    pub(super) high: Vec2,
    /// Upper left and lower right corner in the atlas, each 0..1.
    pub(super) uv: [Vec2; 2],
}

/// A line of text.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Width as a multiple of the height.
    pub(super) width: f32,
    /// The glyphs with ink.
    pub(super) glyphs: Vec<LineGlyph>,
}

/// A glyph in the atlas.
#[derive(Clone, Copy, Debug)]
struct AtlasGlyph {
    /// Upper left corner in the atlas, in pixels.
    at_px: [u32; 2],
    size_px: [u32; 2],
    /// Upper left corner relative to the origin of the glyph on the baseline, in pixels.
    from_origin_px: Vec2,
}

/// The gray atlas. It is filled from the left in rows from the top.
#[derive(Debug)]
struct Atlas {
    /// Coverage of each pixel.
    pixels: Vec<u8>,
    /// The glyphs; `None` for a glyph without ink.
    glyphs: HashMap<CacheKey, Option<AtlasGlyph>>,
    next_px: [u32; 2],
    row_height_px: u32,
    is_full: bool,
}

impl Default for Atlas {
    fn default() -> Self {
        Self {
            pixels: vec![0; (ATLAS_PX * ATLAS_PX) as usize],
            glyphs: HashMap::new(),
            next_px: [0; 2],
            row_height_px: 0,
            is_full: false,
        }
    }
}

impl Atlas {
    /// Copies a raster into the atlas. Returns its upper left corner; `None` if there is no room.
    fn add(&mut self, [width, height]: [u32; 2], coverage: &[u8]) -> Option<[u32; 2]> {
        let [wide, high] = [width, height].map(|side| side + 2 * MARGIN_PX);
        if self.next_px[0] + wide > ATLAS_PX {
            self.next_px = [0, self.next_px[1] + self.row_height_px];
            self.row_height_px = 0;
        }
        if wide > ATLAS_PX || self.next_px[1] + high > ATLAS_PX {
            self.is_full = true;
            return None;
        }
        let at = self.next_px.map(|side| side + MARGIN_PX);
        for (y, row) in (at[1]..).zip(coverage.chunks_exact(width.max(1) as usize)) {
            let start = (y * ATLAS_PX + at[0]) as usize;
            if let Some(to) = self.pixels.get_mut(start..start + row.len()) {
                to.copy_from_slice(row);
            }
        }
        self.next_px[0] += wide;
        self.row_height_px = self.row_height_px.max(high);
        Some(at)
    }
}

/// Shapes texts and keeps their glyphs.
#[derive(Debug)]
pub(super) struct Lettering {
    fonts: FontSystem,
    rasters: SwashCache,
    atlas: Atlas,
    /// Whether the atlas has changed since [`Self::take_levels`].
    has_changed: bool,
    /// The lines of each text, for each width in which it was wrapped.
    texts: HashMap<String, Vec<(u32, Vec<Line>)>>,
}

impl Default for Lettering {
    fn default() -> Self {
        let mut database = Database::new();
        database.load_font_source(Source::Binary(Arc::new(FONT)));
        Self {
            fonts: FontSystem::new_with_locale_and_db("en".to_owned(), database),
            rasters: SwashCache::new(),
            atlas: Atlas::default(),
            has_changed: false,
            texts: HashMap::new(),
        }
    }
}

impl Lettering {
    /// Starts a new picture. Forgets texts if there are too many, and all glyphs if the atlas is full.
    pub(super) fn begin(&mut self) {
        if self.atlas.is_full {
            self.atlas = Atlas::default();
            self.texts.clear();
        } else if self.texts.len() > TEXTS_MAX {
            self.texts.clear();
        }
    }

    /// Returns the width of a text in one line, as a multiple of the height of the line.
    pub(super) fn width(&mut self, text: &str) -> f32 {
        self.lines(text, f32::INFINITY)
            .first()
            .map_or(0.0, |line| line.width)
    }

    /// Returns the lines of a text that is broken between words at a width, which is a multiple of the height of a line. A word that is
    /// too long is broken too.
    pub(super) fn lines(&mut self, text: &str, width: f32) -> &[Line] {
        let key = width.to_bits();
        if !self.texts.contains_key(text) {
            self.texts.insert(text.to_owned(), Vec::new());
        }
        let known = |all: &[(u32, Vec<Line>)]| all.iter().position(|(of, _)| *of == key);
        let index = self.texts.get(text).and_then(|all| known(all));
        if index.is_none() {
            let made = self.shaped(text, width);
            if let Some(all) = self.texts.get_mut(text) {
                all.push((key, made));
            }
        }
        let all = self.texts.get(text).map_or(&[][..], |all| all);
        let index = known(all);
        index
            .and_then(|index| all.get(index))
            .map_or(&[], |(_, lines)| lines)
    }

    fn shaped(&mut self, text: &str, width: f32) -> Vec<Line> {
        let metrics = Metrics::new(FONT_SHARE * LINE_PX, LINE_PX);
        let mut buffer = Buffer::new_empty(metrics);
        buffer.set_wrap(Wrap::WordOrGlyph);
        buffer.set_size(width.is_finite().then_some(width * LINE_PX), None);
        let attributes = Attrs::new().family(Family::Name(FAMILY));
        buffer.set_text(text.trim(), &attributes, Shaping::Advanced, None);
        buffer.shape_until_scroll(&mut self.fonts, false);
        let mut lines = Vec::new();
        for run in buffer.layout_runs() {
            let glyphs = run.glyphs.iter().filter_map(|glyph| self.placed(glyph));
            lines.push(Line {
                glyphs: glyphs.collect(),
                width: run.line_w / LINE_PX,
            });
        }
        lines
    }

    /// Returns the place of a shaped glyph; `None` for a glyph without ink, and while the atlas is full.
    fn placed(&mut self, glyph: &LayoutGlyph) -> Option<LineGlyph> {
        let (weight, flags) = (glyph.font_weight, glyph.cache_key_flags);
        let (font, size) = (glyph.font_id, glyph.font_size);
        let (key, ..) = CacheKey::new(font, glyph.glyph_id, size, (0.0, 0.0), weight, flags);
        let known = self.atlas.glyphs.get(&key).copied();
        let known = known.unwrap_or_else(|| self.rasterized(key))?;
        let offset = Vec2::new(glyph.x_offset, -glyph.y_offset) * glyph.font_size;
        let origin = Vec2::new(glyph.x, glyph.y + BASELINE * LINE_PX) + offset;
        let low = (origin + known.from_origin_px) / LINE_PX;
        let [from, size] = [known.at_px, known.size_px].map(|[x, y]| Vec2::new(x as f32, y as f32));
        Some(LineGlyph {
            low,
            high: low + size / LINE_PX,
            uv: [from, from + size].map(|corner| corner / ATLAS_PX as f32),
        })
    }

    /// Rasterizes a glyph into the atlas.
    fn rasterized(&mut self, key: CacheKey) -> Option<AtlasGlyph> {
        let image = self.rasters.get_image_uncached(&mut self.fonts, key);
        let added = image.and_then(|image| {
            let size_px = [image.placement.width, image.placement.height];
            let is_mask = image.content == SwashContent::Mask && size_px.iter().all(|s| *s > 0);
            let at_px = is_mask.then(|| self.atlas.add(size_px, &image.data))??;
            let (left, top) = (image.placement.left, image.placement.top);
            Some(AtlasGlyph {
                at_px,
                size_px,
                from_origin_px: Vec2::new(left as f32, -(top as f32)),
            })
        });
        if !self.atlas.is_full {
            self.atlas.glyphs.insert(key, added);
            self.has_changed = true;
        }
        added
    }

    /// Returns the mip levels of the atlas if it has changed since the last call: one byte of coverage per pixel, rows from the top.
    pub(super) fn take_levels(&mut self) -> Option<Vec<Vec<u8>>> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let mut levels = vec![self.atlas.pixels.clone()];
        let mut side = ATLAS_PX as usize;
        while levels.len() < LEVELS as usize {
            let Some(above) = levels.last() else { break };
            let mean = |x: usize, y: usize| {
                let at =
                    |x: usize, y: usize| u32::from(above.get(y * side + x).copied().unwrap_or(0));
                let (x, y) = (2 * x, 2 * y);
                ((at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1) + 2) / 4) as u8
            };
            let half = side / 2;
            levels.push((0..half * half).map(|i| mean(i % half, i / half)).collect());
            side = half;
        }
        Some(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shaped_and_its_glyphs_are_in_the_atlas() {
        let mut lettering = Lettering::default();
        let wide = lettering.width("WWWW");
        let thin = lettering.width("iiii");
        assert!(
            wide > 2.5 * thin,
            "the letters are proportional: {wide} {thin}"
        );
        for (text, glyphs) in [("a b", 2), ("Größe", 5), ("Вода", 4), ("", 0)] {
            let lines = lettering.lines(text, f32::INFINITY);
            let count: usize = lines.iter().map(|line| line.glyphs.len()).sum();
            assert_eq!(count, glyphs, "{text}");
            for glyph in lines.iter().flat_map(|line| &line.glyphs) {
                assert!(glyph.low.y > -0.1 && glyph.high.y < 1.1, "{text} {glyph:?}");
                assert!(glyph.uv.iter().all(|uv| uv.min_element() >= 0.0));
                assert!(glyph.uv.iter().all(|uv| uv.max_element() <= 1.0));
            }
        }
        let levels = lettering.take_levels().unwrap();
        let inks = levels.iter().map(|level| {
            let sum: u64 = level.iter().map(|byte| u64::from(*byte)).sum();
            sum as f64 / level.len() as f64
        });
        let inks: Vec<f64> = inks.collect();
        assert!(
            inks[0] > 0.5 && (inks[0] - inks[2]).abs() < 0.05,
            "{inks:?}"
        );
        // What was drawn before changes nothing.
        lettering.lines("a b", f32::INFINITY);
        assert!(lettering.take_levels().is_none());
    }

    #[test]
    fn a_full_atlas_and_many_texts_are_forgotten_with_the_next_picture() {
        let mut lettering = Lettering::default();
        let letters = (0xC0..0x52F)
            .filter_map(char::from_u32)
            .filter(|c| c.is_alphabetic());
        for letter in letters {
            lettering.width(&letter.to_string());
        }
        assert!(lettering.atlas.is_full && lettering.texts.len() > TEXTS_MAX);
        lettering.begin();
        assert!(lettering.texts.is_empty());
        assert_eq!(lettering.lines("abc", f32::INFINITY)[0].glyphs.len(), 3);
        for number in 0..=TEXTS_MAX {
            lettering.width(&number.to_string());
        }
        lettering.begin();
        assert!(lettering.texts.is_empty() && !lettering.atlas.glyphs.is_empty());
    }
}
