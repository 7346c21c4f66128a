// The overlay on the finished picture: triangles in clip space, plain or with the shape of a glyph.

@group(1) @binding(0) var glyph_atlas: texture_2d<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;

// A vertex of the overlay; same layout as `OverlayVertex` in `src/render/overlay.rs`.
struct OverlayVertex {
    // Position in clip space.
    @location(0) position: vec2<f32>,
    // Position in the glyph atlas; negative for a plain triangle.
    @location(1) glyph_uv: vec2<f32>,
    // Linear color and opacity.
    @location(2) color: vec4<f32>,
}

struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) glyph_uv: vec2<f32>,
    @location(1) color: vec4<f32>,
}

@vertex
fn overlay_vertex(vertex: OverlayVertex) -> Pixel {
    var pixel: Pixel;
    pixel.position = vec4<f32>(vertex.position, 0.0, 1.0);
    pixel.glyph_uv = vertex.glyph_uv;
    pixel.color = vertex.color;
    return pixel;
}

@fragment
fn overlay_color(pixel: Pixel) -> @location(0) vec4<f32> {
    let ink = textureSample(glyph_atlas, smooth_sampler, max(pixel.glyph_uv, vec2<f32>(0.0))).r;
    let cover = select(ink, 1.0, pixel.glyph_uv.x < 0.0);
    return vec4<f32>(pixel.color.rgb, pixel.color.a * cover);
}
