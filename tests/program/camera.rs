//! Tests of every kind of source that is not a live camera, with valid and with damaged data.

use shoal_testing::assert_message;
use std::path::Path;

use image::{ColorType, DynamicImage, GrayImage, ImageBuffer, Luma as Gray, RgbImage};
use shoal::camera::{CameraError, Frame, Luma, Source, SourceSpec};

/// Returns all frames of a source, its warnings, and the error with which it ended.
fn play(source: &str) -> (Vec<Frame>, Vec<String>, Option<CameraError>) {
    let mut frames = Vec::new();
    let mut source = match SourceSpec::parse(source).and_then(|s| Source::open(&s)) {
        Ok(source) => source,
        Err(error) => return (frames, Vec::new(), Some(error)),
    };
    let mut frame = Frame::default();
    let error = loop {
        match source.read(&mut frame) {
            Ok(true) => frames.push(frame.clone()),
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    let warnings = std::iter::from_fn(|| source.take_warning()).collect();
    (frames, warnings, error)
}

fn error_of(source: &str) -> String {
    let (_, _, error) = play(source);
    error
        .unwrap_or_else(|| panic!("{source} gave no error"))
        .to_string()
}

fn y4m(frames: u8) -> Vec<u8> {
    let mut stream = b"YUV4MPEG2 W4 H2 F10:1 Ip A1:1 Cmono\n".to_vec();
    for i in 0..frames {
        stream.extend_from_slice(b"FRAME\n");
        stream.extend_from_slice(&[i; 8]);
    }
    stream
}

fn file_source(path: &Path) -> String {
    format!("file:{}", path.display())
}

#[test]
fn a_y4m_file_gives_its_frames_and_timestamps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.y4m");
    std::fs::write(&path, y4m(3)).unwrap();
    let (frames, warnings, error) = play(&file_source(&path));
    assert!(error.is_none() && warnings.is_empty());
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[2].sequence, 2);
    assert!((frames[2].time_secs - 0.2).abs() < 1e-12);
    assert_eq!(frames[2].luma, Luma::U8(vec![2; 8]));
    let (frames, ..) = play(&format!("{}?fps=50&size=4x2", file_source(&path)));
    assert!((frames[2].time_secs - 0.04).abs() < 1e-12);
    assert!(error_of(&format!("{}?size=8x8", file_source(&path))).contains("expected 8x8"));
}

#[test]
fn an_incomplete_y4m_file_gives_its_complete_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.y4m");
    let complete = y4m(3);
    std::fs::write(&path, &complete[..complete.len() - 3]).unwrap();
    let (frames, warnings, error) = play(&file_source(&path));
    assert!(error.is_none());
    assert_eq!(frames.len(), 2);
    assert_message(&warnings[0], &["cut.y4m", "2 complete frames"]);
}

#[test]
fn errors_name_the_file_and_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.y4m");
    assert!(error_of(&file_source(&path)).contains("x.y4m"));
    for (content, expected) in [
        (b"".as_slice(), "empty"),
        (b"\x00\x01garbage\xff", "expected 'YUV4MPEG2"),
        (
            b"YUV4MPEG2 W999999999 H999999999 F30:1\nFRAME\n",
            "not accepted",
        ),
        (
            b"YUV4MPEG2 W4 H2\nFRAME\n01234567rubbish rubbish\n",
            "expected 'FRAME'",
        ),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = error_of(&file_source(&path));
        assert_message(&error, &[expected, "x.y4m"]);
    }
}

#[test]
fn a_folder_of_images_gives_one_frame_per_image() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    GrayImage::from_pixel(3, 2, Gray([10]))
        .save(at("f1.png"))
        .unwrap();
    GrayImage::from_pixel(3, 2, Gray([20]))
        .save(at("f2.png"))
        .unwrap();
    RgbImage::from_pixel(3, 2, image::Rgb([30, 30, 30]))
        .save(at("f10.tiff"))
        .unwrap();
    RgbImage::from_pixel(3, 2, image::Rgb([40, 40, 40]))
        .save(at("f11.jpg"))
        .unwrap();
    let deep: ImageBuffer<Gray<u16>, Vec<u16>> = ImageBuffer::from_pixel(3, 2, Gray([50_000]));
    DynamicImage::ImageLuma16(deep).save(at("f12.png")).unwrap();
    std::fs::write(at("notes.txt"), "not an image").unwrap();
    let (frames, _, error) = play(&format!("{}?fps=5", file_source(folder.path())));
    assert!(error.is_none(), "{error:?}");
    let eight: Vec<u8> = frames
        .iter()
        .map(|f| {
            let mut levels = Vec::new();
            f.luma.write_eight_bit(&mut levels);
            levels[0]
        })
        .collect();
    assert_eq!(eight[..3], [10, 20, 30]);
    assert!(eight[3].abs_diff(40) <= 1, "JPEG is lossy");
    assert_eq!(eight[4], (50_000u32 >> 8) as u8);
    assert!(matches!(frames[4].luma, Luma::U16 { bits: 16, .. }));
    assert!((frames[4].time_secs - 0.8).abs() < 1e-12);
}

#[test]
fn errors_in_a_folder_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(error_of(&file_source(folder.path())).contains("contains no image"));
    GrayImage::new(3, 2).save(at("1.png")).unwrap();
    GrayImage::new(4, 2).save(at("2.png")).unwrap();
    let error = error_of(&file_source(folder.path()));
    assert_message(&error, &["2.png", "4x2", "3x2"]);
    std::fs::write(at("2.png"), b"\x89PNG\r\n\x1a\nrubbish").unwrap();
    let error = error_of(&file_source(folder.path()));
    assert_message(&error, &["2.png", "frame 1"]);
    // An image with a huge size in its header is rejected before memory is allocated for it.
    let mut huge = Vec::new();
    image::ImageEncoder::write_image(
        image::codecs::png::PngEncoder::new(&mut huge),
        &[0; 6],
        3,
        2,
        ColorType::L8.into(),
    )
    .unwrap();
    huge[16..24].copy_from_slice(&[0x00, 0xff, 0xff, 0xff, 0x00, 0xff, 0xff, 0xff]);
    std::fs::write(at("1.png"), huge).unwrap();
    assert!(error_of(&file_source(folder.path())).contains("1.png"));
}

#[test]
fn a_child_program_gives_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("with space.y4m");
    std::fs::write(&path, y4m(4)).unwrap();
    let (frames, _, error) = play(&format!("command:cat '{}'", path.display()));
    assert!(error.is_none());
    assert_eq!(frames.len(), 4);
}

#[test]
fn the_error_of_a_child_program_contains_its_stderr() {
    assert!(error_of("command:no-such-program-here").contains("no-such-program-here"));
    let error = error_of("command:sh -c 'echo the lens cap is on >&2; exit 3'");
    assert_message(&error, &["exit status: 3", "the lens cap is on"]);
    let error = error_of("command:echo hello");
    assert!(
        error.contains("starts with 'hello'") || error.contains("ends within"),
        "{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.y4m");
    std::fs::write(&path, y4m(2)).unwrap();
    let command = format!(
        "command:sh -c 'cat {}; echo lost it >&2; exit 1'",
        path.display()
    );
    let (frames, _, error) = play(&command);
    assert_eq!(frames.len(), 2);
    let error = error.unwrap().to_string();
    assert_message(&error, &["after 2 frames", "lost it"]);
}

#[test]
fn dropping_a_source_ends_its_child_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.y4m");
    std::fs::write(&path, y4m(1)).unwrap();
    let pid = folder.path().join("pid");
    let command = format!(
        "command:sh -c 'echo $$ > {}; cat {}; exec sleep 600'",
        pid.display(),
        path.display()
    );
    let spec = SourceSpec::parse(&command).unwrap();
    let mut source = Source::open(&spec).unwrap();
    let mut frame = Frame::default();
    assert!(source.read(&mut frame).unwrap());
    let pid = std::fs::read_to_string(pid).unwrap();
    let process = Path::new("/proc").join(pid.trim());
    if !Path::new("/proc/self").exists() {
        eprintln!("SKIPPED: this system has no /proc, so processes cannot be checked");
        return;
    }
    assert!(process.exists());
    drop(source);
    assert!(!process.exists(), "the child still runs");
}

#[test]
fn the_same_seed_gives_the_same_synthetic_frames() {
    let first_frames = |text: &str| -> Vec<Frame> {
        let mut source = Source::open(&SourceSpec::parse(text).unwrap()).unwrap();
        let mut frame = Frame::default();
        (0..20)
            .map(|_| {
                assert!(source.read(&mut frame).unwrap());
                frame.clone()
            })
            .collect()
    };
    let a = first_frames("synthetic:4?fps=5&size=80x60");
    assert_eq!(a, first_frames("synthetic:4?fps=5&size=80x60"));
    assert_ne!(a, first_frames("synthetic:5?fps=5&size=80x60"));
    assert_eq!((a[0].width_px, a[0].height_px), (80, 60));
    assert!((a[10].time_secs - 2.0).abs() < 1e-12);
}

#[test]
fn a_steady_recording_allocates_nothing_per_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.y4m");
    std::fs::write(&path, y4m(100)).unwrap();
    let spec = SourceSpec::parse(&file_source(&path)).unwrap();
    let mut source = Source::open(&spec).unwrap();
    let mut frame = Frame::default();
    assert!(source.read(&mut frame).unwrap());
    let allocated = allocation_counter::measure(|| {
        for _ in 0..50 {
            source.read(&mut frame).unwrap();
        }
    });
    assert_eq!(allocated.count_total, 0);
}
