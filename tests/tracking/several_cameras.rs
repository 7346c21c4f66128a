//! Two cameras that see one room from different places, from rendered frames to fused visitors.

use glam::{DVec2, DVec3};
use shoal::geometry::{Surface, Visitor};
use shoal::vision::{CameraTracks, Fusion, VisionParams, WatchedFloor};

use crate::rooms::{Camera, Walker, WatchedRoom};

const FPS: f64 = 12.5;
const SIZE_PX: (u32, u32) = (160, 120);
/// Places of the cameras, and the floor points in the middle of their pictures. Both see about 1.2 m on both sides of the seam.
const CAMERAS: [(DVec3, DVec2); 2] = [
    (DVec3::new(-1.4, 4.0, 0.4), DVec2::new(-0.9, 0.1)),
    (DVec3::new(1.4, 4.0, -0.3), DVec2::new(0.9, 0.0)),
];

struct Hall {
    rooms: Vec<WatchedRoom>,
    fusion: Fusion,
    /// Whether the frames of a camera arrive.
    sends: [bool; 2],
    frame: u32,
}

impl Hall {
    /// Creates a hall whose empty floor is learned.
    fn new() -> Self {
        let surface = Surface::default();
        let mut fusion = Fusion::new(&surface, CAMERAS.len(), 0.2);
        let rooms = CAMERAS.iter().enumerate().map(|(index, &(eye_m, at_m))| {
            let camera = Camera::new(SIZE_PX, eye_m, at_m, 52.0);
            let room = WatchedRoom::of(camera, FPS, DVec3::new(0.2, 4.2, -0.3));
            let watched = WatchedFloor::new(room.vision.view(), &VisionParams::default(), SIZE_PX);
            fusion.set_watched(index, watched);
            room
        });
        let mut hall = Self {
            rooms: rooms.collect(),
            fusion,
            sends: [true; 2],
            frame: 0,
        };
        for _ in 0..20 {
            hall.show(&[]);
        }
        hall
    }

    /// Shows visitors to both cameras, and returns the fused ones.
    fn show(&mut self, walkers: &[Walker]) -> Vec<Visitor> {
        for room in &mut self.rooms {
            room.show(walkers);
        }
        self.fuse();
        self.fusion.visitors().to_vec()
    }

    /// Fuses the tracks of the last frames.
    fn fuse(&mut self) {
        let time_secs = f64::from(self.frame) / FPS;
        self.frame += 1;
        for (camera, room) in self.rooms.iter().enumerate() {
            if self.sends[camera] {
                self.fusion.observe(&CameraTracks {
                    camera,
                    time_secs,
                    tracks: room.vision.tracks(),
                    covariances_m2: room.vision.covariances_m2(),
                });
            }
        }
    }

    /// Shows a visitor who walks along x, and passes every frame with the place of the visitor to `check`.
    fn walk(
        &mut self,
        from_m: DVec2,
        speed_mps: f64,
        secs: f64,
        mut check: impl FnMut(&mut Self, DVec2, Vec<Visitor>),
    ) {
        for number in 0..(secs * FPS) as u32 {
            let now_secs = f64::from(number) / FPS;
            let velocity_mps = DVec2::new(speed_mps, 0.0);
            let walker = Walker::walking(
                from_m + velocity_mps * now_secs,
                1.7,
                velocity_mps,
                6.2 * now_secs,
            );
            let found = self.show(&[walker]);
            check(self, from_m + velocity_mps * now_secs, found);
        }
    }
}

#[test]
fn a_visitor_who_walks_from_one_view_into_the_other_keeps_the_id() {
    for (from_m, speed_mps) in [(DVec2::new(-2.2, 0.3), 0.9), (DVec2::new(2.2, -0.6), -0.7)] {
        let mut hall = Hall::new();
        let mut ids = Vec::new();
        let mut worst_m: f64 = 0.0;
        hall.walk(
            from_m,
            speed_mps,
            4.4 / speed_mps.abs(),
            |_, at_m, found| {
                assert!(found.len() <= 1, "{found:?}");
                if at_m.x.abs() < 1.8 {
                    assert_eq!(found.len(), 1, "at {at_m}");
                    worst_m = worst_m.max(found[0].foot_m.as_dvec2().distance(at_m));
                }
                ids.extend(found.iter().map(|visitor| visitor.id));
            },
        );
        ids.dedup();
        assert_eq!(ids, [1]);
        assert!(worst_m < 0.35, "{worst_m}");
    }
}

#[test]
fn the_other_camera_goes_on_when_one_is_unplugged() {
    let mut hall = Hall::new();
    let mut gone = 0;
    hall.walk(DVec2::new(-2.0, 0.2), 0.8, 5.0, |hall, at_m, found| {
        // The left camera fails while the visitor is in both views.
        hall.sends[0] = at_m.x < 0.0;
        gone += u32::from((-1.6..1.8).contains(&at_m.x) && found.is_empty());
        assert!(found.iter().all(|visitor| visitor.id == 1), "{found:?}");
    });
    assert_eq!(gone, 0);
}

#[test]
fn a_visitor_in_the_view_of_a_lost_camera_fades() {
    let mut hall = Hall::new();
    let standing = |x: f64| Walker::standing(DVec2::new(x, 0.2), 1.7);
    for _ in 0..30 {
        hall.show(&[standing(-1.5), standing(1.5)]);
    }
    assert_eq!(hall.show(&[standing(-1.5), standing(1.5)]).len(), 2);
    hall.sends[0] = false;
    let left: Vec<usize> = (0..25)
        .map(|_| hall.show(&[standing(-1.5), standing(1.5)]).len())
        .collect();
    // For a second the visitor waits for the next frame.
    assert_eq!(left[..10], [2; 10]);
    assert_eq!(left[14..], [1; 11]);
}

#[test]
fn a_camera_that_was_moved_is_an_alarm() {
    for (bump_px, is_drift) in [((0, 0), false), ((14, 0), true)] {
        let mut hall = Hall::new();
        hall.rooms[0].bump(bump_px);
        let mut turns = 0.0;
        for number in 0..400 {
            let now_secs = f64::from(number) / FPS;
            turns += 0.6 / FPS;
            let at_m = DVec2::from_angle(turns) * 0.5;
            let velocity_mps = DVec2::from_angle(turns + 1.57) * 0.3;
            hall.show(&[Walker::walking(at_m, 1.7, velocity_mps, 6.2 * now_secs)]);
        }
        let agreement = hall.fusion.agreements().next().unwrap();
        assert_eq!(agreement.is_drift, is_drift, "{agreement:?}");
    }
}

#[test]
fn a_steady_frame_of_two_cameras_allocates_nothing() {
    let mut hall = Hall::new();
    let standing = [-1.5, 0.0, 1.5].map(|x| Walker::standing(DVec2::new(x, 0.2), 1.7));
    for _ in 0..20 {
        hall.show(&standing);
    }
    for _ in 0..40 {
        hall.fuse();
    }
    let allocated = allocation_counter::measure(|| {
        for _ in 0..40 {
            hall.fuse();
        }
    });
    assert_eq!(hall.fusion.visitors().len(), 3);
    assert_eq!(allocated.count_total, 0);
}
