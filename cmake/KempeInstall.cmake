# `cmake --install` gives what `find_package(kempe)` finds.
include(CMakePackageConfigHelpers)
set(kempe_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kempe)

install(TARGETS kempe EXPORT kempe-targets
        LIBRARY COMPONENT development ARCHIVE COMPONENT development RUNTIME COMPONENT development)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT kempe-targets NAMESPACE kempe:: DESTINATION ${kempe_config_folder} COMPONENT development)

get_target_property(kempe_library_type kempe TYPE)
configure_package_config_file(cmake/kempe-config.cmake.in ${PROJECT_BINARY_DIR}/kempe-config.cmake
                              INSTALL_DESTINATION ${kempe_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kempe-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kempe-config.cmake ${PROJECT_BINARY_DIR}/kempe-config-version.cmake
        DESTINATION ${kempe_config_folder} COMPONENT development)

# For builds that do not use CMake: `pkg-config --cflags --libs kempe`. The paths are relative to the file.
file(RELATIVE_PATH kempe_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" kempe_pc_to_prefix "${kempe_pc_to_prefix}")
set(kempe_pc_private "")
if(kempe_library_type STREQUAL "STATIC_LIBRARY")
  set(kempe_pc_private "Requires.private: tinyxml2, yaml-cpp, tbb\n")
endif()
configure_file(cmake/kempe.pc.in ${PROJECT_BINARY_DIR}/kempe.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kempe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# `cpack -G DEB` in a build folder: one Debian package with the library and its headers.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_NAME libkempe-dev)
  set(CPACK_PACKAGE_VENDOR "The Kempe authors")
  set(CPACK_PACKAGE_CONTACT "The Kempe authors")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_COMPONENTS_ALL development)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  include(CPack)
endif()
