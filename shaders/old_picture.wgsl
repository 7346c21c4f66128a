// Draws the last picture of an old scene over the new one. The blend constant is its weight.

@group(1) @binding(0) var old_picture: texture_2d<f32>;

struct Pixel {
    @builtin(position) position: vec4<f32>,
}

@vertex
fn full_target(@builtin(vertex_index) index: u32) -> Pixel {
    let corner = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    return Pixel(vec4<f32>(corner, 0.0, 1.0));
}

@fragment
fn old_color(pixel: Pixel) -> @location(0) vec4<f32> {
    return textureLoad(old_picture, vec2<i32>(pixel.position.xy), 0);
}
