//! Opens the network of this build.

use std::sync::Arc;

use super::link::{Link, LinkError, LinkPlace, LinkSecurity};

/// Opens the link of a node.
///
/// # Errors
/// If this Shoal was built without clusters, the own address cannot be used, or the keys are damaged.
pub fn open_link(place: LinkPlace, security: &LinkSecurity) -> Result<Arc<dyn Link>, LinkError> {
    #[cfg(feature = "zenoh")]
    return Ok(Arc::new(super::zenoh_link::ZenohLink::open(
        place, security,
    )?));
    #[cfg(not(feature = "zenoh"))]
    {
        let _unused = (place, security);
        Err(LinkError::NotBuilt)
    }
}
