//! Writes the C++ side of the bridge to $DQ_BRIDGE_DIR (cmake/rust.cmake compiles it there); the files are left untouched when
//! nothing changed, so that C++ is not rebuilt in vain.
use std::{env, fs, path::Path};

const BRIDGE: &str = "src/lib.rs";

fn copy_if_different(from: &Path, to: &Path) {
    let text = fs::read(from).expect("generated bridge source");
    if fs::read(to).ok().as_deref() != Some(text.as_slice()) {
        fs::write(to, text).expect("writing the bridge source");
    }
}

fn main() {
    println!("cargo:rerun-if-changed={BRIDGE}");
    println!("cargo:rerun-if-changed=../data/schema.graphql");
    println!("cargo:rerun-if-env-changed=DQ_BRIDGE_DIR");
    let _ = cxx_build::bridge(BRIDGE);
    let Some(target) = env::var_os("DQ_BRIDGE_DIR") else { return };
    let generated = Path::new(&env::var_os("OUT_DIR").expect("OUT_DIR")).join("cxxbridge");
    let target = Path::new(&target);
    fs::create_dir_all(target).expect("bridge directory");
    copy_if_different(&generated.join("sources/dq_rust/src/lib.rs.cc"), &target.join("dq_rust.cc"));
    copy_if_different(&generated.join("include/dq_rust/src/lib.rs.h"), &target.join("dq_rust.h"));
}
