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
