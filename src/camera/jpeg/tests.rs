//! Images as cameras send them, whole and damaged.

use proptest::prelude::*;

use super::sample_encoder::SampleJpeg;
use super::*;

fn completed(bytes: &[u8]) -> Result<Vec<u8>, JpegError> {
    let mut to = vec![1, 2, 3];
    complete_jpeg(bytes, &mut to).map(|_| to)
}

fn standard_form(sample: &SampleJpeg) -> Vec<u8> {
    let standard = SampleJpeg {
        has_huffman_tables: true,
        has_end_marker: true,
        first_segments: Vec::new(),
        ..sample.clone()
    };
    standard.encode()
}

#[test]
fn a_standard_image_is_copied_unchanged() {
    for luma in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)] {
        for restart_interval in [0, 1, 3] {
            for is_interleaved in [true, false] {
                let sample = SampleJpeg {
                    restart_interval,
                    is_interleaved,
                    ..SampleJpeg::color(51, 37, luma)
                };
                let bytes = sample.encode();
                assert_eq!(completed(&bytes).as_ref(), Ok(&bytes), "{sample:?}");
            }
        }
    }
    let gray = SampleJpeg::gray(51, 37).encode();
    assert_eq!(completed(&gray), Ok(gray));
}

#[test]
fn an_image_without_huffman_tables_gets_the_standard_ones() {
    let sample = SampleJpeg {
        has_huffman_tables: false,
        ..SampleJpeg::color(40, 24, (2, 1))
    };
    let whole = completed(&sample.encode()).unwrap();
    let tables = whole.windows(2).filter(|w| *w == [0xff, 0xc4]).count();
    assert_eq!(tables, 4);
    assert_eq!(completed(&whole), Ok(whole.clone()));
}

#[test]
fn segments_of_applications_are_removed() {
    let mut segments = Vec::new();
    write_segment(0xe0, b"AVI1\0\0\0\0\0\0\0\0\0\0", &mut segments);
    write_segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0", &mut segments);
    write_segment(0xe4, &[0xff, 0xd9, 0xff, 0xda], &mut segments);
    write_segment(0xef, b"", &mut segments);
    write_segment(0xfe, b"a comment", &mut segments);
    segments.extend([0xff, 0xff, 0xff]);
    let sample = SampleJpeg {
        first_segments: segments,
        ..SampleJpeg::color(40, 24, (2, 2))
    };
    assert_eq!(completed(&sample.encode()), Ok(standard_form(&sample)));
}

#[test]
fn what_follows_the_image_is_removed() {
    let junk: Vec<u8> = (0..3000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let newer = SampleJpeg::gray(16, 8).encode();
    let with_end = SampleJpeg::color(40, 24, (2, 1));
    let without_end = SampleJpeg {
        has_end_marker: false,
        ..with_end.clone()
    };
    let rests: [&[u8]; 8] = [
        &[],
        &[0],
        &[0; 700],
        &[7; 700],
        &[0xff; 5],
        &junk,
        &newer,
        &[0xff, 0xd9],
    ];
    for (i, rest) in rests.iter().enumerate() {
        for sample in [&with_end, &without_end] {
            let bytes = [&sample.encode(), *rest].concat();
            let whole = completed(&bytes);
            assert_eq!(whole, Ok(standard_form(sample)), "{i} {sample:?}");
        }
    }
    let before = [b"\0\0junk".as_slice(), &with_end.encode()].concat();
    assert_eq!(completed(&before), Ok(standard_form(&with_end)));
}

#[test]
fn a_part_of_an_image_is_never_accepted() {
    for sample in [
        SampleJpeg::gray(32, 24),
        SampleJpeg::color(32, 24, (2, 1)),
        SampleJpeg {
            restart_interval: 2,
            ..SampleJpeg::color(32, 24, (1, 1))
        },
    ] {
        let bytes = sample.encode();
        for end in 0..bytes.len() - 3 {
            // The last byte of the data may contain padding bits only, and two bytes of padding can complete the last block.
            let is_last_block = end > bytes.len() - 40;
            let cut = &bytes[..end];
            for rest in [&[][..], &[0; 40], &[0; 4000], &[0x55; 60], &[0xff, 0xd9]] {
                let is_padding = rest.len() > 2;
                let bytes = [cut, rest].concat();
                let is_refused = completed(&bytes).is_err();
                assert!(
                    is_refused || (is_last_block && is_padding),
                    "{end} {rest:?} {sample:?}"
                );
            }
        }
    }
}

#[test]
fn lost_packets_are_detected() {
    let bytes = SampleJpeg::color(64, 48, (2, 1)).encode();
    let data = bytes.len() - 900;
    for lost in [16, 64, 256] {
        let cut = [&bytes[..data], &bytes[data + lost..]].concat();
        assert!(completed(&cut).is_err(), "{lost}");
        let mut zeroed = bytes.clone();
        zeroed[data..data + lost].fill(0);
        assert!(lost < 64 || completed(&zeroed).is_err(), "{lost} zeros");
    }
}

#[test]
fn restart_markers_must_be_in_order() {
    let sample = SampleJpeg {
        restart_interval: 2,
        ..SampleJpeg::gray(64, 48)
    };
    let bytes = sample.encode();
    let second = bytes.windows(2).position(|w| w == [0xff, 0xd1]).unwrap();
    let mut swapped = bytes.clone();
    swapped[second + 1] = 0xd3;
    let error = completed(&swapped).unwrap_err().to_string();
    assert!(error.contains("restart marker 1 is missing"), "{error}");
    let mut removed = bytes;
    removed.drain(second..second + 2);
    assert!(completed(&removed).is_err());
}

#[test]
fn unsupported_forms_are_named() {
    let bytes = SampleJpeg::gray(16, 8).encode();
    let frame = bytes.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[frame + at..frame + at + to.len()].copy_from_slice(to);
        completed(&bytes).unwrap_err()
    };
    for (at, to, expected) in [
        (1, &[0xc3][..], "lossless"),
        (1, &[0xc9], "arithmetic"),
        (1, &[0xc5], "hierarchical"),
        (4, &[12], "12 bits per sample"),
        (5, &[0, 0], "height"),
    ] {
        let error = changed(at, to);
        assert!(matches!(error, JpegError::Unsupported(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let claim = changed(5, &[0xea, 0x60, 0xea, 0x60]);
    let (width_px, height_px) = (60_000, 60_000);
    assert_eq!(
        claim,
        JpegError::TooLarge {
            width_px,
            height_px
        }
    );
}

#[test]
fn a_gray_image_with_sampling_factors_has_no_extra_blocks() {
    let sample = SampleJpeg {
        sampling: vec![(2, 2)],
        ..SampleJpeg::gray(24, 24)
    };
    let bytes = sample.encode();
    assert_eq!(completed(&bytes), Ok(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_images_never_panic_and_are_whole_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
        restart_interval in 0u16..4,
    ) {
        let sample = SampleJpeg { restart_interval, ..SampleJpeg::color(16, 16, (2, 1)) };
        let mut bytes = sample.encode();
        for (at, value) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let mut to = Vec::new();
        if let Ok(info) = complete_jpeg(&bytes, &mut to) {
            prop_assert!(info.width_px > 0 && info.height_px > 0);
            prop_assert!(to.ends_with(&[0xff, 0xd9]));
            let mut again = Vec::new();
            prop_assert_eq!(complete_jpeg(&to, &mut again), Ok(info));
            prop_assert_eq!(again, to);
        }
    }
}
