// The vertices of a pass that draws every pixel of its target.

struct Pixel {
    @builtin(position) position: vec4<f32>,
    // Position in the target from its upper left corner, each 0..1.
    @location(0) uv: vec2<f32>,
}

@vertex
fn full_target(@builtin(vertex_index) index: u32) -> Pixel {
    let corner = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    var pixel: Pixel;
    pixel.position = vec4<f32>(corner, 0.0, 1.0);
    pixel.uv = vec2<f32>(corner.x, -corner.y) * 0.5 + 0.5;
    return pixel;
}
