//! Rust parts of dq behind one C++ bridge: the GraphQL language and H3 cells.
#[cxx::bridge(namespace = "dq::rust")]
mod ffi {
    struct CellCenter {
        found: bool,
        latitude: f64,
        longitude: f64,
    }
    extern "Rust" {
        fn h3_cell_center(latitude: f64, longitude: f64) -> CellCenter;
    }
}
mod h3;
use h3::h3_cell_center;
