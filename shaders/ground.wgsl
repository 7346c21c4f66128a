// Paints the ground once: the root of its color in even light (rgb) and how squarely each grain faces the sun (a).
// Large shapes first: bars and hollows, then ripples, then pebbles and grains.

struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex
fn whole(@builtin(vertex_index) index: u32) -> Pixel {
    let corner = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    var pixel: Pixel;
    pixel.position = vec4<f32>(corner, 0.0, 1.0);
    pixel.place = vec2<f32>(corner.x, -corner.y) * frame.ground.xy;
    return pixel;
}

struct Stone {
    // height over the sand, 0 outside
    height: f32,
    rim: f32,
    color: vec3<f32>,
    // slope of the dome
    slope: vec2<f32>,
}

// The pebble over a place, of a layer with cells of this size.
fn pebble(place: vec2<f32>, size_m: f32, share: f32, salt: i32) -> Stone {
    var stone = Stone(0.0, 9.0, vec3<f32>(0.0), vec2<f32>(0.0));
    let p = place / size_m;
    let home = vec2<i32>(floor(p));
    for (var dz = -1; dz <= 1; dz++) {
        for (var dx = -1; dx <= 1; dx++) {
            let cell = home + vec2<i32>(dx, dz);
            let chance = hash2(cell * 3 + salt);
            let more = hash2(cell * 7 - salt);
            let middle = vec2<f32>(cell) + 0.12 + 0.76 * chance;
            // Pebbles lie in drifts, and in the lee of the ripples.
            let drift = smoothstep(0.52, 0.70, fbm(middle * size_m * 0.85 + 40.0 + f32(salt) * 0.02) + 0.30 * (share - 0.35));
            if more.x > 0.012 + drift * (0.45 + share) {
                continue;
            }
            let angle = more.y * 6.28318;
            let axis = vec2<f32>(cos(angle), sin(angle));
            let offset = p - middle;
            let local = vec2<f32>(dot(offset, axis), dot(offset, vec2<f32>(-axis.y, axis.x)));
            let radius = 0.13 + 0.27 * chance.y * chance.y;
            let lumpy = 1.0 + 0.22 * (noise(local * 5.0 / radius * 0.3 + chance * 90.0) - 0.5);
            let reach = length(local * vec2<f32>(1.0, 1.25 + 0.5 * chance.x)) / (radius * lumpy);
            let dome = sqrt(max(1.0 - reach * reach, 0.0)) * radius * size_m;
            if dome > stone.height {
                let tone = fract(chance.x * 7.0 + more.y * 3.0);
                var color = mix(vec3<f32>(0.17, 0.16, 0.15), vec3<f32>(0.46, 0.43, 0.37), tone * tone + 0.1);
                color = mix(color, vec3<f32>(0.40, 0.30, 0.185), step(0.66, tone) * 0.85);
                color = mix(color, vec3<f32>(0.33, 0.17, 0.10), step(0.93, tone));
                color = mix(color, frame.sand.xyz * 0.75, 0.28);
                let speckle = noise(local * 30.0 / radius * 0.3 + chance.yx * 70.0);
                let fall = reach / sqrt(max(1.0 - reach * reach, 0.07));
                stone = Stone(dome, reach, color * (0.78 + 0.44 * speckle), -normalize(offset + 1e-5) * fall * 0.55);
            } else {
                stone.rim = min(stone.rim, reach);
            }
        }
    }
    return stone;
}

fn sand_height(place: vec2<f32>) -> f32 {
    let seed = vec2<f32>(frame.time.y * 13.7, frame.time.y * 7.1);
    let p = place + seed;
    let bars = fbm(p * 0.45);
    // Ripples run across a slow current; a warped phase makes them fork and end.
    let warp = vec2<f32>(fbm(p * 0.8 + 3.0), fbm(p * 0.8 + 31.0)) - 0.5;
    let along = dot(p + 0.75 * warp, normalize(vec2<f32>(0.86, 0.5)));
    let phase = along / 0.235 + 1.1 * (noise(p * 2.6 + 9.0) - 0.5);
    let wave = 0.5 + 0.5 * sin(phase * 6.28318);
    let strength = smoothstep(0.22, 0.55, fbm(p * 0.7 + 77.0));
    let ripple = 0.024 * strength * pow(wave, 1.6);
    return 0.20 * bars + ripple + 0.0035 * fbm(p * 11.0);
}

@fragment
fn paint(pixel: Pixel) -> @location(0) vec4<f32> {
    let place = pixel.place;
    let seed = vec2<f32>(frame.time.y * 13.7, frame.time.y * 7.1);
    let p = place + seed;
    let share = frame.sand.w;
    let e = 0.006;
    let h = sand_height(place);
    var gradient = vec2<f32>(sand_height(place + vec2<f32>(e, 0.0)) - h, sand_height(place + vec2<f32>(0.0, e)) - h) / e;

    // Sand: pale where bars rise, warmer and darker in hollows, grains of every tone.
    let bars = fbm(p * 0.45);
    let tone = fbm(p * 1.3 + 11.0);
    var color = frame.sand.xyz * mix(0.60, 1.18, smoothstep(0.28, 0.72, 0.65 * bars + 0.35 * tone));
    color = mix(color, color * vec3<f32>(0.80, 0.78, 0.70), smoothstep(0.5, 0.75, fbm(p * 0.9 + 51.0)) * 0.8);
    let grain = noise(p * 260.0) * 0.6 + noise(p * 120.0) * 0.4;
    color *= 0.86 + 0.28 * grain;
    let dark_grain = step(0.93, noise(p * 190.0 + 7.0));
    color *= 1.0 - 0.35 * dark_grain;

    // A film of algae in patches, quieter than the sand.
    let film = smoothstep(0.52, 0.74, fbm(p * 1.05 + 140.0)) * (0.6 + 0.4 * noise(p * 14.0));
    color = mix(color, vec3<f32>(0.21, 0.20, 0.11), 0.34 * film);

    var occlusion = 1.0;
    // Small, middle and few large pebbles; the largest lie on top.
    let fine = pebble(p, 0.045, share * 1.1, 11);
    let middle = pebble(p + 3.3, 0.11, share, 37);
    let large = pebble(p - 8.1, 0.30, share * 0.8, 71);
    var stone = fine;
    if middle.height > 0.0 { stone = middle; }
    if large.height > 0.0 { stone = large; }
    if share > 0.0 && stone.height > 0.0 {
        gradient = gradient * 0.3 + stone.slope;
        let buried = smoothstep(1.0, 0.72, stone.rim);
        color = mix(color * 0.72, stone.color, buried);
        occlusion *= mix(0.62, 1.0, buried);
    } else if share > 0.0 {
        let near = min(min(fine.rim, middle.rim), large.rim);
        occlusion *= mix(0.68, 1.0, smoothstep(0.98, 1.5, near + 0.35 * step(1.0, near)));
    }

    // Darker towards the deep middle, and towards the rim where leaves gather.
    let from_middle = length(place / frame.ground.xy);
    color *= 0.86 + 0.14 * smoothstep(0.1, 0.75, from_middle);
    color *= 1.0 - 0.22 * smoothstep(0.75, 1.25, from_middle);

    let normal = normalize(vec3<f32>(-gradient.x * 1.5, 1.0, -gradient.y * 1.5));
    let towards_sun = normalize(vec3<f32>(-frame.sun.x, 1.0, -frame.sun.y));
    let facing = max(dot(normal, towards_sun), 0.0) / towards_sun.y;
    // Roots, so that eight bits are fine where the eye is.
    return vec4<f32>(sqrt(max(color * occlusion, vec3<f32>(0.0))), clamp(facing * 0.5, 0.0, 1.0));
}
