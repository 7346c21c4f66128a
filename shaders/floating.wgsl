// Petals and leaves that float on the water. Each is a square with the shape of a petal or of a maple leaf.

// One leaf; same layout as `Leaf` in `src/render/floating.rs`.
struct Leaf {
    // Middle on the surface, in meters.
    @location(0) position_m: vec2<f32>,
    // From the middle to the tip, in meters.
    @location(1) half_length_m: vec2<f32>,
    // 0 for a petal, 1 for a maple leaf, 2 for a closed blossom to 3 for an open one.
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
    // On a ceiling the surface of the water is behind the fish.
    let height = select(OVER_WATER_M, -scene.ground_depth_m, SURFACE_KIND == CEILING);
    var pixel: Pixel;
    pixel.position = clip_from_world(vec3<f32>(place.x, height, place.y));
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

// Distance from the outline of a petal of a blossom, and the petal's shade.
struct BlossomPetal {
    out: f32,
    along: f32,
    across: f32,
}

// Returns the petal of a ring of five at a point. `open` is how far the blossom is open, 0..1; `turn` rotates the ring.
fn blossom_petal(at: vec2<f32>, reach: f32, turn: f32) -> BlossomPetal {
    let angle = atan2(at.y, at.x) + turn;
    let sector = 6.28318 / 5.0;
    let off = angle - sector * round(angle / sector);
    let far = length(at);
    let along = far * cos(off) / reach;
    let across = far * sin(off) / reach;
    let width = 0.46 * sqrt(max(along * (1.06 - along) * 2.6, 0.0));
    let notch = along - 1.0 + 0.13 * exp(-across * across / 0.006);
    return BlossomPetal(max(abs(across) - width, notch) * reach, along, across);
}

// Returns the color of a blossom at a point, and in alpha its distance from the outline, in half lengths; negative inside.
fn blossom(at: vec2<f32>, open: f32, tone: f32) -> vec4<f32> {
    // A bud is small and round; its petals unfold.
    let outer = blossom_petal(at, 0.35 + 0.65 * open, 6.0 * tone);
    let inner = blossom_petal(at, 0.35 + 0.33 * open, 6.0 * tone + 0.63);
    let bud = length(at) - 0.30;
    let deep = mix(vec3<f32>(0.80, 0.22, 0.34), vec3<f32>(0.82, 0.50, 0.58), tone);
    let pale = mix(vec3<f32>(0.92, 0.60, 0.66), vec3<f32>(0.92, 0.86, 0.84), tone);
    let ray = 1.0 - 0.14 * smoothstep(0.05, 0.0, abs(outer.across));
    var color = mix(deep, pale, smoothstep(0.15, 0.85, outer.along)) * ray;
    // The inner ring throws a shade on the outer one.
    color *= mix(0.62, 1.0, smoothstep(0.0, 0.16, inner.out));
    let within = smoothstep(0.02, -0.02, inner.out);
    color = mix(color, mix(deep, pale, smoothstep(0.1, 0.75, inner.along)) * 1.08, within);
    let core = smoothstep(0.17, 0.10, length(at)) * open;
    color = mix(color, vec3<f32>(0.90, 0.62, 0.10) * (0.75 + 0.5 * noise(at * 22.0 + 9.0 * tone)), core);
    color = mix(deep * 0.8, color, smoothstep(0.0, 0.35, open));
    return vec4<f32>(color, min(bud, outer.out));
}

@fragment
fn leaf_light(pixel: Pixel) -> Drawn {
    let tone = pixel.leaf.y;
    let at = pixel.at;
    let is_petal = pixel.leaf.x < 0.5;
    let is_blossom = pixel.leaf.x > 1.5;
    let unfolded = blossom(at, clamp(pixel.leaf.x - 2.0, 0.0, 1.0), tone);
    let out = select(select(maple_outline(at, tone), petal_outline(at, tone), is_petal), unfolded.a, is_blossom);
    let soft = 0.75 * fwidth(at.x) + 0.02;
    let cover = smoothstep(soft, -soft, out);
    // Water rises at the edge of a leaf and makes a dark seam there.
    let seam = 0.55 * smoothstep(0.16, 0.0, out) * (1.0 - cover);
    let whole = cover + seam;
    if whole < 0.02 {
        discard;
    }
    var color: vec3<f32>;
    if is_blossom {
        color = unfolded.rgb;
    } else if is_petal {
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
    var light = under_water(color, vec3<f32>(0.0, OVER_WATER_M, 0.0), 0.85 * facing, 0.9);
    if SURFACE_KIND == CEILING {
        // The sky shines through.
        light = color * (0.55 * scene.sky_color + 0.25 * scene.sun_color * scene.sun_strength);
    }
    return drawn_on_water(encode_light(light * cover / whole, whole));
}
