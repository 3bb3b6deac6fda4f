# Compiles files into a module through the assembler's .incbin: no copying through a compiler, no size limit.
#
# tare_embed(target file...) gives each file the symbols
#   extern "C" const char tare_data_<name>[], tare_data_<name>_end[];
# (<name>: the file name with every byte that no identifier may hold as '_'; the bytes are followed by a NUL) and writes the
# table behind src/catalog/embedded.h.
function(tare_embed target)
  set(assembly "")
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS ARGN)
    get_filename_component(file_name "${file}" NAME)
    string(MAKE_C_IDENTIFIER "${file_name}" identifier)
    string(REGEX REPLACE "_csv$" "" identifier "${identifier}")
    set(symbol "tare_data_${identifier}")
    string(APPEND assembly "
    .global ${symbol}
    .global ${symbol}_end
    .balign 16
${symbol}:
    .incbin \"${file}\"
${symbol}_end:
    .byte 0
")
    string(APPEND declarations "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
    string(APPEND entries
      "      {\"${file_name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
  endforeach()
  list(LENGTH ARGN count)

  set(directory "${PROJECT_BINARY_DIR}/generated")
  file(CONFIGURE OUTPUT "${directory}/${target}_data.S" @ONLY CONTENT [[
/* Written by cmake/embed.cmake. */
    .section .rodata
@assembly@
#if defined(__ELF__)
    .section .note.GNU-stack,"",%progbits
#endif
]])
  file(CONFIGURE OUTPUT "${directory}/${target}_data.cc" @ONLY CONTENT [[
// Written by cmake/embed.cmake.
#include "catalog/embedded.h"

#include <array>
#include <cstddef>

extern "C" {
@declarations@}

namespace tare {

std::span<const EmbeddedFile> embedded_files() {
  static const std::array<EmbeddedFile, @count@> files = {{
@entries@  }};
  return files;
}

}  // namespace tare
]])
  set_source_files_properties("${directory}/${target}_data.S" PROPERTIES OBJECT_DEPENDS "${ARGN}")
  set(sources "${directory}/${target}_data.S" "${directory}/${target}_data.cc")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    # No sources of its own yet: an archive of the data alone, which whoever links the module gets.
    add_library(${target}_data STATIC ${sources})
    target_include_directories(${target}_data PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target}_data PRIVATE tare_flags)
    target_link_libraries(${target} INTERFACE ${target}_data)
  else()
    target_sources(${target} PRIVATE ${sources})
  endif()
endfunction()
