# Warnings and sanitizers, the same for every target of this project.
function(kempe_compile_settings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Falsely found in `"text" + std::string` (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(KEMPE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(KEMPE_SANITIZE)
    # Without the checks that AddressSanitizer makes too, in other words: they take a third of the
    # time to compile.
    set(flags -fsanitize=${KEMPE_SANITIZE} -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr
              -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
    # With sanitizers, kernels into which everything is inlined take minutes to compile.
    target_compile_definitions(${target} PRIVATE KEMPE_SANITIZED KEMPE_NO_FLATTEN)
  endif()
  if(KEMPE_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Objects of the library. Only symbols that the public headers mark with KEMPE_API are exported.
function(kempe_object_settings target)
  kempe_compile_settings(${target})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(
    ${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                         VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Compiles the sources of each folder of a target eight at a time, in a third of the time. The
# sources after the target are compiled by themselves: their local names occur in others too.
function(kempe_unite target)
  if(NOT KEMPE_UNITE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Local names may occur in another source, and GCC takes all sources but one for headers.
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source IN_LIST ARGN)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" key)
    math(EXPR count_${key} "0${count_${key}} + 1")
    math(EXPR group "(${count_${key}} - 1) / 8")
    cmake_path(GET folder FILENAME folder)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()
