// Marks over the finished picture: triangles that the CPU has carried through the warp, plain or cut out of letters.

@group(1) @binding(0) var letters: texture_2d<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;

struct Corner {
    @location(0) place: vec2<f32>,
    // on the picture of letters; below 0 there are none
    @location(1) letter: vec2<f32>,
    @location(2) color: vec4<f32>,
}

struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) letter: vec2<f32>,
    @location(1) color: vec4<f32>,
}

@vertex
fn lay(corner: Corner) -> Pixel {
    var pixel: Pixel;
    pixel.position = vec4<f32>(corner.place, 0.0, 1.0);
    pixel.letter = corner.letter;
    pixel.color = corner.color;
    return pixel;
}

@fragment
fn fill(pixel: Pixel) -> @location(0) vec4<f32> {
    let ink = textureSampleLevel(letters, smooth_sampler, max(pixel.letter, vec2<f32>(0.0)), 0.0).r;
    let cover = select(ink, 1.0, pixel.letter.x < 0.0);
    return vec4<f32>(pixel.color.rgb, pixel.color.a * cover);
}
