# The library exports what its headers promise and nothing else. Functions of Eigen above all: those
# of a program that is compiled for other instructions would replace them as it starts.
#
#   cmake -DNM=nm -DLIBRARY=libkempe.so [-DPROGRAM=outside_project] -P exported_symbols.cmake
#
# With a program, it must call every function that is exported.
execute_process(COMMAND ${NM} --dynamic --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [TWVuiDBR] [^\n]+" exported "${symbols}")
list(TRANSFORM exported REPLACE "^ . " "")

set(functions ${exported})
list(FILTER functions INCLUDE REGEX "^_ZNK?5kempe")
list(LENGTH functions count)
if(count LESS 200)
  message(FATAL_ERROR "only ${count} functions found; is this the library?")
endif()

set(others ${exported})
list(FILTER others EXCLUDE REGEX "^_ZNK?5kempe")
list(FILTER others INCLUDE REGEX "5Eigen")
set(inner ${exported})
list(FILTER inner INCLUDE REGEX "5kempe6detail")
foreach(symbol IN LISTS others inner)
  message(SEND_ERROR "${LIBRARY} exports ${symbol}")
endforeach()

if(PROGRAM)
  execute_process(COMMAND ${NM} --dynamic --undefined-only ${PROGRAM} OUTPUT_VARIABLE symbols
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "_ZNK?5kempe[^\n]+" called "${symbols}")
  # Constructors and destructors have a second name, for classes that inherit; exceptions are inline.
  list(FILTER functions EXCLUDE REGEX "[CD]2E|^_ZNK?5kempe[0-9]+[A-Za-z]+Error")
  list(REMOVE_ITEM functions ${called})
  foreach(symbol IN LISTS functions)
    message(SEND_ERROR "${PROGRAM} does not call ${symbol}")
  endforeach()
endif()
message(STATUS "${count} functions of Kempe exported, none of Eigen")
