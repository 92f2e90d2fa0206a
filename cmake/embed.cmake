# dq_embed(TARGET FILE SYMBOL): makes the bytes of FILE available to TARGET as `extern const std::string_view SYMBOL;` in
# namespace dq::embedded, declared in the generated header "embedded/SYMBOL.h". The file is embedded as is (any bytes).
function(dq_embed target file symbol)
    set(dir ${CMAKE_BINARY_DIR}/embedded)
    set(assembly ${dir}/${symbol}.s)
    set(source ${dir}/${symbol}.cc)
    file(SIZE ${file} size)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(CONFIGURE OUTPUT ${assembly} CONTENT
"    .section .rodata\n    .global dq_embedded_${symbol}\ndq_embedded_${symbol}:\n    .incbin \"${file}\"\n    .byte 0\n    .section .note.GNU-stack,\"\",%progbits\n" @ONLY)
    set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${file})
    file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"embedded/${symbol}.h\"\nextern \"C\" const char dq_embedded_${symbol}[];\nnamespace dq::embedded {\nconst std::string_view ${symbol}{dq_embedded_${symbol}, ${size}};\n}\n" @ONLY)
    file(CONFIGURE OUTPUT ${dir}/${symbol}.h CONTENT
"#pragma once\n#include <string_view>\nnamespace dq::embedded {\nextern const std::string_view ${symbol};\n}\n" @ONLY)
    target_sources(${target} PRIVATE ${source} ${assembly})
    set_source_files_properties(${source} ${assembly} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    # clang warns of compiler options that assembly does not use, and warnings are errors.
    set_property(SOURCE ${assembly} APPEND PROPERTY COMPILE_OPTIONS $<$<COMPILE_LANG_AND_ID:ASM,Clang>:-Wno-unused-command-line-argument>)
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR})
endfunction()
