//! Gives the shared library the name by which programs look for it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcorecast.so.{major}");
}
