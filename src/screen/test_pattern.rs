//! What the renderer draws for a picture that adjusts the projectors.

use crate::control::{TestPattern, TestPicture};
use crate::render::{OutputCorner, OverlayOptions, Pattern};

/// Number of crosses along each side of [`TestPattern::Targets`].
const TARGETS: u32 = 4;

/// Returns what is drawn of the overlay for this picture for adjusting the projectors, or without one.
pub fn overlay_options(picture: Option<TestPicture>) -> OverlayOptions {
    let (pattern, corner) = drawn(picture);
    OverlayOptions { pattern, corner }
}

/// Returns the pattern and the corner to draw.
pub(super) fn drawn(picture: Option<TestPicture>) -> (Option<Pattern>, Option<OutputCorner>) {
    let Some(picture) = picture else {
        return (None, None);
    };
    let pattern = match picture.pattern {
        TestPattern::Corners => Pattern::Corners,
        TestPattern::Grid => Pattern::Grid,
        TestPattern::Targets => Pattern::Targets {
            columns: TARGETS,
            rows: TARGETS,
        },
        TestPattern::Blend => Pattern::Blend,
        TestPattern::Rulers => Pattern::Rulers,
        TestPattern::Outputs => Pattern::Outputs,
    };
    let corner = picture.corner.map(|marked| OutputCorner {
        output: marked.output,
        is_right: marked.corner.is_right(),
        is_lower: marked.corner.is_lower(),
    });
    (Some(pattern), corner)
}
