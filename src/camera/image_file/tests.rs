//! Image files of every kind, upright and turned, whole and damaged.

use std::path::PathBuf;

use image::{GrayAlphaImage, GrayImage, ImageEncoder as _, RgbaImage};
use proptest::prelude::*;

use super::*;
use crate::camera::jpeg::sample_encoder::SampleJpeg;

fn decoded(name: &str, bytes: &[u8]) -> Result<DynamicImage, String> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    decode_image(&path, 7).map_err(|error| error.to_string())
}

fn gray(name: &str, bytes: &[u8]) -> GrayImage {
    decoded(name, bytes).unwrap().to_luma8()
}

/// Returns a PNG of 3x2 px with the levels 1 to 6 and an EXIF orientation.
fn oriented_png(orientation: u8, is_little_endian: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    encoder
        .set_exif_metadata(exif(orientation, is_little_endian))
        .unwrap();
    encoder
        .write_image(&[1, 2, 3, 4, 5, 6], 3, 2, image::ExtendedColorType::L8)
        .unwrap();
    bytes
}

/// EXIF data with one tag, the orientation.
fn exif(orientation: u8, is_little_endian: bool) -> Vec<u8> {
    let o = orientation;
    if is_little_endian {
        let head = *b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0";
        [&head[..], &[o, 0, 0, 0, 0, 0, 0, 0]].concat()
    } else {
        let head = *b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01";
        [&head[..], &[0, o, 0, 0, 0, 0, 0, 0]].concat()
    }
}

/// A tag of a TIFF: number, type (3: 16 bits, 4: 32 bits) and values.
type TiffTag = (u16, u16, Vec<u32>);

/// Returns a little-endian TIFF with one image for each list of tags. Each image is one strip.
fn tiff(images: &[Vec<TiffTag>], pixels: &[u8]) -> Vec<u8> {
    let mut bytes = b"II\x2a\0\0\0\0\0".to_vec();
    bytes.extend(pixels);
    let mut link = 4;
    for tags in images {
        let mut tags = tags.clone();
        tags.push((273, 4, vec![8]));
        tags.push((279, 4, vec![pixels.len() as u32]));
        tags.sort();
        let mut entries = (tags.len() as u16).to_le_bytes().to_vec();
        for (number, kind, values) in &tags {
            let content: Vec<u8> = values
                .iter()
                .flat_map(|v| v.to_le_bytes()[..if *kind == 3 { 2 } else { 4 }].to_vec())
                .collect();
            entries.extend(number.to_le_bytes());
            entries.extend(kind.to_le_bytes());
            entries.extend((values.len() as u32).to_le_bytes());
            if content.len() > 4 {
                entries.extend((bytes.len() as u32).to_le_bytes());
                bytes.extend(content);
            } else {
                entries.extend(&content);
                entries.extend(vec![0; 4 - content.len()]);
            }
        }
        let start = bytes.len() as u32;
        bytes[link..link + 4].copy_from_slice(&start.to_le_bytes());
        bytes.extend(entries);
        link = bytes.len();
        bytes.extend([0; 4]);
    }
    bytes
}

fn tiff_tags(size_px: (u32, u32), bits: u32, photometric: u32) -> Vec<TiffTag> {
    let samples = match photometric {
        2 => 3,
        5 => 4,
        _ => 1,
    };
    vec![
        (256, 4, vec![size_px.0]),
        (257, 4, vec![size_px.1]),
        (258, 3, vec![bits; samples]),
        (259, 3, vec![1]),
        (262, 3, vec![photometric]),
        (277, 3, vec![samples as u32]),
        (278, 4, vec![size_px.1]),
    ]
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
        for is_little_endian in [true, false] {
            let image = gray("a.png", &oriented_png(orientation, is_little_endian));
            assert_eq!(
                (image.width(), image.as_raw()),
                (width, &levels.to_vec()),
                "{orientation}"
            );
        }
        let mut tags = tiff_tags((3, 2), 8, 1);
        tags.push((274, 3, vec![u32::from(orientation)]));
        let image = gray("a.tif", &tiff(&[tags], &[1, 2, 3, 4, 5, 6]));
        assert_eq!(
            (image.width(), image.as_raw()),
            (width, &levels.to_vec()),
            "{orientation}"
        );
    }
    for invalid in [0, 9] {
        assert_eq!(gray("a.png", &oriented_png(invalid, true)).width(), 3);
    }
}

#[test]
fn the_exif_orientation_of_a_jpeg_is_applied() {
    for is_little_endian in [true, false] {
        let content = [b"Exif\0\0".to_vec(), exif(6, is_little_endian)].concat();
        let mut first_segments = vec![0xff, 0xe1, 0, content.len() as u8 + 2];
        first_segments.extend(content);
        let sample = SampleJpeg {
            first_segments,
            has_huffman_tables: false,
            has_end_marker: false,
            ..SampleJpeg::color(24, 16, (2, 1))
        };
        let image = gray("a.jpg", &sample.encode());
        assert_eq!(image.dimensions(), (16, 24));
        for (x, y, level) in image.enumerate_pixels() {
            let expected = SampleJpeg::level(y, 15 - x);
            assert!(
                level.0[0].abs_diff(expected) < 12,
                "{x} {y}: {level:?}, expected {expected}"
            );
        }
    }
}

#[test]
fn common_kinds_of_tiff_are_read() {
    let size = (2, 2);
    let image = |bits, photometric, pixels: &[u8]| {
        decoded(
            "a.tif",
            &tiff(&[tiff_tags(size, bits, photometric)], pixels),
        )
        .unwrap()
    };
    assert_eq!(
        image(8, 1, &[1, 2, 3, 4]).to_luma8().into_raw(),
        [1, 2, 3, 4]
    );
    assert_eq!(
        image(8, 0, &[1, 2, 3, 4]).to_luma8().into_raw(),
        [254, 253, 252, 251]
    );
    assert_eq!(
        image(1, 1, &[0x80, 0x40]).to_luma8().into_raw(),
        [255, 0, 0, 255]
    );
    assert_eq!(
        image(1, 0, &[0x80, 0x40]).to_luma8().into_raw(),
        [0, 255, 255, 0]
    );
    let deep = image(16, 1, &[1, 0, 0, 1, 2, 0, 3, 0]);
    assert_eq!(deep.to_luma16().into_raw(), [1, 256, 2, 3]);
    assert_eq!(image(8, 2, &[90; 12]).to_luma8().into_raw(), [90; 4]);
    let cmyk = image(
        8,
        5,
        &[0, 0, 0, 155, 0, 0, 0, 155, 0, 0, 0, 155, 0, 0, 0, 155],
    );
    assert!(cmyk.to_luma8().into_raw()[0].abs_diff(100) < 3);
}

#[test]
fn other_kinds_of_tiff_are_named() {
    let with_format = |bits, photometric, format| {
        let mut tags = tiff_tags((2, 2), bits, photometric);
        tags.push((339, 3, vec![format]));
        tags
    };
    let mut palette = tiff_tags((2, 2), 8, 3);
    palette.push((320, 3, vec![0; 768]));
    for (tags, expected) in [
        (with_format(32, 1, 3), "32-bit floating-point gray"),
        (with_format(64, 1, 3), "64-bit floating-point gray"),
        (with_format(16, 1, 3), "16-bit floating-point gray"),
        (with_format(32, 2, 3), "32-bit floating-point RGB"),
        (with_format(16, 1, 2), "16-bit signed gray"),
        (with_format(32, 1, 1), "32-bit gray"),
        (tiff_tags((2, 2), 12, 1), "12-bit gray"),
        (tiff_tags((2, 2), 4, 1), "4-bit gray"),
        (palette, "8-bit palette"),
    ] {
        let error = decoded("a.tif", &tiff(&[tags], &[0; 64])).unwrap_err();
        assert!(
            error.contains(expected) && error.contains("a.tif") && error.contains("magick"),
            "{expected}: {error}"
        );
    }
}

#[test]
fn a_tiff_of_several_images_is_rejected_but_a_preview_is_not() {
    let first = tiff_tags((2, 2), 8, 1);
    let both = tiff(&[first.clone(), first.clone()], &[5; 4]);
    let error = decoded("a.tif", &both).unwrap_err();
    assert!(error.contains("several images"), "{error}");
    let mut preview = first.clone();
    preview.push((254, 4, vec![1]));
    assert_eq!(
        gray("a.tif", &tiff(&[first, preview], &[5; 4])).into_raw(),
        [5; 4]
    );
}

#[test]
fn transparent_pixels_are_rejected_and_opaque_alpha_is_ignored() {
    let png = |image: DynamicImage| {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    };
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
        assert!(
            error.contains("transparent") && error.contains("a.png"),
            "{error}"
        );
    }
}

#[test]
fn the_content_decides_the_format_and_others_are_named() {
    let png = oriented_png(1, true);
    assert_eq!(gray("really-a-png.jpg", &png).width(), 3);
    for (bytes, expected) in [
        (&b"RIFF\x10\0\0\0WEBPVP8 "[..], "WebP"),
        (b"GIF89a\x01\0\x01\0", "Gif"),
        (b"just text", "no PNG, JPEG or TIFF"),
    ] {
        let error = decoded("a.png", bytes).unwrap_err();
        assert!(
            error.contains(expected) && error.contains("a.png"),
            "{error}"
        );
    }
}

#[test]
fn huge_sizes_are_rejected_before_memory_is_allocated() {
    let mut png = oriented_png(1, true);
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
    let tiff = tiff(&[tiff_tags((60_000, 60_000), 8, 1)], &[0; 16]);
    let mut jpeg = SampleJpeg::gray(16, 8).encode();
    let frame = jpeg.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xea, 0x60, 0xea, 0x60]);
    for (name, bytes) in [("a.png", png), ("a.tif", tiff), ("a.jpg", jpeg)] {
        let counted = allocation_counter::measure(|| {
            let error = decoded(name, &bytes).unwrap_err();
            assert!(
                error.contains("60000x60000") && error.contains(name),
                "{error}"
            );
        });
        assert!(
            counted.bytes_max < 1 << 20,
            "{name}: {} bytes",
            counted.bytes_max
        );
    }
}

/// A fixed bug: images with components in separate scans, or with a luma of less resolution than the color, became stripes.
#[test]
fn a_jpeg_of_every_sampling_is_decoded_right_or_refused() {
    let factors = || (1..=4).flat_map(|h| (1..=4).map(move |v| (h, v)));
    let colors = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (1, 4)];
    let (mut read, mut refused) = (Vec::new(), 0);
    for luma in factors() {
        for blue in colors {
            for red in [(1, 1), blue] {
                for is_interleaved in [true, false] {
                    if !is_interleaved && luma.1 > 1 {
                        continue;
                    }
                    let sample = SampleJpeg {
                        sampling: vec![luma, blue, red],
                        is_interleaved,
                        ..SampleJpeg::color(24, 16, luma)
                    };
                    let image = match decoded("a.jpg", &sample.encode()) {
                        Ok(image) => image.to_luma8(),
                        Err(error) => {
                            let is_named = error.contains("this form of JPEG");
                            let is_refused = error.contains("cannot be decoded");
                            assert!(is_named || is_refused, "{error}");
                            refused += 1;
                            continue;
                        }
                    };
                    read.push((luma, blue, red, is_interleaved));
                    for (x, y, level) in image.enumerate_pixels() {
                        let expected = SampleJpeg::level(x, y);
                        assert!(
                            level.0[0].abs_diff(expected) < 14,
                            "{x} {y}: {level:?}, expected {expected}, {sample:?}"
                        );
                    }
                }
            }
        }
    }
    for usual in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] {
        assert!(read.contains(&(usual, (1, 1), (1, 1), true)), "{usual:?}");
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_jpeg_after_the_header_of_a_camera_is_read() {
    let jpeg = SampleJpeg::gray(16, 8).encode();
    let expected = gray("a.jpg", &jpeg);
    let framed = [b"\0\0HDR \xff\0".as_slice(), &jpeg].concat();
    assert_eq!(gray("a.jpg", &framed), expected);
    let error = decoded("a.jpg", &framed[..60]).unwrap_err();
    assert!(error.contains("JPEG is incomplete"), "{error}");
    let far = [vec![0; 2000], jpeg].concat();
    let error = decoded("a.jpg", &far).unwrap_err();
    assert!(error.contains("no PNG, JPEG or TIFF"), "{error}");
}

/// A fixed bug: the decoder ignores the order of bits, so the image became noise.
#[test]
fn a_tiff_with_reversed_bits_is_refused() {
    let mut tags = tiff_tags((3, 2), 8, 1);
    tags.push((266, 3, vec![1]));
    let levels = [1, 2, 3, 4, 5, 6];
    assert_eq!(
        gray("a.tif", &tiff(&[tags.clone()], &levels)).as_raw(),
        &levels
    );
    tags.last_mut().unwrap().2[0] = 2;
    let error = decoded("a.tif", &tiff(&[tags], &levels)).unwrap_err();
    assert!(
        error.contains("FillOrder 2") && error.contains("Convert"),
        "{error}"
    );
}

#[test]
fn a_bigtiff_is_read() {
    let entries: [(u16, u64); 9] = [
        (256, 3),
        (257, 2),
        (258, 8),
        (259, 1),
        (262, 1),
        (273, 16),
        (277, 1),
        (278, 2),
        (279, 6),
    ];
    let mut bytes = b"II\x2b\0\x08\0\0\0\x18\0\0\0\0\0\0\0\x01\x02\x03\x04\x05\x06\0\0".to_vec();
    bytes.extend((entries.len() as u64).to_le_bytes());
    for (number, value) in entries {
        bytes.extend(number.to_le_bytes());
        bytes.extend(4u16.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend([0; 8]);
    assert_eq!(gray("a.tif", &bytes).as_raw(), &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn an_incomplete_jpeg_or_png_is_an_error() {
    let jpeg = SampleJpeg::color(64, 48, (2, 2)).encode();
    let levels: Vec<u8> = (0..64 * 48u32).map(|i| ((i * i) >> 4) as u8).collect();
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    encoder
        .write_image(&levels, 64, 48, image::ExtendedColorType::L8)
        .unwrap();
    for (name, bytes) in [("a.jpg", jpeg), ("a.png", png)] {
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
            0 => ("a.png", oriented_png(6, true)),
            1 => ("a.jpg", SampleJpeg::color(24, 16, (2, 1)).encode()),
            _ => ("a.tif", tiff(&[tiff_tags((3, 2), 16, 1)], &[9; 12])),
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
