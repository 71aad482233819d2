// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/mpi/library.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/loaded_mpi.hpp"
#include "core/log.hpp"
#include "env/env.hpp"

namespace tutti::mpi {
namespace {

namespace fs = std::filesystem;

// MPIs with one binary interface.
struct Family {
  std::string_view name;
  std::string_view module;                 // the file's name
  std::array<const char*, 2> libraries;    // names for the loader; the second may be null
  std::array<const char*, 3> launched_by;  // variables that its launchers set
  std::string_view package;                // Debian's, with the library
};

constexpr Family kOpenMpi = {"Open MPI",
                             "libtutti_mpi_openmpi.so",
                             {"libmpi.so.40", nullptr},
                             {"OMPI_COMM_WORLD_SIZE", nullptr, nullptr},
                             "libopenmpi3"};
constexpr Family kMpich = {"MPICH",
                           "libtutti_mpi_mpich.so",
                           {"libmpich.so.12", "libmpi.so.12"},
                           {"PMI_SIZE", "PMI_RANK", "PMI_FD"},
                           "libmpich12"};
constexpr std::array kFamilies = {&kOpenMpi, &kMpich};

// ---- the module ---------------------------------------------------------------------------------

// Folders that may have modules: beside the library, installed or built. In programs that contain
// the library, the folders are the same relative to the program.
std::vector<fs::path> module_folders() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&module_folders), &self) == 0) return {};
  std::error_code none;
  fs::path file = fs::weakly_canonical(self.dli_fname, none);
  if (none || !fs::exists(file, none)) file = fs::read_symlink("/proc/self/exe", none);
  const fs::path folder = file.parent_path();
  return {folder / "tutti", folder.parent_path() / "tutti",
          folder.parent_path() / TUTTI_LIBRARY_FOLDER / "tutti"};
}

std::optional<fs::path> module_of(const Family& family) {
  for (const fs::path& folder : module_folders()) {
    std::error_code none;
    if (fs::exists(folder / family.module, none)) return folder / family.module;
  }
  return std::nullopt;
}

Status no_module(std::string_view files) {
  std::string places;
  for (const fs::path& folder : module_folders()) {
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  return Status::format(Code::kUnsupported,
                        "{} was looked for in {}: Tutti makes it where the headers of that MPI are "
                        "when it is built (Debian's packages are libopenmpi-dev and libmpich-dev)",
                        files, places);
}

// `mpi` is open, and of this family.
Result<Library> open_module(const Family& family, const OpenedLibrary& mpi) {
  const std::optional<fs::path> path = module_of(family);
  if (!path) {
    return no_module(family.module)
        .with_context(fmt::format("there is no module for {} ({})", family.name, mpi.file()));
  }
  const OpenedLibrary module(*path);
  if (!module.status().ok()) {
    return Status::format(Code::kUnsupported, "the module for {} cannot be opened over {}: {}",
                          family.name, mpi.file(), module.status().message());
  }
  decltype(&tutti_mpi_table_of_module) get = nullptr;
  const tutti_mpi_table* table = module.find(TUTTI_MPI_TABLE_SYMBOL, get) ? get() : nullptr;
  if (table == nullptr || table->version != TUTTI_MPI_TABLE_VERSION ||
      table->bytes != sizeof(tutti_mpi_table)) {
    return Status::format(
        Code::kUnsupported,
        "{} is of another version of Tutti: its table has version {}, expected {}", path->string(),
        table != nullptr ? table->version : 0, TUTTI_MPI_TABLE_VERSION);
  }
  Library found{.table = table, .version = version_of_mpi(mpi), .module = path->string()};
  log::info("MPI of {}: {}; module {}", mpi.file(), found.version, found.module);
  return found;
}

// ---- the choice ---------------------------------------------------------------------------------

Result<Library> open_over(const OpenedLibrary& mpi) {
  TUTTI_ASSIGN_OR_RETURN(const MpiFamily family, family_of_mpi(mpi));
  return open_module(family == MpiFamily::kOpenMpi ? kOpenMpi : kMpich, mpi);
}

Result<Library> open_named(const std::string& path) {
  const OpenedLibrary mpi(path, RTLD_NOW | RTLD_GLOBAL);
  if (!mpi.status().ok()) return mpi.status().with_context("CCL_MPI_LIBRARY_PATH");
  return open_over(mpi);
}

// The library of this family that the loader finds.
Result<Library> open_usual(const Family& family) {
  if (!module_of(family)) {
    return no_module(family.module)
        .with_context(fmt::format("there is no module for {}", family.name));
  }
  std::string reasons;
  for (const char* name : family.libraries) {
    if (name == nullptr) continue;
    const OpenedLibrary mpi(name, RTLD_NOW | RTLD_GLOBAL);
    if (mpi.status().ok()) return open_module(family, mpi);
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", mpi.status().message());
  }
  return Status::format(Code::kUnsupported,
                        "{} cannot be opened: {} (Debian's package is {}; CCL_MPI_LIBRARY_PATH "
                        "names another file)",
                        family.name, reasons, family.package);
}

bool launched(const Family& family, const Getter& getter) {
  return std::any_of(family.launched_by.begin(), family.launched_by.end(),
                     [&](const char* name) { return name != nullptr && getter(name).has_value(); });
}

Result<Library> open() {
  if (const auto loaded = loaded_mpi(RTLD_GLOBAL)) return open_over(*loaded);
  const Getter getter = process_environment();
  if (const auto path = getter("CCL_MPI_LIBRARY_PATH"); path && !path->empty()) {
    return open_named(*path);
  }
  // Under the launcher of one, another would find no other processes.
  for (const Family* family : kFamilies) {
    if (launched(*family, getter)) return open_usual(*family);
  }
  std::string reasons;
  std::string files;
  bool any_module = false;
  for (const Family* family : kFamilies) {
    files += fmt::format("{}{}", files.empty() ? "" : " or ", family->module);
    if (!module_of(*family)) continue;
    any_module = true;
    auto opened = open_usual(*family);
    if (opened.ok()) return opened;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", opened.status().message());
  }
  if (any_module) return Status(Code::kUnsupported, reasons);
  return no_module(files).with_context("there is no module for any MPI");
}

}  // namespace

const Result<Library>& library() {
  static const Result<Library> opened = open();
  return opened;
}

Status reason(int error) {
  char text[256] = "";
  library()->table->error_text(error, text, sizeof text);
  return Status::format(Code::kSystem, "{} (MPI error {})", text, error);
}

}  // namespace tutti::mpi
