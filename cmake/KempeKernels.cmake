# The recursions, compiled once for each instruction set and scalar type. The library chooses among
# them when it is loaded (src/lanes/dispatch.cpp). Where the processor is no x86-64 there is one
# plain build.
option(KEMPE_PLAIN_KERNELS "Build the recursions for one state at a time, without vector types" OFF)

set(kempe_isas baseline)
set(kempe_options_v3 -march=x86-64-v3)
# GCC 12 finds its own AVX-512 headers uninitialised (GCC bug 105593).
set(kempe_options_v4 -march=x86-64-v4 -Wno-uninitialized -Wno-maybe-uninitialized)
set(kempe_arch_baseline xsimd::sse2)
set(kempe_arch_v3 "xsimd::fma3<xsimd::avx2>")
set(kempe_arch_v4 xsimd::avx512bw)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT KEMPE_PLAIN_KERNELS)
  find_package(xsimd REQUIRED)
  if(NOT KEMPE_SANITIZE)
    set(kempe_isas baseline v3 v4)
    target_compile_definitions(kempe_objects PRIVATE KEMPE_X86_LEVELS KEMPE_X86_V4)
  else()
    # With sanitizers the recursions take minutes to compile: once, for AVX2 where the processor has
    # it, because that code contains what the others have.
    include(CheckCXXSourceRuns)
    check_cxx_source_runs("int main() { return !(__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") &&
      __builtin_cpu_supports(\"bmi2\")); }" KEMPE_HOST_HAS_AVX2)
    if(KEMPE_HOST_HAS_AVX2)
      set(kempe_options_baseline ${kempe_options_v3} -DKEMPE_WIDE)
      set(kempe_arch_baseline ${kempe_arch_v3})
    endif()
  endif()
endif()

set(kempe_kernels "")
foreach(isa IN LISTS kempe_isas)
  foreach(scalar double float)
    set(object kempe_kernels_${isa}_${scalar})
    add_library(${object} OBJECT ${kempe_kernel_sources})
    kempe_object_settings(${object})
    target_link_libraries(${object} PRIVATE Eigen3::Eigen)
    target_compile_definitions(${object} PRIVATE KEMPE_ISA=${isa} KEMPE_SCALAR=${scalar})
    # Constants of the formulas are written as double. GCC keeps structures of large numbers in
    # registers only where it is allowed to.
    target_compile_options(
      ${object} PRIVATE -Wno-float-conversion -Wno-implicit-float-conversion ${kempe_options_${isa}}
                        $<$<CXX_COMPILER_ID:GNU>:--param=sra-max-scalarization-size-Ospeed=8192>)
    if(xsimd_FOUND)
      target_link_libraries(${object} PRIVATE xsimd)
      # Some of xsimd's functions are the same by name for all instruction sets: they get a namespace
      # of their own, or the linker could keep one that needs a newer processor.
      target_compile_definitions(${object} PRIVATE "KEMPE_XSIMD_ARCH=${kempe_arch_${isa}}" xsimd=xsimd_${isa})
    else()
      target_compile_definitions(${object} PRIVATE KEMPE_PLAIN)
    endif()
    if(NOT isa STREQUAL "baseline")
      target_compile_definitions(${object} PRIVATE KEMPE_WIDE)
    endif()
    list(APPEND kempe_kernels $<TARGET_OBJECTS:${object}>)
  endforeach()
endforeach()
