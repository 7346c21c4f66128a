use super::*;
use crate::calibration::sample::view;

const WIDTH_PX: usize = 640;
const FPS: f64 = 30.0;
/// Radius of the spots, in pixels.
const RADIUS_PX: f64 = 8.0;

/// Touch procedure with a simulated camera that sees round spots.
struct Room {
    touch: TouchProcedure,
    time_secs: f64,
    /// Spots that the simulated camera sees.
    spots: Vec<DarkSpot>,
    measured: Vec<usize>,
}

fn options(grid: (u8, u8), object: TargetObject) -> TouchOptions {
    TouchOptions {
        grid,
        object,
        setup: CalibrationSetup {
            frame_px: (640, 480),
            surface_m: (4.0, 3.0),
            lamp_m: None,
            camera_m: None,
            date: "2026-11-21T12:00:00Z".into(),
        },
        limits: CalibrationParams::default(),
    }
}

fn spot(foot_px: DVec2) -> DarkSpot {
    DarkSpot {
        foot_px,
        pixels: 200,
        fault: None,
    }
}

impl Room {
    fn new(grid: (u8, u8)) -> Self {
        let mut room = Self {
            touch: TouchProcedure::new(options(grid, TargetObject::Disc)).unwrap(),
            time_secs: 100.0,
            spots: Vec::new(),
            measured: Vec::new(),
        };
        room.wait(LEARN_SECS + 0.1);
        room
    }

    fn wait(&mut self, secs: f64) {
        self.wait_in(secs, true);
    }

    fn wait_in(&mut self, secs: f64, is_steady: bool) {
        let until = self.time_secs + secs;
        while self.time_secs < until {
            self.time_secs += 1.0 / FPS;
            let mut dark = vec![false; WIDTH_PX * 480];
            for spot in &self.spots {
                let (x, y) = (spot.foot_px.x as usize, spot.foot_px.y as usize);
                let r = RADIUS_PX as usize;
                for row in y.saturating_sub(r)..(y + r).min(480) {
                    let row = row * WIDTH_PX;
                    dark[row + x.saturating_sub(r)..row + (x + r).min(WIDTH_PX)].fill(true);
                }
            }
            let event = self.touch.observe(&SpotFrame {
                time_secs: self.time_secs,
                is_steady,
                spots: &self.spots,
                mask: DarkMask {
                    dark: &dark,
                    width_px: WIDTH_PX,
                },
            });
            if let TouchEvent::Measured(number) = event {
                self.measured.push(number);
            }
        }
    }

    /// Returns the position of the shown cross in the frame, in pixels.
    fn cross_px(&self) -> DVec2 {
        let target = self.touch.shown_target().unwrap();
        view(-0.2, 0.05).camera_from_floor(target.floor_m)
    }

    /// Lifts the object, then puts it down with the offset `beside_px` from the cross.
    fn put(&mut self, beside_px: DVec2) {
        self.spots.clear();
        self.wait(0.5);
        self.spots.push(spot(self.cross_px() + beside_px));
        self.wait(1.5);
    }

    fn expect_instruction(&self, part: &str) {
        let text = self.touch.instruction();
        assert!(text.contains(part), "expected \"{part}\", got: {text}");
    }
}

#[test]
fn sixteen_targets_make_a_calibration() {
    let mut room = Room::new((4, 4));
    room.expect_instruction(
        "Cross 1 of 16: put the center of the disc on the cross and step away.",
    );
    for number in 1..=16 {
        assert_eq!(room.touch.shown_target().map(|p| p.number), Some(number));
        assert!(room.touch.fitted().is_none());
        room.put(DVec2::ZERO);
        assert_eq!(room.measured.last(), Some(&number));
    }
    assert_eq!(room.touch.shown_target(), None);
    room.expect_instruction("16 crosses are measured. The predicted floor error is ");
    room.expect_instruction("Accept the calibration");
    let (calibration, report) = room.touch.fitted().unwrap();
    assert!(report.errors.left_out_rms_m < 1e-6, "{report:?}");
    let found = calibration.floor_from_camera(640, 480).unwrap();
    let truth = view(-0.2, 0.05);
    for floor in [DVec2::ZERO, DVec2::new(-1.9, 1.4)] {
        let back = found.floor_from_camera(truth.camera_from_floor(floor));
        assert!(back.distance(floor) < 1e-4, "{floor} {back}");
    }
}

#[test]
fn a_moving_object_is_not_measured_until_it_is_still() {
    let mut room = Room::new((3, 3));
    let cross = room.cross_px();
    for step in 0..60 {
        room.spots = vec![spot(cross + DVec2::new(f64::from(step) * 2.0, 0.0))];
        room.wait(1.0 / FPS);
    }
    assert!(room.measured.is_empty());
    room.wait(0.4);
    room.expect_instruction("do not move the object for 0.");
    room.wait(1.2);
    assert_eq!(room.measured, [1]);
}

#[test]
fn a_spot_from_before_the_cross_is_not_measured() {
    let mut room = Room::new((3, 3));
    room.put(DVec2::ZERO);
    assert_eq!(room.measured, [1]);
    room.wait(30.0);
    assert_eq!(
        room.measured,
        [1],
        "the object on target 1 was used for target 2"
    );
    room.expect_instruction("First lift the object");
    // A person covers the object for 0.2 s and does not move the object.
    room.spots[0].pixels = 900;
    room.wait(0.2);
    room.spots[0].pixels = 200;
    room.wait(5.0);
    assert_eq!(room.measured, [1]);
    room.put(DVec2::ZERO);
    assert_eq!(room.measured, [1, 2]);
}

#[test]
fn a_position_that_was_cleared_counts_again() {
    let mut room = Room::new((3, 3));
    // The disc is on the first cross before the procedure starts.
    room.spots = vec![spot(room.cross_px())];
    room.wait(0.1);
    room.touch.repeat(None).unwrap();
    room.wait(3.0);
    assert!(room.measured.is_empty());
    room.put(DVec2::ZERO);
    assert_eq!(room.measured, [1]);
}

#[test]
fn an_object_on_the_new_cross_in_the_first_frame_after_a_stall_is_measured() {
    let mut room = Room::new((3, 3));
    room.spots = vec![spot(room.cross_px())];
    for _ in 0..60 {
        if room.measured.is_empty() {
            room.wait(1.0 / FPS);
        }
    }
    assert_eq!(room.measured, [1]);
    // The camera sends no frame while the object is carried to the next cross.
    room.time_secs += 2.0;
    room.spots = vec![spot(room.cross_px())];
    room.wait(1.5);
    assert_eq!(room.measured, [1, 2]);
}

#[test]
fn a_spot_from_before_the_cross_is_not_measured_if_the_cross_changed_in_unsteady_light() {
    let mut room = Room::new((3, 3));
    room.put(DVec2::ZERO);
    room.wait_in(0.2, false);
    room.touch.skip();
    room.wait_in(0.2, false);
    room.wait(5.0);
    assert_eq!(room.measured, [1]);
    room.expect_instruction("First lift the object");
}

#[test]
fn only_one_spot_may_be_still() {
    let mut room = Room::new((3, 3));
    let cross = room.cross_px();
    room.spots = vec![spot(cross), spot(cross + DVec2::new(200.0, 50.0))];
    room.wait(5.0);
    assert!(room.measured.is_empty());
    room.expect_instruction("2 dark spots are still, but only the one on the cross is allowed");
    room.spots.pop();
    room.wait(1.0);
    assert_eq!(room.measured, [1]);
}

#[test]
fn a_faulty_spot_is_not_measured_but_explained() {
    let mut room = Room::new((3, 3));
    let cross = room.cross_px();
    for (fault, part) in [
        (SpotFault::NotElliptic, "the dark spot is not a disc"),
        (
            SpotFault::CutOff,
            "the spot is cut off by the edge of the camera frame",
        ),
        (SpotFault::TooLarge, "the dark spot is too large"),
        (
            SpotFault::OneStripe,
            "cannot distinguish the pole from its shadow",
        ),
    ] {
        room.spots = vec![DarkSpot {
            fault: Some(fault),
            ..spot(cross)
        }];
        room.wait(2.0);
        room.expect_instruction(part);
        assert!(room.measured.is_empty());
    }
    // A person in the light has no effect, because the spot of this person has a fault.
    room.spots = vec![
        spot(cross),
        DarkSpot {
            fault: Some(SpotFault::NotElliptic),
            ..spot(cross + DVec2::splat(150.0))
        },
    ];
    room.wait(1.5);
    assert_eq!(room.measured, [1]);
}

#[test]
fn nothing_is_measured_while_the_floor_is_learned_or_the_light_changes() {
    let mut room = Room::new((3, 3));
    room.touch = TouchProcedure::new(options((3, 3), TargetObject::Disc)).unwrap();
    room.spots = vec![spot(room.cross_px())];
    room.wait(LEARN_SECS - 0.1);
    room.expect_instruction("the empty floor is being learned");
    room.put(DVec2::ZERO);
    assert_eq!(room.measured, [1]);
    room.spots = vec![spot(room.cross_px())];
    room.wait_in(3.0, false);
    room.expect_instruction("the light is changing");
    assert_eq!(room.measured, [1]);
}

#[test]
fn only_the_misplaced_target_is_repeated() {
    let mut room = Room::new((4, 4));
    for number in 1..=16 {
        let beside = if number == 4 {
            21.0
        } else {
            0.3 * f64::from(number % 3)
        };
        room.put(DVec2::new(beside, 0.0));
    }
    assert_eq!(room.touch.shown_target().map(|p| p.number), Some(4));
    assert!(room.touch.fitted().is_none());
    room.expect_instruction("cross 4 is ");
    room.expect_instruction("from its position according to the other 15 points");
    room.expect_instruction("Cross 4 of 16: ");
    room.put(DVec2::ZERO);
    assert_eq!(room.touch.shown_target(), None);
    assert!(
        room.touch.fitted().is_some(),
        "{}",
        room.touch.instruction()
    );
    assert_eq!(room.measured.len(), 17);
}

#[test]
fn back_skip_and_repeat() {
    let mut room = Room::new((3, 3));
    room.put(DVec2::ZERO);
    room.put(DVec2::new(40.0, 0.0));
    room.touch.previous();
    assert_eq!(room.touch.shown_target().map(|p| p.number), Some(2));
    assert_eq!(room.touch.measured_count(), 1);
    room.put(DVec2::ZERO);
    room.touch.skip();
    assert_eq!(room.touch.shown_target().map(|p| p.number), Some(4));
    for _ in 4..=9 {
        room.put(DVec2::ZERO);
    }
    assert!(room.touch.fitted().is_some(), "eight targets are enough");
    room.touch.repeat(Some(7)).unwrap();
    assert_eq!(room.touch.shown_target().map(|p| p.number), Some(7));
    room.put(DVec2::ZERO);
    assert!(room.touch.fitted().is_some());
    let message = room.touch.repeat(Some(10)).unwrap_err();
    assert_eq!(message, "there is no cross 10; give a number from 1 to 9");
    assert!(room.touch.repeat(Some(0)).is_err());
}

#[test]
fn skipped_targets_come_back_when_too_few_are_left() {
    let mut room = Room::new((3, 3));
    for _ in 0..5 {
        room.put(DVec2::ZERO);
    }
    for _ in 0..4 {
        room.touch.skip();
    }
    room.expect_instruction("5 points are too few; measure at least 6");
    room.expect_instruction("Cross 6 of 9");
}

#[test]
fn measuring_a_target_again_drops_the_fit() {
    let mut room = Room::new((3, 3));
    for _ in 0..9 {
        room.put(DVec2::ZERO);
    }
    assert!(room.touch.fitted().is_some());
    room.touch.previous();
    assert!(
        room.touch.fitted().is_none(),
        "the fit included the old measurement"
    );
    assert_eq!(room.touch.shown_target().map(|p| p.number), Some(9));
}

#[test]
fn the_same_frames_give_the_same_calibration() {
    let run = || {
        let mut room = Room::new((3, 3));
        for i in 0..9 {
            room.put(DVec2::new(0.2 * f64::from(i % 4), 0.1));
        }
        room.touch.fitted().cloned()
    };
    assert!(run().is_some());
    assert_eq!(run(), run());
}

#[test]
fn impossible_grids_are_rejected() {
    for grid in [(2, 4), (4, 6), (0, 0), (255, 255)] {
        let message = TouchProcedure::new(options(grid, TargetObject::Disc)).unwrap_err();
        assert!(message.contains("allowed: 3 x 3 to 5 x 5"), "{message}");
    }
}

#[test]
fn invalid_times_are_ignored() {
    let mut room = Room::new((3, 3));
    room.spots = vec![spot(room.cross_px())];
    for time_secs in [f64::NAN, f64::INFINITY, -5.0] {
        let event = room.touch.observe(&SpotFrame {
            time_secs,
            is_steady: true,
            spots: &room.spots,
            mask: DarkMask {
                dark: &[],
                width_px: 0,
            },
        });
        assert_eq!(event, TouchEvent::None);
    }
    room.wait(2.0);
    assert_eq!(room.measured, [1]);
}

#[test]
fn a_disc_that_the_camera_does_not_see_is_named_after_ten_seconds() {
    let mut room = Room::new((3, 3));
    room.wait(UNSEEN_SECS - 1.0);
    assert_eq!(room.touch.wait_reason(), WaitReason::Object);
    room.wait(1.5);
    assert_eq!(room.touch.wait_reason(), WaitReason::Unseen);
    room.expect_instruction("is the disc dark in the camera's picture?");
    // A visible one is measured as always, and the next cross has its own time.
    room.put(DVec2::ZERO);
    assert_eq!(room.measured, [1]);
    room.spots.clear();
    room.wait(UNSEEN_SECS - 1.0);
    assert_eq!(room.touch.wait_reason(), WaitReason::Object);
}

#[test]
fn a_cross_is_repeated_twice_in_vain_and_then_the_procedure_asks_for_a_new_start() {
    let mut room = Room::new((4, 4));
    // The technician reads the crosses row by row, but they are numbered in alternating direction: two rows are mirrored.
    let place = |number: usize| {
        let (row, i) = ((number - 1) / 4, (number - 1) % 4);
        let column = if row % 2 == 0 { i } else { 3 - i };
        let of = |column: usize| targets((4, 4), (4.0, 3.0))[row * 4 + column].floor_m;
        if row % 2 == 0 { of(column) } else { of(3 - i) }
    };
    let put_at = |room: &mut Room, floor_m: DVec2| {
        room.spots.clear();
        room.wait(0.5);
        room.spots
            .push(spot(view(-0.2, 0.05).camera_from_floor(floor_m)));
        room.wait(1.5);
    };
    for number in 1..=16 {
        put_at(&mut room, place(number));
    }
    // From now on every cross that is asked for is laid correctly.
    let mut asked = Vec::new();
    while let Some(target) = room.touch.shown_target() {
        asked.push(target.number);
        assert!(asked.len() <= 2 * 16, "endless: {asked:?}");
        room.put(DVec2::ZERO);
    }
    for number in 1..=16 {
        let times = asked.iter().filter(|&&other| other == number).count();
        assert!(times <= usize::from(REPEATS_MAX), "{number}: {asked:?}");
    }
    if room.touch.fitted().is_none() {
        assert!(room.touch.is_stuck());
        room.expect_instruction("Start again, and follow the numbers");
    }
    room.touch.start_again();
    assert_eq!(room.touch.measured_count(), 0);
    for _ in 1..=16 {
        room.put(DVec2::ZERO);
    }
    assert!(
        room.touch.fitted().is_some(),
        "{}",
        room.touch.instruction()
    );
}
