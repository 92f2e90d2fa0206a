//! Centre of the H3 cell of resolution 6 that holds a point: the approximate location.
use std::panic::catch_unwind;

use h3o::{LatLng, Resolution};

use crate::ffi::CellCenter;

/// Non-finite input has no cell.
pub fn h3_cell_center(latitude: f64, longitude: f64) -> CellCenter {
    let center = catch_unwind(|| {
        let point = LatLng::new(latitude, longitude).ok()?;
        Some(LatLng::from(point.to_cell(Resolution::Six)))
    });
    match center {
        Ok(Some(point)) => CellCenter { found: true, latitude: point.lat(), longitude: point.lng() },
        _ => CellCenter { found: false, latitude: 0.0, longitude: 0.0 },
    }
}
