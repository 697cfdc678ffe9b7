# Checks that the library exports no function of Eigen and nothing from kempe::detail. Exported Eigen
# functions would be replaced by those of a program compiled for another instruction set.
#
#   cmake -DNM=nm -DLIBRARY=libkempe.so [-DPROGRAM=outside_project] -P exported_symbols.cmake
#
# Also checks that PROGRAM, if given, calls every exported function.
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
  # C2 and D2 are the constructors and destructors for base classes; exceptions are inline.
  list(FILTER functions EXCLUDE REGEX "[CD]2E|^_ZNK?5kempe[0-9]+[A-Za-z]+Error")
  list(REMOVE_ITEM functions ${called})
  foreach(symbol IN LISTS functions)
    message(SEND_ERROR "${PROGRAM} does not call ${symbol}")
  endforeach()
endif()
message(STATUS "${count} functions of Kempe exported, none of Eigen")
