# SPDX-License-Identifier: Apache-2.0
# The targets of feedrate, for find_package, add_subdirectory and FetchContent. They hold paths, and no
# targets of others, so that they can be used from every folder of a project:
#
#   feedrate::feedrate  loader, compare and tune: needs the standard library and threads
#   feedrate::images    folders of JPEG files: needs libjpeg
#   feedrate::train     training steps on the CPU: needs a BLAS with cblas.h
#   feedrate::cuda      the feed of a GPU: needs the CUDA runtime
#
# find_package(feedrate COMPONENTS images) fails where libjpeg is not found.

# share/cmake/feedrate, or share/feedrate as vcpkg has it.
foreach(prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." "${CMAKE_CURRENT_LIST_DIR}/../..")
  if(NOT DEFINED feedrate_INCLUDE_DIRS AND EXISTS "${prefix}/include/feedrate/loader.hpp")
    get_filename_component(feedrate_INCLUDE_DIRS "${prefix}/include" ABSOLUTE)
  endif()
endforeach()

function(feedrate_add_target name)
  cmake_parse_arguments(arg "" "" "INCLUDES;LIBRARIES" ${ARGN})
  if(TARGET feedrate::${name})
    return()
  endif()
  add_library(feedrate::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(feedrate::${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${feedrate_INCLUDE_DIRS};${arg_INCLUDES}"
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-pthread>"
    INTERFACE_LINK_OPTIONS "-pthread"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  # Not as a property: a library may be a pair of "optimized" and "debug", as vcpkg's are.
  target_link_libraries(feedrate::${name} INTERFACE ${arg_LIBRARIES} ${CMAKE_DL_LIBS})
  set(feedrate_${name}_FOUND TRUE PARENT_SCOPE)
endfunction()

feedrate_add_target(feedrate)

find_package(JPEG QUIET)
if(JPEG_FOUND)
  feedrate_add_target(images INCLUDES ${JPEG_INCLUDE_DIRS} LIBRARIES ${JPEG_LIBRARIES})
endif()

find_package(BLAS QUIET)
find_path(feedrate_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas)
mark_as_advanced(feedrate_CBLAS_INCLUDE_DIR)
if(BLAS_FOUND AND feedrate_CBLAS_INCLUDE_DIR)
  feedrate_add_target(train INCLUDES ${feedrate_CBLAS_INCLUDE_DIR} LIBRARIES ${BLAS_LIBRARIES})
endif()

if(NOT CMAKE_VERSION VERSION_LESS 3.17)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND CUDA_cudart_LIBRARY)
    feedrate_add_target(cuda INCLUDES ${CUDAToolkit_INCLUDE_DIRS} LIBRARIES ${CUDA_cudart_LIBRARY})
  endif()
endif()

foreach(component IN LISTS feedrate_FIND_COMPONENTS)
  if(feedrate_FIND_REQUIRED_${component} AND NOT TARGET feedrate::${component})
    set(feedrate_FOUND FALSE)
    set(feedrate_NOT_FOUND_MESSAGE "feedrate::${component}: what it needs was not found; see feedrateConfig.cmake.")
  endif()
endforeach()
