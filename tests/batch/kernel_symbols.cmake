# A function of code for newer processors must not have the name of one that other code has too: the
# linker keeps one of both, and an old processor would stop at it. So the name of every function in
# these objects says which instruction set it is for.
#
#   cmake -DNM=nm -DOBJECTS="a.o;b.o" -P kernel_symbols.cmake
set(count 0)
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  # Functions that other objects can see: weak (W) or plain (T).
  string(REGEX MATCHALL " [WTi] [^\n]+" functions "${symbols}")
  list(LENGTH functions more)
  math(EXPR count "${count} + ${more}")
  list(FILTER functions EXCLUDE REGEX "8xsimd_v[34]|[kK]ernels_v[34]_|Isa_v[34]")
  foreach(function IN LISTS functions)
    message(SEND_ERROR "${object}:${function}")
  endforeach()
endforeach()
if(count LESS 8)
  message(FATAL_ERROR "only ${count} functions found; are these the kernels?")
endif()
message(STATUS "${count} functions, each with its instruction set in its name")
