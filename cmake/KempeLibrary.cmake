# Two libraries from the same objects: kempe, for users, and kempe_internal, which also gives tests and
# the Python extension access to hidden symbols.
set(kempe_all_objects $<TARGET_OBJECTS:kempe_objects> ${kempe_kernels})

function(kempe_library_settings target)
  kempe_compile_settings(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC Eigen3::Eigen PRIVATE tinyxml2::tinyxml2 yaml-cpp TBB::tbb)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

if(BUILD_SHARED_LIBS)
  add_library(kempe SHARED ${kempe_all_objects})
else()
  # A program compiled for another instruction set contains Eigen functions of the same names, of which
  # the linker keeps one. Therefore the archive holds a single object in which hidden symbols are local.
  # objcopy makes the variables that GCC marks as unique local only if they are weak.
  set(object ${PROJECT_BINARY_DIR}/kempe.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} ${kempe_all_objects}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=_ZZ* --weaken-symbol=_ZGV*
            --weaken-symbol=_ZN5kempe* ${object}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
    DEPENDS ${kempe_all_objects}
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(kempe STATIC ${object})
endif()
add_library(kempe::kempe ALIAS kempe)
kempe_library_settings(kempe)
set_target_properties(kempe PROPERTIES VERSION ${PROJECT_VERSION}
                                       SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

add_library(kempe_internal STATIC EXCLUDE_FROM_ALL ${kempe_all_objects})
kempe_library_settings(kempe_internal)
target_include_directories(kempe_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
