//! Image files of every kind, upright and turned, whole and damaged.

use shoal_testing::assert_message;
use std::path::PathBuf;

use image::{GrayAlphaImage, GrayImage, ImageEncoder as _, RgbaImage};
use proptest::prelude::*;
use tiff::encoder::{TiffEncoder, colortype};

use super::*;
use crate::camera::jpeg::samples;

fn decoded(name: &str, bytes: &[u8]) -> Result<DynamicImage, String> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    decode_image(&path, 7).map_err(|error| error.to_string())
}

fn gray(name: &str, bytes: &[u8]) -> GrayImage {
    decoded(name, bytes).unwrap().to_luma8()
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Returns a PNG of 3x2 px with the levels 1 to 6 and an EXIF orientation.
fn oriented_png(orientation: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    encoder.set_exif_metadata(exif(orientation)).unwrap();
    encoder
        .write_image(&[1, 2, 3, 4, 5, 6], 3, 2, image::ExtendedColorType::L8)
        .unwrap();
    bytes
}

/// EXIF data with one tag, the orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let head = *b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0";
    [&head[..], &[orientation, 0, 0, 0, 0, 0, 0, 0]].concat()
}

/// Returns a TIFF of 3x2 px with the levels 1 to 6, `copies` times, and the given tags.
fn tiff(copies: usize, tags: &[(Tag, u16)]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    for _ in 0..copies {
        let mut image = encoder.new_image::<colortype::Gray8>(3, 2).unwrap();
        for (tag, value) in tags {
            image.encoder().write_tag(*tag, *value).unwrap();
        }
        image.write_data(&[1, 2, 3, 4, 5, 6]).unwrap();
    }
    bytes.into_inner()
}

/// Changes a value in the first directory of a little-endian TIFF.
fn set_tag(tiff: &mut [u8], tag: Tag, value: u32) {
    let number = tag.to_u16().to_le_bytes();
    let directory = u32::from_le_bytes(tiff[4..8].try_into().unwrap()) as usize + 2;
    let mut entries = tiff[directory..].chunks_mut(12);
    let entry = entries.find(|entry| entry[..2] == number).unwrap();
    entry[2..4].copy_from_slice(&4u16.to_le_bytes());
    entry[8..12].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn every_exif_orientation_is_turned_upright() {
    let expected: [(u32, [u8; 6]); 8] = [
        (3, [1, 2, 3, 4, 5, 6]),
        (3, [3, 2, 1, 6, 5, 4]),
        (3, [6, 5, 4, 3, 2, 1]),
        (3, [4, 5, 6, 1, 2, 3]),
        (2, [1, 4, 2, 5, 3, 6]),
        (2, [4, 1, 5, 2, 6, 3]),
        (2, [6, 3, 5, 2, 4, 1]),
        (2, [3, 6, 2, 5, 1, 4]),
    ];
    for (orientation, (width, levels)) in (1..).zip(expected) {
        let turned = tiff(1, &[(Tag::Orientation, u16::from(orientation))]);
        for (name, bytes) in [("a.png", oriented_png(orientation)), ("a.tif", turned)] {
            let image = gray(name, &bytes);
            assert_eq!(
                (image.width(), image.as_raw()),
                (width, &levels.to_vec()),
                "{name} {orientation}"
            );
        }
    }
    let content = [b"Exif\0\0".to_vec(), exif(6)].concat();
    let segment = [&[0xff, 0xe1, 0, content.len() as u8 + 2], &content[..]].concat();
    let jpeg = [&samples::COLOR[..2], &segment, &samples::COLOR[2..]].concat();
    let image = gray("a.jpg", &jpeg);
    assert_eq!(image.dimensions(), (samples::SIZE_PX.1, samples::SIZE_PX.0));
    let upright = gray("a.jpg", samples::COLOR);
    for (x, y, level) in image.enumerate_pixels() {
        let from = upright.get_pixel(y, samples::SIZE_PX.1 - 1 - x);
        assert_eq!(level, from, "{x} {y}");
    }
}

#[test]
fn deep_images_keep_their_levels() {
    let levels = vec![1, 256, 40_000, 65_535];
    let deep = image::ImageBuffer::from_raw(2, 2, levels.clone()).unwrap();
    let deep = DynamicImage::ImageLuma16(deep);
    for (name, format) in [("a.png", ImageFormat::Png), ("a.tif", ImageFormat::Tiff)] {
        let read = decoded(name, &encoded(&deep, format)).unwrap();
        assert_eq!(read.to_luma16().into_raw(), levels, "{name}");
    }
}

#[test]
fn other_kinds_of_tiff_are_refused_with_a_remedy() {
    let float = DynamicImage::ImageRgb32F(image::Rgb32FImage::new(2, 2));
    let mut lab = tiff(1, &[]);
    set_tag(&mut lab, Tag::PhotometricInterpretation, 8);
    let reversed = tiff(1, &[(Tag::FillOrder, 2)]);
    for (bytes, expected) in [
        (encoded(&float, ImageFormat::Tiff), "floating-point"),
        (lab, "does not support"),
        (tiff(2, &[]), "several images"),
        (reversed, "FillOrder 2"),
    ] {
        let error = decoded("a.tif", &bytes).unwrap_err();
        assert_message(&error, &[expected, "a.tif", "magick"]);
    }
    assert_eq!(gray("a.tif", &tiff(1, &[(Tag::FillOrder, 1)])).width(), 3);
}

#[test]
fn transparent_pixels_are_rejected_and_opaque_alpha_is_ignored() {
    let png = |image: DynamicImage| encoded(&image, ImageFormat::Png);
    let opaque = GrayAlphaImage::from_pixel(2, 2, image::LumaA([77, 255]));
    assert_eq!(
        gray("a.png", &png(opaque.clone().into())).into_raw(),
        [77; 4]
    );
    let mut clear = opaque;
    clear.put_pixel(1, 1, image::LumaA([77, 254]));
    let color = RgbaImage::from_pixel(2, 2, image::Rgba([9, 9, 9, 0]));
    for image in [clear.into(), color.into()] {
        let error = decoded("a.png", &png(image)).unwrap_err();
        assert_message(&error, &["transparent", "a.png"]);
    }
}

#[test]
fn the_content_decides_the_format_and_others_are_named() {
    assert_eq!(gray("really-a-png.jpg", &oriented_png(1)).width(), 3);
    for (bytes, expected) in [
        (&b"RIFF\x10\0\0\0WEBPVP8 "[..], "WebP"),
        (b"GIF89a\x01\0\x01\0", "Gif"),
        (b"just text", "no PNG, JPEG or TIFF"),
    ] {
        let error = decoded("a.png", bytes).unwrap_err();
        assert_message(&error, &[expected, "a.png"]);
    }
}

#[test]
fn huge_sizes_are_rejected_before_memory_is_allocated() {
    let mut png = oriented_png(1);
    png[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    // The checksum follows the header. The decoder checks it before the size, so it must be correct.
    let mut crc = u32::MAX;
    for byte in &png[12..29] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    png[29..33].copy_from_slice(&(!crc).to_be_bytes());
    let mut tiff = tiff(1, &[]);
    set_tag(&mut tiff, Tag::ImageWidth, 60_000);
    set_tag(&mut tiff, Tag::ImageLength, 60_000);
    let jpeg = samples::changed(samples::COLOR, 0xc0, 1, &[0xea, 0x60, 0xea, 0x60]);
    for (name, bytes) in [("a.png", png), ("a.tif", tiff), ("a.jpg", jpeg)] {
        let counted = allocation_counter::measure(|| {
            let error = decoded(name, &bytes).unwrap_err();
            assert_message(&error, &["60000x60000", name]);
        });
        assert!(
            counted.bytes_max < 1 << 20,
            "{name}: {} bytes",
            counted.bytes_max
        );
    }
}

#[test]
fn an_incomplete_jpeg_or_png_is_an_error() {
    let levels: Vec<u8> = (0..64 * 48u32).map(|i| ((i * i) >> 4) as u8).collect();
    let image = GrayImage::from_raw(64, 48, levels).unwrap();
    let png = encoded(&image.into(), ImageFormat::Png);
    for (name, bytes) in [("a.jpg", samples::COLOR), ("a.png", &png)] {
        let error = decoded(name, &bytes[..bytes.len() * 2 / 3]).unwrap_err();
        assert!(error.contains(name) && error.contains("frame 7"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic_and_are_whole_or_refused(
        kind in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let (name, mut bytes) = match kind {
            0 => ("a.png", oriented_png(6)),
            1 => ("a.jpg", samples::COLOR.to_vec()),
            _ => ("a.tif", tiff(1, &[])),
        };
        for (at, value) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match decoded(name, &bytes) {
            Ok(image) => {
                let pixels = u64::from(image.width()) * u64::from(image.height());
                prop_assert!((1..=super::super::limits::MAX_PIXELS).contains(&pixels));
            }
            Err(error) => prop_assert!(error.contains(name), "{}", error),
        }
    }
}
