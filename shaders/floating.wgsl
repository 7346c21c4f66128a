// Petals and leaves that float on the water. Each is a square with the shape of a petal or of a maple leaf.

// One leaf; same layout as `Leaf` in `src/render/floating.rs`.
struct Leaf {
    // Middle on the surface, in meters.
    @location(0) position_m: vec2<f32>,
    // From the middle to the tip, in meters.
    @location(1) half_length_m: vec2<f32>,
    // 0 for a petal, 1 for a maple leaf.
    @location(2) kind: f32,
    // Random number 0..1 that varies color and shape.
    @location(3) tone: f32,
}

struct Pixel {
    @builtin(position) position: vec4<f32>,
    // Position on the leaf: the tip is at x = 1.
    @location(0) at: vec2<f32>,
    // Kind, tone, and direction of the sun on the leaf.
    @location(1) @interpolate(flat) leaf: vec4<f32>,
}

// Half side of the square, in half lengths of the leaf: there is room for the seam around the leaf.
const ROOM = 1.15;
// Height of a leaf above the water, in meters; same value as in `src/render/floating.rs`.
const OVER_WATER_M = 0.003;

@vertex
fn leaf_vertex(leaf: Leaf, @builtin(vertex_index) corner: u32) -> Pixel {
    var corners = array<vec2<f32>, 6>(vec2<f32>(-1.0, -1.0), vec2<f32>(-1.0, 1.0), vec2<f32>(1.0, -1.0), vec2<f32>(1.0, -1.0), vec2<f32>(-1.0, 1.0), vec2<f32>(1.0, 1.0));
    let at = corners[corner] * ROOM;
    let along = leaf.half_length_m;
    let aside = vec2<f32>(-along.y, along.x);
    let place = leaf.position_m + along * at.x + aside * at.y;
    var pixel: Pixel;
    pixel.position = clip_from_world(vec3<f32>(place.x, OVER_WATER_M, place.y));
    pixel.at = at;
    let sun = -scene.sun_shift / max(dot(along, along), 1e-9);
    pixel.leaf = vec4<f32>(leaf.kind, leaf.tone, dot(sun, along) * length(along), dot(sun, aside) * length(along));
    return pixel;
}

// Returns the distance from the outline of a petal, in half lengths; negative inside. A petal has a notch at its tip.
fn petal_outline(at: vec2<f32>, tone: f32) -> f32 {
    let width = (0.52 + 0.16 * tone) * pow(max(1.0 - at.x * at.x, 0.0), 0.55) * (0.78 + 0.30 * at.x);
    let notch = at.x - 0.95 + 0.20 * exp(-at.y * at.y / 0.012);
    return max(abs(at.y) - width, notch);
}

// Returns the distance from the outline of a maple leaf with five lobes and a stalk, in half lengths; negative inside.
fn maple_outline(at: vec2<f32>, tone: f32) -> f32 {
    let from_base = at + vec2<f32>(0.30, 0.0);
    let angle = abs(atan2(from_base.y, from_base.x));
    let wide = 0.25 + 0.07 * tone;
    let first = exp(-angle * angle / (wide * wide));
    let second = 0.80 * exp(-(angle - 0.85) * (angle - 0.85) / (wide * wide));
    let third = 0.50 * exp(-(angle - 1.75) * (angle - 1.75) / (wide * wide));
    let reach = 0.20 + 1.02 * max(first, max(second, third));
    let blade = 0.55 * (length(from_base) - reach);
    let stalk = max(abs(at.y + 0.05 * sin(3.0 * at.x)) - 0.030, abs(at.x + 0.65) - 0.40);
    return min(blade, stalk);
}

@fragment
fn leaf_light(pixel: Pixel) -> Drawn {
    let tone = pixel.leaf.y;
    let at = pixel.at;
    let is_petal = pixel.leaf.x < 0.5;
    let out = select(maple_outline(at, tone), petal_outline(at, tone), is_petal);
    let soft = 0.75 * fwidth(at.x) + 0.02;
    let cover = smoothstep(soft, -soft, out);
    // Water rises at the edge of a leaf and makes a dark seam there.
    let seam = 0.55 * smoothstep(0.16, 0.0, out) * (1.0 - cover);
    let whole = cover + seam;
    if whole < 0.02 {
        discard;
    }
    var color: vec3<f32>;
    if is_petal {
        color = mix(vec3<f32>(0.80, 0.46, 0.50), vec3<f32>(0.80, 0.72, 0.70), smoothstep(-0.8, 0.3 + 0.6 * tone, at.x));
    } else {
        let kind = fract(7.0 * tone);
        color = mix(vec3<f32>(0.52, 0.070, 0.030), vec3<f32>(0.58, 0.24, 0.045), kind);
        color = mix(color, vec3<f32>(0.30, 0.17, 0.06), smoothstep(0.75, 0.95, kind));
        let vein = smoothstep(0.05, 0.0, abs(at.y)) + 0.5 * smoothstep(0.5, 1.0, sin(24.0 * abs(at.y) + 9.0 * at.x));
        color *= 0.85 + 0.25 * vein;
    }
    // A leaf is curled: one side faces the sun.
    let facing = clamp(1.0 + 0.55 * dot(pixel.leaf.zw, at), 0.55, 1.5);
    let light = under_water(color, vec3<f32>(0.0, OVER_WATER_M, 0.0), 0.85 * facing, 0.9);
    return drawn_on_water(encode_light(light * cover / whole, whole));
}
