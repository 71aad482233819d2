// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/loaded_mpi.hpp"

#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tutti {
namespace {

// The names under which MPI libraries are loaded.
int note_mpi(dl_phdr_info* info, size_t, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const std::string_view name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (!name.starts_with("libmpi.so") && !name.starts_with("libmpich.so")) return 0;
  *static_cast<std::string*>(found) = info->dlpi_name;
  return 1;
}

}  // namespace

std::optional<OpenedLibrary> loaded_mpi(int scope) {
  OpenedLibrary program = OpenedLibrary::program();
  if (void* any = nullptr; program.find("MPI_Initialized", any)) return program;
  // Loaded for a plug-in alone, as the modules of an interpreter are.
  std::string path;
  if (dl_iterate_phdr(note_mpi, &path) == 0) return std::nullopt;
  OpenedLibrary loaded(path, RTLD_LAZY | RTLD_NOLOAD | scope);
  return loaded.status().ok() ? std::optional(loaded) : std::nullopt;
}

std::string version_of_mpi(const OpenedLibrary& mpi) {
  constexpr size_t kLongest = 8192;  // Open MPI asks for 256, MPICH for 8192
  int (*ask)(char*, int*) = nullptr;
  std::string text(kLongest, '\0');
  int length = 0;
  if (!mpi.find("MPI_Get_library_version", ask) || ask(text.data(), &length) != 0) return {};
  text.resize(std::min(std::strlen(text.c_str()), text.find_first_of(",\n")));
  std::string words;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space || (!words.empty() && words.back() != ' ')) words.push_back(space ? ' ' : c);
  }
  return words;
}

Result<MpiFamily> family_of_mpi(const OpenedLibrary& mpi) {
  if (void* world = nullptr; mpi.find("ompi_mpi_comm_world", world)) return MpiFamily::kOpenMpi;
  const std::string version = version_of_mpi(mpi);
  for (const std::string_view kin : {"MPICH", "Intel(R) MPI", "MVAPICH"}) {
    if (version.find(kin) != std::string::npos) return MpiFamily::kMpich;
  }
  return Status::format(Code::kUnsupported,
                        "the MPI of {} says \"{}\": known are Open MPI and those with the binary "
                        "interface of MPICH",
                        mpi.file(), version);
}

}  // namespace tutti
