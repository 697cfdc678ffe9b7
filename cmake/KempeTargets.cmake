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
    set(flags -fsanitize=${KEMPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
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

# Compiles the sources of a target a few at a time, in half of the time. Only where a build serves to
# run the tests once, because editing one source then compiles several. The sources after the target
# are compiled by themselves: their local names occur in others too.
function(kempe_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  target_compile_options(${target} PRIVATE -Wno-shadow)  # of local names in another source
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
