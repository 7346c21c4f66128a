use super::*;
use crate::calibration::sample::view;

const WIDTH_PX: usize = 640;
const FPS: f64 = 30.0;
/// Radius of the spots, in pixels.
const RADIUS_PX: f64 = 8.0;

/// A procedure with a camera that sees round spots, wherever somebody puts them.
struct Room {
    touch: Touch,
    time_secs: f64,
    /// Spots in the picture.
    spots: Vec<Spot>,
    turns: Vec<usize>,
}

fn plan(grid: (u8, u8), mark: Mark) -> TouchPlan {
    TouchPlan {
        grid,
        mark,
        setup: Setup {
            picture_px: (640, 480),
            surface_m: (4.0, 3.0),
            lamp_m: None,
            camera_m: None,
            date: "2026-11-21T12:00:00Z".into(),
        },
        limits: CalibrationParams::default(),
    }
}

fn spot(foot_px: DVec2) -> Spot {
    Spot {
        foot_px,
        pixels: 200,
        fault: None,
    }
}

impl Room {
    fn new(grid: (u8, u8)) -> Self {
        let mut room = Self {
            touch: Touch::new(plan(grid, Mark::Disc)).unwrap(),
            time_secs: 100.0,
            spots: Vec::new(),
            turns: Vec::new(),
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
            let turn = self.touch.observe(&Sight {
                time_secs: self.time_secs,
                is_steady,
                spots: &self.spots,
                picture: DarkPicture {
                    dark: &dark,
                    width_px: WIDTH_PX,
                },
            });
            if let Turn::Taken(number) = turn {
                self.turns.push(number);
            }
        }
    }

    /// Where the camera sees the cross that is shown.
    fn cross_px(&self) -> DVec2 {
        let pattern = self.touch.pattern().expect("a cross is shown");
        view(-0.2, 0.05).camera_from_floor(pattern.floor_m)
    }

    /// Takes the mark up, and puts it down beside the cross by so many pixels.
    fn put(&mut self, beside_px: DVec2) {
        self.spots.clear();
        self.wait(0.5);
        self.spots.push(spot(self.cross_px() + beside_px));
        self.wait(1.5);
    }

    fn says(&self, what: &str) {
        let said = self.touch.sentence();
        assert!(said.contains(what), "wanted '{what}', got: {said}");
    }
}

#[test]
fn sixteen_marks_make_a_calibration() {
    let mut room = Room::new((4, 4));
    room.says("Target 1 of 16: lay the disc's middle on the cross and step away.");
    for number in 1..=16 {
        assert_eq!(room.touch.pattern().map(|p| p.number), Some(number));
        assert!(room.touch.proven().is_none());
        room.put(DVec2::ZERO);
        assert_eq!(room.turns.last(), Some(&number));
    }
    assert_eq!(room.touch.pattern(), None);
    room.says("16 targets are taken: floor errors of ");
    room.says("Accept it");
    let (calibration, report) = room.touch.proven().expect("exact marks are proven");
    assert!(report.errors.left_out_rms_m < 1e-6, "{report:?}");
    let found = calibration.floor_from_camera(640, 480).unwrap();
    let truth = view(-0.2, 0.05);
    for floor in [DVec2::ZERO, DVec2::new(-1.9, 1.4)] {
        let back = found.floor_from_camera(truth.camera_from_floor(floor));
        assert!(back.distance(floor) < 1e-4, "{floor} {back}");
    }
}

#[test]
fn a_mark_that_moves_on_is_not_taken_until_it_stands() {
    let mut room = Room::new((3, 3));
    let cross = room.cross_px();
    for step in 0..60 {
        room.spots = vec![spot(cross + DVec2::new(f64::from(step) * 2.0, 0.0))];
        room.wait(1.0 / FPS);
    }
    assert!(room.turns.is_empty());
    room.wait(0.4);
    room.says("hold still for 0.");
    room.wait(1.2);
    assert_eq!(room.turns, [1]);
}

#[test]
fn what_was_there_before_the_cross_is_not_taken() {
    let mut room = Room::new((3, 3));
    room.put(DVec2::ZERO);
    assert_eq!(room.turns, [1]);
    room.wait(30.0);
    assert_eq!(
        room.turns,
        [1],
        "the mark of target 1 was taken for target 2"
    );
    room.says("take it up first");
    // Somebody covers the mark for a while, and lets it lie.
    room.spots[0].pixels = 900;
    room.wait(0.2);
    room.spots[0].pixels = 200;
    room.wait(5.0);
    assert_eq!(room.turns, [1]);
    room.put(DVec2::ZERO);
    assert_eq!(room.turns, [1, 2]);
}

#[test]
fn a_place_that_was_left_counts_again() {
    let mut room = Room::new((3, 3));
    // The disc lies on the first cross before anybody began.
    room.spots = vec![spot(room.cross_px())];
    room.touch.repeat(None).unwrap();
    room.wait(3.0);
    assert!(room.turns.is_empty());
    room.put(DVec2::ZERO);
    assert_eq!(room.turns, [1]);
}

#[test]
fn only_one_may_stand_still() {
    let mut room = Room::new((3, 3));
    let cross = room.cross_px();
    room.spots = vec![spot(cross), spot(cross + DVec2::new(200.0, 50.0))];
    room.wait(5.0);
    assert!(room.turns.is_empty());
    room.says("2 shadows stand still, only the one on the cross may");
    room.spots.pop();
    room.wait(1.0);
    assert_eq!(room.turns, [1]);
}

#[test]
fn what_is_no_mark_is_not_taken_and_told() {
    let mut room = Room::new((3, 3));
    let cross = room.cross_px();
    for (fault, sentence) in [
        (SpotFault::NoDisc, "what is dark there is no disc"),
        (SpotFault::CutOff, "the picture's edge cuts the shadow off"),
        (SpotFault::TooLarge, "the shadow is too large"),
        (SpotFault::OneStripe, "cannot be told apart"),
    ] {
        room.spots = vec![Spot {
            fault: Some(fault),
            ..spot(cross)
        }];
        room.wait(2.0);
        room.says(sentence);
        assert!(room.turns.is_empty());
    }
    // Somebody else in the light does not matter as long as they are no mark.
    room.spots = vec![
        spot(cross),
        Spot {
            fault: Some(SpotFault::NoDisc),
            ..spot(cross + DVec2::splat(150.0))
        },
    ];
    room.wait(1.5);
    assert_eq!(room.turns, [1]);
}

#[test]
fn nothing_is_taken_while_the_floor_is_learned_or_the_light_changes() {
    let mut room = Room::new((3, 3));
    room.touch = Touch::new(plan((3, 3), Mark::Disc)).unwrap();
    room.spots = vec![spot(room.cross_px())];
    room.wait(LEARN_SECS - 0.1);
    room.says("the empty floor is being learned");
    room.put(DVec2::ZERO);
    assert_eq!(room.turns, [1]);
    room.spots = vec![spot(room.cross_px())];
    room.wait_in(3.0, false);
    room.says("the light changed");
    assert_eq!(room.turns, [1]);
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
    assert_eq!(room.touch.pattern().map(|p| p.number), Some(4));
    assert!(room.touch.proven().is_none());
    room.says("target 4 is ");
    room.says(" mm off");
    room.says("was the pole on it?");
    room.says("Target 4 of 16: ");
    room.put(DVec2::ZERO);
    assert_eq!(room.touch.pattern(), None);
    assert!(room.touch.proven().is_some(), "{}", room.touch.sentence());
    assert_eq!(room.turns.len(), 17);
}

#[test]
fn back_skip_and_repeat() {
    let mut room = Room::new((3, 3));
    room.put(DVec2::ZERO);
    room.put(DVec2::new(40.0, 0.0));
    room.touch.back();
    assert_eq!(room.touch.pattern().map(|p| p.number), Some(2));
    assert_eq!(room.touch.taken(), 1);
    room.put(DVec2::ZERO);
    room.touch.skip();
    assert_eq!(room.touch.pattern().map(|p| p.number), Some(4));
    for _ in 4..=9 {
        room.put(DVec2::ZERO);
    }
    assert!(room.touch.proven().is_some(), "eight targets are enough");
    room.touch.repeat(Some(7)).unwrap();
    assert_eq!(room.touch.pattern().map(|p| p.number), Some(7));
    room.put(DVec2::ZERO);
    assert!(room.touch.proven().is_some());
    let said = room.touch.repeat(Some(10)).unwrap_err();
    assert_eq!(said, "there is no target 10; they are numbered 1 to 9");
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
    room.says("5 points are too few: 6 are needed at least");
    room.says("Target 6 of 9");
}

#[test]
fn a_target_taken_again_takes_the_proof_back() {
    let mut room = Room::new((3, 3));
    for _ in 0..9 {
        room.put(DVec2::ZERO);
    }
    assert!(room.touch.proven().is_some());
    room.touch.back();
    assert!(
        room.touch.proven().is_none(),
        "it is no longer what was proven"
    );
    assert_eq!(room.touch.pattern().map(|p| p.number), Some(9));
}

#[test]
fn the_same_frames_give_the_same_calibration() {
    let run = || {
        let mut room = Room::new((3, 3));
        for i in 0..9 {
            room.put(DVec2::new(0.2 * f64::from(i % 4), 0.1));
        }
        room.touch.proven().cloned()
    };
    assert!(run().is_some());
    assert_eq!(run(), run());
}

#[test]
fn impossible_grids_are_refused() {
    for grid in [(2, 4), (4, 6), (0, 0), (255, 255)] {
        let said = Touch::new(plan(grid, Mark::Disc)).unwrap_err();
        assert!(said.contains("3 x 3 to 5 x 5 are"), "{said}");
    }
}

#[test]
fn broken_times_change_nothing() {
    let mut room = Room::new((3, 3));
    room.spots = vec![spot(room.cross_px())];
    for time_secs in [f64::NAN, f64::INFINITY, -5.0] {
        let turn = room.touch.observe(&Sight {
            time_secs,
            is_steady: true,
            spots: &room.spots,
            picture: DarkPicture {
                dark: &[],
                width_px: 0,
            },
        });
        assert_eq!(turn, Turn::Nothing);
    }
    room.wait(2.0);
    assert_eq!(room.turns, [1]);
}
