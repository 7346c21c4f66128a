//! The skins: one image per species. The upper three quarters of the image show the body: left to right from nose to tail, top
//! to bottom from back to belly. The strip below shows the fins, top to bottom from root to edge. The lower right corner shows
//! the eye.

use std::io::Cursor;

use glam::{Vec2, Vec3};
use image::{ImageFormat, Rgba, RgbaImage};

/// Width and height of a skin in pixels.
pub(super) const SIZE: (u32, u32) = (512, 256);

/// The parameters of a skin. Colors are sRGB, 0..255. Stations are defined in `fish`. A value of `down` is a position on the
/// side of the body, 0 at the back and 1 at the belly.
pub(super) struct Skin {
    pub back: Vec3,
    pub flank: Vec3,
    pub belly: Vec3,
    /// Borders between back and flank and between flank and belly, as values of `down`.
    pub borders: [f32; 2],
    /// Half the width of the color transition at these borders, as a difference of `down`.
    pub softness: f32,
    pub fin: Vec3,
    /// Opacity of the fins at the root and at the edge, 0..1.
    pub fin_opacity: [f32; 2],
    /// Share of light that is missing at the edge of the fins, 0..1.
    pub fin_tip: f32,
    /// Number of rays of a fin; 0 for a smooth fin.
    pub rays: u32,
    /// Strength of the pattern of scales, 0..1.
    pub scales: f32,
    /// Strength of irregular differences in brightness.
    pub mottling: f32,
    /// A bright or colored band along the side: color and strength.
    pub band: Option<(Vec3, f32)>,
    /// Station of the edge of the gill cover, or stations of the gill slits.
    pub gills: &'static [f32],
    /// Strength of these lines, 0..1.
    pub gill_depth: f32,
    /// Station of the corner of the mouth.
    pub mouth: f32,
    /// Value of `down` of the mouth at the tip of the snout, and its growth along the body.
    pub mouth_line: [f32; 2],
    /// Share of light that is missing on top of the head, 0..1.
    pub head: f32,
    pub iris: Vec3,
}

/// An eye that is painted on the skin of the body: center and radii, as (station, `down`).
pub(super) struct EyeSpot {
    pub middle: Vec2,
    pub radii: Vec2,
}

/// Paints a skin and encodes it as PNG. The eye is also painted on the body, because low-detail meshes have no domed eyes.
pub(super) fn png(skin: &Skin, spot: &EyeSpot) -> Vec<u8> {
    let image = RgbaImage::from_fn(SIZE.0, SIZE.1, |x, y| {
        let u = (x as f32 + 0.5) / SIZE.0 as f32;
        let v = (y as f32 + 0.5) / SIZE.1 as f32;
        let (color, opacity) = if v < 0.765 {
            let down = (v / 0.75).min(1.0);
            let from_eye = (Vec2::new(u, down) - spot.middle) / spot.radii;
            let skin_color = body(skin, u, down);
            let on_eye = smoothstep(1.05, 0.75, from_eye.length());
            (skin_color.lerp(eye(skin, 0.62 * from_eye), on_eye), 1.0)
        } else if u < 0.865 {
            fin(skin, (u - 0.02) / 0.82, ((v - 0.78) / 0.2).clamp(0.0, 1.0))
        } else {
            let from_middle = Vec2::new((u - 0.9375) / 0.055, (v - 0.875) / 0.11);
            (eye(skin, from_middle), 1.0)
        };
        pixel(color, opacity)
    });
    encode(&image)
}

/// Returns an image with a color in its left half and another in its right half, as PNG.
pub(super) fn halves(colors: [Vec3; 2]) -> Vec<u8> {
    encode(&RgbaImage::from_fn(16, 4, |x, _| {
        pixel(colors[usize::from(x >= 8)], 1.0)
    }))
}

/// Paints a manta and encodes it as PNG: the upper half of the image is its back, black with a white mark on each shoulder; the
/// lower half is its white belly with gray edges.
pub(super) fn ray() -> Vec<u8> {
    encode(&RgbaImage::from_fn(256, 128, |x, y| {
        let u = (x as f32 + 0.5) / 256.0;
        let v = (y as f32 + 0.5) / 128.0;
        let across = (2.0 * u - 1.0).abs();
        let along = (v.rem_euclid(0.5) - 0.02) / 0.46;
        let at = Vec3::new(u * 22.0, along * 9.0, 5.0);
        let grain = fbm(at) - 0.5;
        let wobble = 0.10 * (fbm(at * 0.35) - 0.5);
        let color = if v < 0.5 {
            let back = Vec3::new(38.0, 45.0, 54.0) * (1.0 + 0.45 * grain);
            // A hook-shaped mark on each shoulder.
            let middle = Vec2::new(
                (across - 0.17 + wobble) / 0.15,
                (along - 0.33 + wobble) / 0.13,
            );
            let mark = smoothstep(1.0, 0.55, middle.length()) * smoothstep(0.05, 0.09, across);
            let rim = smoothstep(0.88, 0.98, along) * 0.35;
            back.lerp(Vec3::new(205.0, 208.0, 205.0), mark * 0.85)
                .lerp(Vec3::new(112.0, 120.0, 128.0), rim)
        } else {
            let belly = Vec3::new(226.0, 228.0, 222.0) * (1.0 + 0.12 * grain);
            let gray = smoothstep(0.70, 0.95, along + wobble).max(smoothstep(0.6, 1.0, across));
            belly.lerp(Vec3::new(96.0, 102.0, 108.0), gray * 0.8)
        };
        pixel(color, 1.0)
    }))
}

/// Paints a crab and encodes it as PNG: the left half of the image is the shell from above; from there to the right edge the limbs
/// from the body to the pale feet, and the belly.
pub(super) fn crab() -> Vec<u8> {
    encode(&RgbaImage::from_fn(256, 64, |x, y| {
        let u = (x as f32 + 0.5) / 256.0;
        let v = (y as f32 + 0.5) / 64.0;
        let grain = fbm(Vec3::new(u * 44.0, v * 16.0, 2.0)) - 0.5;
        let red = Vec3::new(168.0, 66.0, 38.0);
        let color = if u < 0.52 {
            let middle = Vec2::new((u - 0.25) / 0.22, (v - 0.5) / 0.23);
            let rim = smoothstep(0.75, 1.05, middle.length());
            let patch = smoothstep(0.52, 0.66, fbm(Vec3::new(u * 26.0, v * 9.0, 8.0)));
            red.lerp(Vec3::new(96.0, 34.0, 26.0), 0.55 * patch)
                .lerp(Vec3::new(214.0, 132.0, 78.0), 0.6 * rim)
        } else {
            let out = smoothstep(0.56, 0.92, u);
            red.lerp(Vec3::new(232.0, 178.0, 126.0), out)
        };
        pixel(color * (1.0 + 0.5 * grain), 1.0)
    }))
}

/// Returns a pixel with an opacity of 0..1.
fn pixel(color: Vec3, opacity: f32) -> Rgba<u8> {
    let byte = |value: f32| value.round().clamp(0.0, 255.0) as u8;
    Rgba([
        byte(color.x),
        byte(color.y),
        byte(color.z),
        byte(opacity * 255.0),
    ])
}

fn encode(image: &RgbaImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    image
        .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
        .expect("writing a PNG into memory cannot fail");
    bytes
}

/// Returns the color of the body at a station and a value of `down`.
fn body(skin: &Skin, s: f32, down: f32) -> Vec3 {
    let wobble = 0.05 * (fbm(Vec3::new(s * 14.0, down * 5.0, 3.0)) - 0.5);
    let at = |border: f32| {
        smoothstep(
            border - skin.softness,
            border + skin.softness,
            down + wobble,
        )
    };
    let mut color = skin
        .back
        .lerp(skin.flank, at(skin.borders[0]))
        .lerp(skin.belly, at(skin.borders[1]));
    if let Some((tint, strength)) = skin.band {
        let across = (down - 0.47) / 0.09;
        let along = smoothstep(0.1, 0.25, s) * smoothstep(0.95, 0.75, s);
        color = color.lerp(tint, strength * along * (-across * across).exp());
    }
    let grain = fbm(Vec3::new(s * 60.0, down * 22.0, 9.0)) - 0.5;
    let patches = fbm(Vec3::new(s * 9.0, down * 4.0, 21.0)) - 0.5;
    color *= 1.0 + skin.mottling * (0.5 * grain + 0.9 * patches);
    // The scales of the fish are a fine pattern that is weaker on head and belly.
    let scale = Vec2::new(s * 95.0, down * 26.0);
    let row = scale.y.floor();
    let cell = (scale.x + 0.5 * (row - 2.0 * (row / 2.0).floor())).fract() - 0.5;
    let rim = smoothstep(0.25, 0.55, Vec2::new(cell, scale.y.fract() - 0.5).length());
    color *= 1.0 - skin.scales * rim * smoothstep(0.2, 0.28, s) * (1.0 - 0.6 * down);
    // These two lines make the back dark along its middle, and the head darker than the body.
    color *= 1.0 - 0.22 * (-down * down * 180.0).exp();
    color *= 1.0 - skin.head * smoothstep(0.24, 0.10, s) * smoothstep(0.65, 0.2, down);
    for &gill in skin.gills {
        let bow = gill + 0.035 * (1.0 - ((down - 0.52) / 0.3).powi(2));
        let line = (-((s - bow) / 0.006).powi(2)).exp()
            * smoothstep(0.20, 0.36, down)
            * smoothstep(0.86, 0.74, down);
        color *= 1.0 - skin.gill_depth * line;
    }
    // The nostrils.
    let nostril = Vec2::new((s - 0.036) / 0.005, (down - 0.30) / 0.05).length();
    color *= 1.0 - 0.6 * smoothstep(1.0, 0.5, nostril);
    // The line of the mouth.
    let mouth = (-((down - skin.mouth_line[0] - skin.mouth_line[1] * s) / 0.024).powi(2)).exp()
        * smoothstep(skin.mouth + 0.012, skin.mouth - 0.012, s);
    color * (1.0 - 0.65 * mouth)
}

/// Returns the color and opacity of a fin at a point. `along` is 0..1 from front to back, `out` is 0..1 from root to edge.
fn fin(skin: &Skin, along: f32, out: f32) -> (Vec3, f32) {
    // Rays fork towards the edge and are thinner there.
    let rays = skin.rays as f32;
    let fan = along * rays;
    let forked = fan * 2.0 + 0.5;
    let line = |at: f32, width: f32| smoothstep(width, 0.3 * width, (at.fract() - 0.5).abs());
    let ray = if skin.rays == 0 {
        1.0
    } else {
        line(fan, 0.30) * (1.0 - 0.7 * out) + 0.8 * line(forked, 0.30) * smoothstep(0.35, 0.8, out)
    }
    .min(1.0);
    let opacity = skin.fin_opacity[0] + (skin.fin_opacity[1] - skin.fin_opacity[0]) * out;
    let grain = 0.85 + 0.3 * fbm(Vec3::new(along * 12.0, out * 6.0, 40.0));
    let mut color = skin.fin * (0.82 + 0.22 * ray) * grain * (1.0 - skin.fin_tip * out * out);
    if skin.rays == 0 {
        // A smooth fin is dark in front and thin and pale along its rear edge.
        color *= 0.86 + 0.55 * smoothstep(0.72, 0.98, along) * smoothstep(0.25, 0.5, out);
    }
    // A translucent fin is more translucent between its rays than on its rays.
    (
        color,
        (opacity + (1.0 - opacity) * 0.45 * (ray - 1.0)).clamp(0.0, 1.0),
    )
}

/// Returns the color of the eye at a point. `from_middle` is the offset from the center of the eye, as a share of the radius.
fn eye(skin: &Skin, from_middle: Vec2) -> Vec3 {
    let radius = from_middle.length();
    let pupil = Vec3::splat(10.0);
    let rim = skin.back * 0.45;
    pupil
        .lerp(skin.iris, smoothstep(0.36, 0.44, radius))
        .lerp(rim, smoothstep(0.62, 0.8, radius))
}

/// Returns a smooth step: 0 at `from`, 1 at `to`, and a cubic curve between them.
pub(super) fn smoothstep(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Returns fractal noise at a point, 0..1.
fn fbm(p: Vec3) -> f32 {
    0.5 * noise3(p) + 0.3 * noise3(p * 2.03 + 7.0) + 0.2 * noise3(p * 4.07 + 13.0)
}

/// Returns smooth noise at a point, 0..1.
pub(super) fn noise3(p: Vec3) -> f32 {
    let cell = p.floor();
    let f = p - cell;
    let f = f * f * (3.0 - 2.0 * f);
    let corner = |x: f32, y: f32, z: f32| noise_at(cell + Vec3::new(x, y, z));
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let side = |z: f32| {
        mix(
            mix(corner(0.0, 0.0, z), corner(1.0, 0.0, z), f.x),
            mix(corner(0.0, 1.0, z), corner(1.0, 1.0, z), f.x),
            f.y,
        )
    };
    mix(side(0.0), side(1.0), f.z)
}

/// Returns a random number 0..1 for a lattice point. It is an integer hash, which gives the same result on every machine.
fn noise_at(cell: Vec3) -> f32 {
    let mut h = (cell.x as i32 as u32)
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add((cell.y as i32 as u32).wrapping_mul(0x85EB_CA77))
        .wrapping_add((cell.z as i32 as u32).wrapping_mul(0xC2B2_AE3D));
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    ((h ^ (h >> 15)) >> 8) as f32 / (1 << 24) as f32
}
