# Warnings as errors for our own targets, ccache and mold where present, sanitizers and coverage by option.
find_program(CCACHE ccache)
if(CCACHE)
    # Precompiled headers need these to be cacheable (ccache manual, "Precompiled headers").
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                 CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(MOLD mold)
if(MOLD)
    add_link_options(-fuse-ld=mold)
endif()
add_compile_options(-fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-fdiagnostics-color=auto>)
add_link_options(-Wl,--as-needed)

add_library(dq_warnings INTERFACE)
target_compile_options(dq_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wvla
    -Werror=return-type -Werror=unused-result -Werror -Wno-error=deprecated-declarations
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-restrict -Wno-dangling-pointer>
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)

if(DQ_SANITIZE)
    add_compile_options(-fsanitize=${DQ_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${DQ_SANITIZE})
endif()
if(DQ_COVERAGE)
    add_compile_options(--coverage -O0)
    add_link_options(--coverage)
endif()
if(DQ_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(DQ_LTO)
    include(CheckIPOSupported)
    check_ipo_supported()
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()
