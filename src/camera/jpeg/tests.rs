//! Images as cameras send them, whole and damaged.

use proptest::prelude::*;

use super::samples::{self, COLOR, GRAY, RESTART, changed, marker, without};
use super::*;

/// Marker of the first segment of an application.
const APP0: u8 = 0xe0;

fn completed(bytes: &[u8]) -> Result<Vec<u8>, JpegError> {
    let mut to = vec![1, 2, 3];
    let size_px = complete_jpeg(bytes, &mut to)?;
    assert_eq!(size_px, samples::SIZE_PX);
    Ok(to)
}

#[test]
fn a_standard_image_is_copied_without_the_segments_of_applications() {
    for sample in samples::ALL {
        let standard = without(sample, APP0);
        assert_eq!(completed(sample).as_ref(), Ok(&standard));
        assert_eq!(completed(&standard).as_ref(), Ok(&standard));
        let mut segments = sample[..2].to_vec();
        write_segment(0xe0, b"AVI1\0\0\0\0\0\0\0\0\0\0", &mut segments);
        write_segment(0xe4, &[0xff, 0xd9, 0xff, 0xda], &mut segments);
        write_segment(0xef, b"", &mut segments);
        write_segment(0xfe, b"a comment", &mut segments);
        segments.extend([0xff, 0xff, 0xff]);
        segments.extend(&sample[2..]);
        assert_eq!(completed(&segments), Ok(standard));
    }
}

#[test]
fn an_image_without_huffman_tables_gets_the_standard_ones() {
    let whole = completed(&without(COLOR, 0xc4)).unwrap();
    let tables = whole.windows(2).filter(|w| *w == [0xff, 0xc4]).count();
    assert_eq!(tables, 4);
    assert_eq!(without(&whole, 0xc4), without(&without(COLOR, 0xc4), APP0));
    assert_eq!(completed(&whole), Ok(whole));
}

#[test]
fn what_follows_the_image_is_removed() {
    let junk: Vec<u8> = (0..3000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let rests: [&[u8]; 8] = [
        &[],
        &[0],
        &[0; 700],
        &[7; 700],
        &[0xff; 5],
        &junk,
        GRAY,
        &[0xff, 0xd9],
    ];
    let standard = without(COLOR, APP0);
    for (i, rest) in rests.iter().enumerate() {
        for sample in [COLOR, &COLOR[..COLOR.len() - 2]] {
            let bytes = [sample, *rest].concat();
            assert_eq!(completed(&bytes).as_ref(), Ok(&standard), "{i}");
        }
    }
    let before = [b"\0\0junk".as_slice(), COLOR].concat();
    assert_eq!(completed(&before), Ok(standard));
}

#[test]
fn a_part_of_an_image_is_never_accepted() {
    for sample in [GRAY, COLOR, RESTART] {
        for end in 0..sample.len() - 3 {
            // The last byte of the data may contain padding bits only, and two bytes of padding can complete the last block.
            let is_last_block = end > sample.len() - 40;
            let cut = &sample[..end];
            for rest in [&[][..], &[0; 40], &[0; 4000], &[0x55; 60], &[0xff, 0xd9]] {
                let is_padding = rest.len() > 2;
                let bytes = [cut, rest].concat();
                let is_refused = completed(&bytes).is_err();
                assert!(
                    is_refused || (is_last_block && is_padding),
                    "{end} {rest:?}"
                );
            }
        }
    }
}

#[test]
fn lost_packets_are_detected() {
    let data = marker(COLOR, 0xda) + 30;
    for lost in [16, 64, 256] {
        let cut = [&COLOR[..data], &COLOR[data + lost..]].concat();
        assert!(completed(&cut).is_err(), "{lost}");
        let mut zeroed = COLOR.to_vec();
        zeroed[data..data + lost].fill(0);
        assert!(lost < 64 || completed(&zeroed).is_err(), "{lost} zeros");
    }
}

#[test]
fn restart_markers_must_be_in_order() {
    let second = marker(RESTART, 0xd1);
    let mut swapped = RESTART.to_vec();
    swapped[second + 1] = 0xd3;
    let error = completed(&swapped).unwrap_err().to_string();
    assert!(error.contains("restart marker 1 is missing"), "{error}");
    let mut removed = RESTART.to_vec();
    removed.drain(second..second + 2);
    assert!(completed(&removed).is_err());
}

#[test]
fn unsupported_forms_are_named() {
    let with_frame_marker = |kind: u8| {
        let mut bytes = COLOR.to_vec();
        bytes[marker(COLOR, 0xc0) + 1] = kind;
        bytes
    };
    let scan = marker(COLOR, 0xda);
    let one_component = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0];
    let separate = [&COLOR[..scan], &one_component, &COLOR[scan + 14..]].concat();
    for (bytes, expected) in [
        (with_frame_marker(0xc2), "progressive"),
        (with_frame_marker(0xc3), "lossless"),
        (with_frame_marker(0xc9), "arithmetic"),
        (with_frame_marker(0xc5), "hierarchical"),
        (changed(COLOR, 0xc0, 0, &[12]), "12 bits per sample"),
        (changed(COLOR, 0xc0, 1, &[0, 0]), "height"),
        (changed(COLOR, 0xc0, 7, &[0x11, 0, 2, 0x21]), "more densely"),
        (separate, "separate scans"),
    ] {
        let error = completed(&bytes).unwrap_err();
        assert!(matches!(error, JpegError::Unsupported(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let claim = completed(&changed(COLOR, 0xc0, 1, &[0xea, 0x60, 0xea, 0x60]));
    let (width_px, height_px) = (60_000, 60_000);
    assert_eq!(
        claim,
        Err(JpegError::TooLarge {
            width_px,
            height_px
        })
    );
}

/// A fixed bug: a gray image whose component has sampling factors, which have no effect, was refused by the decoder.
#[test]
fn a_gray_image_with_sampling_factors_has_no_extra_blocks() {
    let standard = completed(GRAY);
    for factors in [0x12, 0x21, 0x22, 0x44] {
        assert_eq!(
            completed(&changed(GRAY, 0xc0, 7, &[factors])),
            standard,
            "{factors:#x}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_images_never_panic_and_are_whole_or_refused(
        sample in 0..samples::ALL.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = samples::ALL[sample].to_vec();
        for (at, value) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let mut to = Vec::new();
        if let Ok(size_px) = complete_jpeg(&bytes, &mut to) {
            prop_assert!(size_px.0 > 0 && size_px.1 > 0);
            prop_assert!(to.ends_with(&[0xff, 0xd9]));
            let mut again = Vec::new();
            prop_assert_eq!(complete_jpeg(&to, &mut again), Ok(size_px));
            prop_assert_eq!(again, to);
        }
    }
}
