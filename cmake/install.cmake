# SPDX-License-Identifier: MIT
# What `make install` lays down: libraries, headers, pkg-config file, CMake package, manual pages.
# The command installs itself in cli/. Components follow the Debian packages.
include(CMakePackageConfigHelpers)

install(TARGETS slub_shared EXPORT slub-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS slub_static EXPORT slub-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
if(SLUB_BUILD_MALLOC)
    install(TARGETS slub_malloc slub_malloc_fast_shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
    install(TARGETS slub_malloc_static
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()

set(slub_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/slub)
configure_package_config_file(cmake/slub-config.cmake.in ${PROJECT_BINARY_DIR}/slub-config.cmake
    INSTALL_DESTINATION ${slub_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/slub-config-version.cmake
    COMPATIBILITY SameMajorVersion)
install(EXPORT slub-targets NAMESPACE slub:: DESTINATION ${slub_cmake_dir} COMPONENT development)
install(FILES
    ${PROJECT_BINARY_DIR}/slub-config.cmake
    ${PROJECT_BINARY_DIR}/slub-config-version.cmake
    DESTINATION ${slub_cmake_dir} COMPONENT development)

# ${pcfiledir} keeps the file true when the whole prefix is moved.
file(RELATIVE_PATH slub_pc_to_prefix
    /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/slub.pc.in ${PROJECT_BINARY_DIR}/slub.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/slub.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

foreach(page IN LISTS SLUB_MAN_PAGES)
    string(REGEX MATCH "[137]$" section ${page})
    set(component command)
    if(section EQUAL 3)
        set(component development)
    endif()
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
endforeach()
