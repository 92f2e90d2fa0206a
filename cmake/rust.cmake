# The Rust static library (rust/): GraphQL language and H3 behind cxx. Built by cargo, one profile, Cargo.lock committed.
find_program(CARGO cargo HINTS $ENV{HOME}/.cargo/bin)
if(NOT CARGO)
    message(FATAL_ERROR "cargo is missing: install Rust 1.88 or later (Debian: rustup), then run this again")
endif()
# Rust code is the same for every build tree (sanitizers and coverage do not reach it), so that they share one build of it.
set(RUST_TARGET_DIR ${CMAKE_SOURCE_DIR}/build/rust CACHE PATH "Where cargo builds rust/")
set(RUST_LIB ${RUST_TARGET_DIR}/release/libdq_rust.a)
set(RUST_BRIDGE_DIR ${RUST_TARGET_DIR}/bridge) # rust/build.rs writes the generated headers and sources there
file(GLOB_RECURSE RUST_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rust/src/*.rs)
add_custom_command(
    OUTPUT ${RUST_LIB} ${RUST_BRIDGE_DIR}/dq_rust.cc ${RUST_BRIDGE_DIR}/dq_rust.h
    COMMAND ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${RUST_TARGET_DIR} DQ_BRIDGE_DIR=${RUST_BRIDGE_DIR}
            ${CARGO} build --release --locked --manifest-path ${CMAKE_SOURCE_DIR}/rust/Cargo.toml
    DEPENDS ${RUST_SOURCES} ${CMAKE_SOURCE_DIR}/rust/Cargo.toml ${CMAKE_SOURCE_DIR}/rust/Cargo.lock ${CMAKE_SOURCE_DIR}/rust/build.rs
            ${CMAKE_SOURCE_DIR}/data/schema.graphql
    COMMENT "cargo build (rust/)" USES_TERMINAL VERBATIM)
add_library(dq_rust STATIC ${RUST_BRIDGE_DIR}/dq_rust.cc)
target_include_directories(dq_rust SYSTEM PUBLIC ${RUST_BRIDGE_DIR})
target_include_directories(dq_rust PRIVATE ${CMAKE_SOURCE_DIR}/src) # blob/get_guard.h
target_link_libraries(dq_rust PUBLIC ${RUST_LIB} Threads::Threads ${CMAKE_DL_LIBS})
