//! Draws overlay items: words at fish, arrows with their names, regions around fish.

use glam::{Vec2, Vec3};

use super::Overlay;
use crate::render::noise::unit_hash;
use crate::world::{OverlayItem, OverlayLayer, OverlayShape};

/// Height of the letters as a share of the surface's width: 64 mm on a floor of 4 m, which a standing adult reads.
const LETTER_SHARE: f32 = 0.016;
/// Number of pieces of a whole circle.
const CIRCLE_PIECES: f32 = 48.0;
/// Opacity of the area of a region. Fish and regions below it stay visible.
const AREA_OPACITY: f32 = 0.09;
/// Directions in which the labels of the regions around the same fish lie, measured from its heading in radians: apart from each
/// other, and that of the smallest region not over the fish.
const LABEL_TURNS_RAD: [f32; 4] = [-0.5, 0.3, 0.9, 1.6];

/// Colors of forces: bright, and different for people who see no difference between red and green.
const FORCE_COLORS: [[f32; 3]; 8] = [
    [1.0, 0.75, 0.0],
    [0.2, 0.75, 1.0],
    [1.0, 0.35, 0.25],
    [0.35, 1.0, 0.45],
    [1.0, 0.45, 0.9],
    [0.55, 0.6, 1.0],
    [1.0, 1.0, 0.4],
    [0.2, 1.0, 0.9],
];
/// Color of the sum of all forces.
const SUM_COLOR: [f32; 4] = [1.0; 4];

impl Overlay {
    /// Adds overlay items: regions, labels at points where there is room, and arrows with their names.
    pub fn items(&mut self, items: &[OverlayItem]) {
        let height_m = LETTER_SHARE * self.surface.width_m;
        self.labels.clear(self.surface.half_extent_m());
        // What a text stands on is drawn first, so that no line crosses a text.
        for item in items {
            self.shape(item);
        }
        for item in items.iter().filter(|item| !item.text.is_empty()) {
            let color = color_of(item);
            let at = self.label_anchor(item);
            let width_m = self.lettering.width(&item.text) * height_m;
            let Some(place) = self.labels.place(at, Vec2::new(width_m, height_m)) else {
                continue;
            };
            if place.distance(at) > 1.5 * height_m {
                self.line(at, place, [color[0], color[1], color[2], 0.35]);
            }
            self.text_line(place, height_m, &item.text, color);
        }
    }

    /// Adds the shape of an item. A point has none.
    fn shape(&mut self, item: &OverlayItem) {
        let color = color_of(item);
        match item.shape {
            OverlayShape::Point(_) => {}
            OverlayShape::Arrow { from_m, to_m } => {
                let ends = [from_m, to_m].map(|end| self.surface.floor_from_world(end));
                self.arrow(ends[0], ends[1], color);
            }
            OverlayShape::Line { from_m, to_m } => {
                let ends = [from_m, to_m].map(|end| self.surface.floor_from_world(end));
                self.line(ends[0], ends[1], color);
            }
            OverlayShape::Sector { half_angle_rad, .. } => {
                self.sector(item, half_angle_rad, color);
            }
        }
    }

    fn sector(&mut self, item: &OverlayItem, half_angle_rad: f32, color: [f32; 4]) {
        let is_whole = half_angle_rad >= std::f32::consts::PI;
        let half = half_angle_rad.clamp(0.0, std::f32::consts::PI);
        let pieces = (CIRCLE_PIECES * half / std::f32::consts::PI)
            .ceil()
            .max(1.0);
        let on = |overlay: &Self, number: f32| {
            overlay.sector_point(&item.shape, half * (2.0 * number / pieces - 1.0), 1.0)
        };
        let center = self.sector_point(&item.shape, 0.0, 0.0);
        let area = [color[0], color[1], color[2], AREA_OPACITY];
        for number in 0..pieces as u16 {
            let (a, b) = (on(self, f32::from(number)), on(self, f32::from(number + 1)));
            if center.is_finite() && a.is_finite() && b.is_finite() {
                // A motion circle is a mere outline: it lies on a fish.
                if item.layer != OverlayLayer::Motion {
                    self.quad([center, a, b, center], area);
                }
                self.line(a, b, color);
            }
        }
        if !is_whole {
            self.line(center, on(self, 0.0), color);
            self.line(center, on(self, pieces), color);
        }
    }

    /// Returns the floor position of a point of a sector: at this angle from its middle direction, and this share of its radius.
    fn sector_point(&self, shape: &OverlayShape, angle_rad: f32, share: f32) -> Vec2 {
        let OverlayShape::Sector {
            center_m,
            forward,
            radius_m,
            ..
        } = *shape
        else {
            return Vec2::NAN;
        };
        let middle = Vec2::new(forward.x, forward.z).normalize_or(Vec2::X);
        let away = Vec2::from_angle(angle_rad).rotate(middle) * (radius_m * share);
        self.surface
            .floor_from_world(center_m + Vec3::new(away.x, 0.0, away.y))
    }

    /// Returns the floor position at which the text of an item belongs.
    fn label_anchor(&self, item: &OverlayItem) -> Vec2 {
        match item.shape {
            OverlayShape::Point(at) => self.surface.floor_from_world(at),
            OverlayShape::Arrow { to_m, .. } | OverlayShape::Line { to_m, .. } => {
                self.surface.floor_from_world(to_m)
            }
            OverlayShape::Sector { half_angle_rad, .. } => {
                let turn = match item.layer {
                    OverlayLayer::Separation => LABEL_TURNS_RAD[3],
                    OverlayLayer::Alignment => LABEL_TURNS_RAD[0],
                    OverlayLayer::Cohesion => LABEL_TURNS_RAD[1],
                    _ => LABEL_TURNS_RAD[2],
                };
                let turn = turn.clamp(-half_angle_rad, half_angle_rad);
                self.sector_point(&item.shape, turn, 1.0)
            }
        }
    }
}

fn color_of(item: &OverlayItem) -> [f32; 4] {
    match item.layer {
        OverlayLayer::Mind | OverlayLayer::Shadow => [1.0, 0.95, 0.75, 1.0],
        OverlayLayer::Field => [0.35, 0.75, 0.95, 0.6],
        OverlayLayer::Path => [0.5, 1.0, 0.4, 0.9],
        OverlayLayer::Mesh => [1.0, 0.6, 0.25, 0.7],
        OverlayLayer::Separation => [1.0, 0.3, 0.2, 0.95],
        OverlayLayer::Alignment => [1.0, 0.85, 0.15, 0.95],
        OverlayLayer::Cohesion => [0.3, 0.95, 0.45, 0.95],
        OverlayLayer::Sight => [0.85, 0.92, 1.0, 0.85],
        OverlayLayer::Shelter => [0.75, 0.55, 1.0, 0.95],
        OverlayLayer::Motion => [0.2, 0.9, 1.0, 0.7],
        OverlayLayer::Force if item.text == "sum" => SUM_COLOR,
        OverlayLayer::Force => {
            let name = item.text.split(' ').next().unwrap_or_default();
            let of: u32 = name.bytes().map(u32::from).sum();
            let number = (unit_hash(of, 1) * FORCE_COLORS.len() as f32) as usize;
            let [red, green, blue] = FORCE_COLORS[number.min(FORCE_COLORS.len() - 1)];
            [red, green, blue, 0.95]
        }
    }
}
