// The output pass. It draws the ground and the bodies as seen through the moving water surface, adds the reflections on the
// surface, and applies the tone curve and the warp onto one output.

@group(1) @binding(0) var bodies: texture_2d<f32>;
@group(1) @binding(1) var slopes: texture_2d<f32>;
@group(1) @binding(2) var ground_picture: texture_2d<f32>;
// Square root of the share of light that the shadows of bodies leave.
@group(1) @binding(3) var ground_shadow: texture_2d<f32>;
@group(1) @binding(4) var smooth_sampler: sampler;
// Tileable noise: two channels for wavelets, one channel for bubbles. Wavelets repeat every 1.6 m; the repetition is invisible because
// glints are short.
@group(1) @binding(5) var ripple_noise: texture_2d<f32>;
@group(1) @binding(6) var tiling_sampler: sampler;
// Sunlight that the water focuses on the ground; see `caustics.wgsl`.
@group(1) @binding(7) var sunlight: texture_2d<f32>;
// Red: depth of bodies below the surface relative to the depth of the ground, multiplied by their cover. Green: their cover.
@group(1) @binding(8) var body_depth: texture_2d<f32>;

// Values of one output; same layout as `OutputUniforms` in `src/render/uniforms.rs`.
struct OutputUniforms {
    // Factors on red, green and blue.
    gain: vec3<f32>,
    // Exponent of the gamma correction.
    gamma: f32,
    // Widths of the soft left, upper, right and lower edge, as shares of the crop.
    ramp_widths: vec4<f32>,
    // Shape of the soft edges; see `Blend::gamma`.
    ramp_gamma: f32,
    // Light added outside of the soft edges.
    black_lift: f32,
    padding: vec2<f32>,
}

@group(2) @binding(0) var<uniform> output: OutputUniforms;

// Whether the output has soft edges or a black lift.
override HAS_BLEND: bool = false;
// Whether the gamma of the output differs from 1.
override HAS_GAMMA: bool = false;
// Whether trees are reflected on the water. Mesa's software driver computes both sides of every `if` that is not decided when the
// shader is compiled.
override HAS_CANOPY: bool = false;

// A vertex of the warp; same layout as `WarpVertex` in `src/render/warp.rs`.
struct WarpVertex {
    // Clip space x, y and w.
    @location(0) clip_xyw: vec3<f32>,
    // Position in the picture, 0..1.
    @location(1) picture: vec2<f32>,
    // Position in the crop, 0..1.
    @location(2) crop: vec2<f32>,
}

struct Pixel {
    @builtin(position) position: vec4<f32>,
    // Position on the surface, in floor meters.
    @location(0) place: vec2<f32>,
    // Position in the crop, 0..1.
    @location(1) crop: vec2<f32>,
    // Light of a white ground: under sunlight, under skylight (next field), and scattered light (third field). All are constant
    // over the picture.
    @location(2) @interpolate(flat) sun: vec3<f32>,
    @location(3) @interpolate(flat) sky: vec3<f32>,
    @location(4) @interpolate(flat) haze: vec3<f32>,
    // xy: direction of the bright side of the sky. z: shift of the visible ground per water slope of 1, in meters.
    @location(5) @interpolate(flat) bright: vec3<f32>,
    // Light of glints and of foam.
    @location(6) @interpolate(flat) glint: vec3<f32>,
    @location(7) @interpolate(flat) foam: vec3<f32>,
}

@vertex
fn warp_vertex(vertex: WarpVertex) -> Pixel {
    var pixel: Pixel;
    pixel.position = vec4<f32>(vertex.clip_xyw.xy, 0.0, vertex.clip_xyw.z);
    pixel.place = (vertex.picture * 2.0 - 1.0) * scene.surface_half_m;
    pixel.crop = vertex.crop;
    let ground = vec3<f32>(0.0, -scene.ground_depth_m, 0.0);
    pixel.haze = under_water(vec3<f32>(0.0), ground, 0.0, 0.0);
    pixel.sun = under_water(vec3<f32>(1.0), ground, 1.0, 0.0) - pixel.haze;
    pixel.sky = under_water(vec3<f32>(1.0), ground, 0.0, 1.0) - pixel.haze;
    // A water slope s refracts the view by about s/4. This shifts the visible point by s/4 times the depth, as seen from the
    // eye.
    let shift_m = 0.25 * scene.ground_depth_m * scene.eye_height_m / (scene.eye_height_m + scene.ground_depth_m);
    pixel.bright = vec3<f32>(normalize(scene.sun_shift + vec2<f32>(1e-5, 0.0)), shift_m);
    pixel.glint = scene.sun_color * (scene.sun_strength * scene.reflection * 0.9);
    // Neutral gray looks lilac next to green water, so foam is slightly green.
    pixel.foam = (0.95 * scene.sky_color + 0.75 * scene.sun_color) * vec3<f32>(0.91, 0.97, 0.88);
    return pixel;
}

// Darkest color of the picture, as a share of white.
const BLACK_LEVEL = vec3<f32>(0.0045, 0.014, 0.0215);

// Filmic tone curve: preserves shadows and never clips highlights.
// Source: Narkowicz 2016, fit of the ACES reference transform.
fn tone_mapped(light: vec3<f32>) -> vec3<f32> {
    let x = light * 0.60;
    return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), vec3<f32>(0.0), vec3<f32>(1.0));
}

// Exponent with which the picture is shown: in a dark hall the eye sees less contrast than in daylight, and a picture needs more.
// Source: Bartleson and Breneman 1967, for a dim to dark surround 1.1 to 1.5. A projection lights its hall, so it takes less.
const SURROUND_EXPONENT = 1.12;

// Returns the light at a position on the surface: the light of the bodies, of which a share is left, over the light behind them.
fn with_bodies(seen: vec2<f32>, behind: vec3<f32>, left: f32) -> vec3<f32> {
    let at = (seen * scene.body_uv_per_m + 0.5) * scene.target_scale;
    let body = textureSampleLevel(bodies, smooth_sampler, at, 0.0);
    let root = body.rgb / max(body.a, 1e-3);
    return mix(behind, 4.0 * left * root * root, body.a);
}

// Strength of the colored fringes of sunlight: difference of the refraction of red and blue light, relative to refraction. Water
// has 0.02; the larger value makes the fringes visible.
const DISPERSION = 0.028;

// Returns the focused sunlight at a position on the ground texture, relative to even light.
fn ground_sunlight(ground: vec2<f32>) -> vec3<f32> {
    let depth = scene.ground_depth_m;
    let place = (ground * 2.0 - 1.0) * scene.ground_half_m;
    let uv = (place - scene.sun_shift * depth) / scene.water_half_m * 0.5 + 0.5;
    let middle = textureSampleLevel(sunlight, smooth_sampler, uv, 0.0);
    // Rays that were moved farther are split more.
    let split = middle.gb / max(middle.r, 0.05) / scene.water_half_m * (0.5 * DISPERSION);
    let red = textureSampleLevel(sunlight, smooth_sampler, uv + split, 0.0).r;
    let blue = textureSampleLevel(sunlight, smooth_sampler, uv - split, 0.0).r;
    return vec3<f32>(focused_sunlight(red, depth), focused_sunlight(middle.r, depth), focused_sunlight(blue, depth));
}

// Returns the depth (x) and the cover (y) of the body at a position on the surface; see `body_depth`.
fn body_at(place: vec2<f32>) -> vec2<f32> {
    let at = (place * scene.body_uv_per_m + 0.5) * scene.target_scale;
    return textureSampleLevel(body_depth, smooth_sampler, at, 0.0).rg;
}

// Distances towards the sun at which a body is looked for that shades the body below it, in meters: the width of the shade, so that
// bodies that cross keep their outlines.
const SHADE_M = vec2<f32>(0.006, 0.015);
// Distance in height from which a body shades the body below it, and of its full shade, in meters.
const SHADES_FROM_M = vec2<f32>(0.012, 0.05);
// Share of the light that the full shade takes.
const SHADE = 0.55;

// Returns the share of light that other bodies leave on the body at a position on the surface; `here` is its depth and cover.
fn left_by_bodies(place: vec2<f32>, here: vec2<f32>, sunward: vec2<f32>) -> f32 {
    // Most of the picture shows no body.
    if here.y <= 0.0 {
        return 1.0;
    }
    var shade = 0.0;
    for (var i = 0; i < 2; i++) {
        let above = body_at(place - sunward * SHADE_M[i]);
        let height_m = (here.x / max(here.y, 1e-3) - above.x / max(above.y, 1e-3)) * scene.ground_depth_m;
        shade += 0.5 * above.y * smoothstep(SHADES_FROM_M.x, SHADES_FROM_M.y, height_m);
    }
    return 1.0 - SHADE * shade * here.y;
}

// Share of depth below which a body lies on the water.
const ON_WATER = 0.02;

// Returns how far a body lies on the water, 0..1, from its depth and cover.
fn floats(body: vec2<f32>) -> f32 {
    return smoothstep(0.0, 0.2, body.g) * (1.0 - smoothstep(ON_WATER, 3.0 * ON_WATER, body.r / max(body.g, 1e-3)));
}

// Returns the position on the surface (xy) at which a body is seen from `place`, and the depth and cover of the body (zw): the deeper the body, the farther a slope of the water
// shifts it. A body on the water is not shifted, and it hides the bodies below. All shares are continuous across the edge of a body, so
// that its outline has no steps.
fn seen_body(place: vec2<f32>, shift: vec2<f32>) -> vec4<f32> {
    // Where no body is found, a medium depth is tried.
    var seen = place - 0.4 * shift;
    for (var i = 0; i < 2; i++) {
        let body = body_at(seen);
        seen = place - shift * (body.r + 0.4 * (1.0 - body.g));
    }
    // Nor is a body on the water seen from a place beside it.
    let found = body_at(seen);
    return vec4<f32>(mix(seen, place, max(floats(body_at(place)), floats(found))), found);
}

// Returns the openness of the sky between crowns and branches of trees, 0..1. Waves tear the borders of its reflection: a slope
// shifts the view of high trees by meters.
fn open_sky(place: vec2<f32>, slope: vec2<f32>) -> f32 {
    let at = place * 0.42 + slope * 1.6 + scene.ground_seed * 3.1;
    let crowns = fbm(at) + 0.14 * (noise(at * 9.0) - 0.5) + 0.08 * (noise(at * 23.0) - 0.5);
    // Branches are thin lines where two kinds of noise are equal; they become thinner toward the open sky.
    let bent = at + 0.12 * vec2<f32>(noise(at * 3.1), noise(at * 3.1 + 17.0));
    let bough = abs(noise(bent * vec2<f32>(2.2, 3.4)) - 0.5);
    let twig = abs(noise(bent * vec2<f32>(7.0, 5.0) + 40.0) - 0.5);
    let open = smoothstep(0.47, 0.58, crowns);
    let branches = smoothstep(0.012, 0.030, bough) * smoothstep(0.0, 0.05, twig + 0.35 * (crowns - 0.47));
    // Clouds: the open sky itself is uneven.
    let clouds = 0.65 + 0.7 * (noise(at * 1.7 + 90.0) - 0.3);
    return open * mix(0.25, 1.0, branches) * clouds;
}

// Steepness of the waves of the height field above which they break and make foam.
const BREAKING = 0.22;

// Side of the cells that each hold one point of the water that can sparkle, and radius of the point, in meters.
const SPARKLE_CELL_M = 0.011;
const SPARKLE_RADIUS_M = 0.0024;

// Returns the light of the sun's glitter: small points of the water, each with a slope of its own, that mirror the sun into the eye
// for a moment. `off` is the slope of the water relative to the slope that does so.
fn sparkle(place: vec2<f32>, off: vec2<f32>) -> f32 {
    let at = place / SPARKLE_CELL_M;
    let cell = vec2<i32>(floor(at));
    let chance = hash2(cell);
    let own = hash2(cell * 7 + 3) - 0.5;
    let away = (fract(at) - 0.25 - 0.5 * chance) * (SPARKLE_CELL_M / SPARKLE_RADIUS_M);
    let mirrors = (off + own * 0.09) / 0.014;
    return 2.2 * exp(-dot(away, away) - dot(mirrors, mirrors));
}

// Returns the light of a pool that is seen from above.
fn floor_light(pixel: Pixel) -> vec3<f32> {
    let place = pixel.place;
    let water = textureSampleLevel(slopes, smooth_sampler, place / scene.water_half_m * 0.5 + 0.5, 0.0);
    let slope = water.xy;
    let seen = place - slope * pixel.bright.z;
    let ground = seen * scene.ground_uv_per_m + 0.5;
    let painted = textureSampleLevel(ground_picture, smooth_sampler, ground, 0.0);
    let root = textureSampleLevel(ground_shadow, smooth_sampler, ground * scene.target_scale, 0.0).r;
    let lit = root * root;
    let sun = painted.a * 2.5 * lit * ground_sunlight(ground);
    var sand = painted.rgb * painted.rgb * (pixel.sun * sun + pixel.sky * (0.44 + 0.56 * lit)) + pixel.haze;
    // Wet prints darken stones that stand out of the water.
    var dry = 1.0;
    if HAS_PRINTS {
        for (var i = 0u; i < scene.has_traces; i++) {
            let prints = printed(seen, pixel.bright.xy);
            sand *= prints.x;
            dry = mix(1.0, prints.y, floats(body_at(place)));
        }
    }
    if HAS_SILT {
        for (var i = 0u; i < scene.has_traces; i++) {
            sand = silted(seen, sand, pixel, lit);
        }
    }
    let body = seen_body(place, place - seen);
    var light = with_bodies(body.xy, sand, left_by_bodies(body.xy, body.zw, pixel.bright.xy)) * dry;

    // Reflected sky: weak everywhere, stronger where the water is inclined towards the bright side of the sky.
    let sunward = pixel.bright.xy;
    let inclined = max(-dot(slope, sunward), 0.0);
    var open = 1.0;
    if HAS_CANOPY {
        open = mix(1.0, open_sky(place, slope), scene.canopy);
    }
    // Crests of rings and wakes mirror the bright side of the sky; their other side mirrors dark trees. The ground is lighter and darker there, too.
    let facing = clamp(-20.0 * dot(slope, sunward), -1.0, 1.0);
    let steep = min(water.w, 0.09) * (1.0 - floats(body.zw));
    let ring = 1.5 * steep * max(facing, 0.0);
    let crests = 0.55 * inclined * inclined + 0.45 * max(inclined - 0.07, 0.0);
    light *= 1.0 + 4.0 * steep * facing;
    light += scene.sky_color * (scene.reflection * (0.006 + (0.018 + crests + 0.15 * scene.canopy) * open + ring));
    // Glints: small wavelets reflect the sun for a moment. The height field is too coarse to contain these wavelets.
    let t = scene.time_secs;
    let ripples = textureSampleLevel(ripple_noise, tiling_sampler, place * 0.61 + vec2<f32>(66.0, -53.0) / DRIFT_PERIOD_SECS * t, 0.0);
    let wavelet = (ripples.xy - 0.5) * 5.0;
    light += pixel.glint * sparkle(place, slope - sunward * 0.16 + wavelet * 0.020);
    // Foam, where waves are so steep that they break. Bubbles have two sizes: the small ones let the large patches break up.
    let small = textureSampleLevel(ripple_noise, tiling_sampler, place * 3.1 - vec2<f32>(40.0, 27.0) / DRIFT_PERIOD_SECS * t, 0.0).z;
    let foam = 0.6 * smoothstep(0.50, 1.30, 2.2 * max(water.w - BREAKING, 0.0) * (0.1 + 1.0 * ripples.z + 1.1 * small));
    return mix(light, pixel.foam, foam * scene.foam);
}

@fragment
fn output_color(pixel: Pixel) -> @location(0) vec4<f32> {
    var light: vec3<f32>;
    if SURFACE_KIND == FLOOR {
        light = floor_light(pixel);
    } else if SURFACE_KIND == WALL {
        light = wall_light(pixel);
    } else {
        light = ceiling_light(pixel);
    }
    if HAS_WAKE {
        for (var i = 0u; i < scene.has_traces; i++) {
            light += wake_light(pixel.place);
        }
    }
    if HAS_BLOOM {
        light += halo(pixel.place);
    }
    var color = tone_mapped(light * scene.exposure);
    // The tone curve reduces the saturation of bright colors; a part of it is restored here.
    let gray = dot(color, vec3<f32>(0.2126, 0.7152, 0.0722));
    color = max(mix(vec3<f32>(gray), color, 1.35), vec3<f32>(0.0)) * pow(max(gray, 1e-4), SURROUND_EXPONENT - 1.0);
    // Colors below the black level of a projector are lost, so the darkest color is raised above it.
    color = color * (1.0 - BLACK_LEVEL) + BLACK_LEVEL;
    if HAS_GAMMA {
        color = pow(color, vec3<f32>(1.0 / output.gamma));
    }
    color *= output.gain;
    if HAS_BLEND {
        color = blended(color, pixel.crop);
    }
    // Dithering with noise of one 8-bit step hides the steps. The picture is stored as sRGB, whose steps grow with about the
    // square root of the light. The green channel is used as the light, because it contributes most.
    let at = pixel.position.xy + 5.588238 * floor(fract(scene.time_secs) * 60.0);
    let grain = fract(52.9829189 * fract(dot(at, vec2<f32>(0.06711056, 0.00583715)))) - 0.5;
    return vec4<f32>(color + grain / 255.0 * (2.1 * sqrt(max(color.g, 0.0)) + 0.02), 1.0);
}

// Applies the soft edges in linear light, and the black lift outside of them. `Blend::share_at` in
// `src/render/output_params.rs` computes the same share.
fn blended(color: vec3<f32>, crop: vec2<f32>) -> vec3<f32> {
    let inside = vec4<f32>(crop, 1.0 - crop);
    let t = clamp(inside / max(output.ramp_widths, vec4<f32>(1e-6)), vec4<f32>(0.0), vec4<f32>(1.0));
    let low = 0.5 * pow(2.0 * min(t, vec4<f32>(0.5)), vec4<f32>(output.ramp_gamma));
    let high = 1.0 - 0.5 * pow(2.0 * min(1.0 - t, vec4<f32>(0.5)), vec4<f32>(output.ramp_gamma));
    let share = select(high, low, t < vec4<f32>(0.5));
    let whole = share.x * share.y * share.z * share.w;
    let lift = select(0.0, output.black_lift, whole >= 0.9999);
    return color * whole * (1.0 - lift) + lift;
}
