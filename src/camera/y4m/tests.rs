//! Streams of every layout, whole and damaged.

use proptest::prelude::*;

use super::*;

fn frames(stream: &[u8]) -> Result<(Vec<Frame>, Option<String>), CameraError> {
    let mut reader = Y4mReader::open(stream, "test".into())?;
    let (mut all, mut frame) = (Vec::new(), Frame::default());
    while reader.read(&mut frame)? {
        all.push(frame.clone());
    }
    Ok((all, reader.take_warning()))
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn every_layout_gives_its_luma() {
    for (color, behind) in [
        ("Cmono", 0),
        ("C420jpeg", 4),
        ("C420paldv XYSCSS=420PALDV", 4),
        ("C422", 8),
        ("C411", 4),
        ("C440", 6),
        ("C444", 12),
        ("C444alpha", 18),
        ("", 4),
    ] {
        let header = format!("YUV4MPEG2 W3 H2 F25:1 Ip A1:1 {color}\n");
        let chroma = vec![9; behind];
        let stream = joined(&[
            header.as_bytes(),
            b"FRAME\n",
            &[1, 2, 3, 4, 5, 6],
            &chroma,
            b"FRAME Ip Xk=1\n",
            &[6, 5, 4, 3, 2, 1],
            &chroma,
        ]);
        let (all, warning) = frames(&stream).unwrap();
        assert_eq!(all.len(), 2, "{color}");
        assert_eq!(all[1].luma, Luma::U8(vec![6, 5, 4, 3, 2, 1]));
        assert_eq!(warning, None);
    }
}

#[test]
fn sixteen_bits_are_little_endian() {
    let stream = joined(&[b"YUV4MPEG2 W2 H1 F1:1 Cmono10\nFRAME\n", &[1, 2, 255, 3]]);
    let (all, _) = frames(&stream).unwrap();
    let levels = vec![513, 1023];
    assert_eq!(all[0].luma, Luma::U16 { bits: 10, levels });
}

#[test]
fn an_incomplete_last_frame_is_discarded_with_a_warning() {
    for cut in 1..=9 {
        let stream = joined(&[
            b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n",
            &[1; 4],
            b"FRAME\n",
            &[2; 4],
        ]);
        let (all, warning) = frames(&stream[..stream.len() - cut]).unwrap();
        assert_eq!(all.len(), 1, "{cut}");
        let warning = warning.unwrap();
        assert!(warning.contains("1 complete frames"), "{warning}");
    }
}

#[test]
fn timestamps_are_read_if_present() {
    let stream = b"YUV4MPEG2 W1 H1 Cmono\nFRAME XTS=0.1 Ip\naFRAME\nbFRAME XTS=1e3\nc";
    let mut reader = Y4mReader::open(stream.as_slice(), "t".into()).unwrap();
    let (mut frame, mut stamps) = (Frame::default(), Vec::new());
    while reader.read(&mut frame).unwrap() {
        stamps.push(reader.timestamp_secs());
    }
    assert_eq!(stamps, [Some(0.1), None, Some(1000.0)]);
    for (bad, expected) in [
        ("XTS=nan", "not a number of seconds"),
        ("XTS=", "not a number of seconds"),
        ("XTS=-1", "not a number of seconds"),
        ("XTS=1e300", "not a number of seconds"),
        ("XTS=0.5", "is earlier than"),
    ] {
        let stream = format!("YUV4MPEG2 W1 H1 Cmono\nFRAME XTS=2\naFRAME {bad}\nb");
        let error = frames(stream.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{bad}: {error}");
    }
}

#[test]
fn hostile_streams_are_rejected_with_a_reason() {
    let long = [b"YUV4MPEG2 ".as_slice(), &[b'X'; 5000]].concat();
    let larger = [b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n".as_slice(), &[200; 9000]].concat();
    let cases: [(&[u8], &str); 20] = [
        // A fixed bug: frames that are larger than the header states had a header that was too long.
        (&larger, "not 2x2 px"),
        (b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n1234123", "not 2x2 px"),
        (b"YUV4MPEG2 W2 H2 C\x1b[31m\n", "'C\\u{1b}[31m'"),
        (b"", "empty"),
        (b"RIFFxxxxAVI LIST", "starts with 'RIFFxxxxA'"),
        (b"YUV4MPEG2 W2", "ends within"),
        (b"YUV4MPEG2 H2\n", "no width"),
        (b"YUV4MPEG2 W999999999 H999999999 F1:1\n", "not accepted"),
        (b"YUV4MPEG2 W99999999999999 H2\n", "not a size"),
        (b"YUV4MPEG2 W-2 H2\n", "not a size"),
        (b"YUV4MPEG2 W2 H2 Cxyz\n", "unknown"),
        (b"YUV4MPEG2 W2 H2 F1\n", "not a frame rate"),
        (
            b"YUV4MPEG2 W2 H2 Cmono\nFRAME\n1234FRAMX\n",
            "expected 'FRAME'",
        ),
        (&long, "longer than"),
        (b"YUV4MPEG2 W60000 H60000\nFRAME\n", "not accepted"),
        (b"YUV4MPEG2 W0 H2\n", "not accepted"),
        (b"YUV4MPEG2 W+2 H2\n", "not a size"),
        (b"YUV4MPEG2 W2 H2 Cmono\r\nFRAME\r\n1234", "binary mode"),
        (b"YUV4MPEG3 W2 H2\n", "expected 'YUV4MPEG2 '"),
        (b"YUV4MPEG2 W2 H2 Cmono\nframe\n1234", "expected 'FRAME'"),
    ];
    for (stream, expected) in cases {
        let error = frames(stream).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn parameters_of_frames_are_skipped() {
    for parameters in [
        "",
        " ",
        " Ipp",
        " Xa=1 Xb",
        " I1p XYZ=\u{fffd} ",
        " XTS=0.5 Ip XTS=x",
    ] {
        let stream = format!("YUV4MPEG2 W2 H1 Cmono\nFRAME{parameters}\nab");
        let (all, warning) = frames(stream.as_bytes()).unwrap();
        assert_eq!((all.len(), warning), (1, None), "{parameters:?}");
        assert_eq!(all[0].luma, Luma::U8(b"ab".to_vec()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_streams_never_panic_and_give_whole_frames(
        is_deep in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let color = if is_deep { "420p10" } else { "422" };
        let mut stream = format!("YUV4MPEG2 W4 H2 F25:1 Ip C{color}\n").into_bytes();
        for i in 0..3u8 {
            stream.extend(format!("FRAME XTS={i} Ip\n").as_bytes());
            stream.extend([i; 24][..if is_deep { 24 } else { 16 }].iter());
        }
        for (at, value) in &changes {
            let at = at.index(stream.len());
            stream[at] = *value;
        }
        if is_cut {
            stream.truncate(cut.index(stream.len()));
        }
        match frames(&stream) {
            Ok((all, _)) => {
                for frame in all {
                    let pixels = frame.width_px as usize * frame.height_px as usize;
                    prop_assert!(pixels > 0 && frame.luma.len() == pixels);
                }
            }
            Err(error) => prop_assert!(error.to_string().contains("test"), "{}", error),
        }
    }
}

#[test]
fn an_undefined_frame_rate_is_none() {
    let reader = Y4mReader::open(b"YUV4MPEG2 W2 H2 F0:0\n".as_slice(), "t".into()).unwrap();
    assert_eq!(reader.header().fps, None);
    let reader = Y4mReader::open(b"YUV4MPEG2 W2 H2 F30000:1001\n".as_slice(), "t".into()).unwrap();
    assert!((reader.header().fps.unwrap() - 29.97).abs() < 0.001);
}
