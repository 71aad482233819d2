// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "info.hpp"

#include <cstring>
#include <iterator>

#include "handles.hpp"

namespace tutti_mpi {
namespace {

MPI_ABI_Info& find(MPI_Info info) {
  static MPI_ABI_Info environment;
  if (info == MPI_INFO_ENV) return environment;
  expect(!is_predefined(info), MPI_ERR_INFO, "it is not an info object");
  return *info;
}
void expect_key(const char* key) {
  expect(key != nullptr && *key != '\0' && std::strlen(key) < MPI_MAX_INFO_KEY, MPI_ERR_INFO_KEY,
         "the key is empty or too long");
}

}  // namespace

MPI_Info copy_of(MPI_Info info) {
  return info == MPI_INFO_NULL ? new MPI_ABI_Info : new MPI_ABI_Info(find(info));
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_DO(Info_create, (MPI_Info * info), *info = new MPI_ABI_Info)
TUTTI_MPI_ANYTIME(Info_create_env, (int, char**, MPI_Info* info), *info = new MPI_ABI_Info)
TUTTI_MPI_DO(Info_dup, (MPI_Info info, MPI_Info* copy), *copy = new MPI_ABI_Info(find(info)))
TUTTI_MPI_DO(Info_free, (MPI_Info * info), {
  expect(!is_predefined(*info), MPI_ERR_INFO, "it is not an info object of the program's");
  delete std::exchange(*info, MPI_INFO_NULL);
})
TUTTI_MPI_DO(Info_set, (MPI_Info info, const char* key, const char* value), {
  expect_key(key);
  expect(value != nullptr && std::strlen(value) < MPI_MAX_INFO_VAL, MPI_ERR_INFO_VALUE,
         "the value is too long");
  find(info).entries[key] = value;
})
TUTTI_MPI_DO(Info_delete, (MPI_Info info, const char* key), {
  expect_key(key);
  expect(find(info).entries.erase(key) > 0, MPI_ERR_INFO_NOKEY, "there is no such key");
})
TUTTI_MPI_DO(Info_get_nkeys, (MPI_Info info, int* keys),
             *keys = static_cast<int>(find(info).entries.size()))
TUTTI_MPI_DO(Info_get_nthkey, (MPI_Info info, int n, char* key), {
  const MPI_ABI_Info& in = find(info);
  expect(n >= 0 && static_cast<size_t>(n) < in.entries.size(), MPI_ERR_ARG, "n is out of range");
  std::strcpy(key, std::next(in.entries.begin(), n)->first.c_str());
})
TUTTI_MPI_DO(Info_get_string, (MPI_Info info, const char* key, int* room, char* value, int* flag), {
  expect_key(key);
  const MPI_ABI_Info& in = find(info);
  const auto found = in.entries.find(key);
  *flag = found != in.entries.end() ? 1 : 0;
  if (*flag == 0) return;
  const std::string& text = found->second;
  int copied = 0;
  if (*room > 0) give_text(text, static_cast<size_t>(*room), value, &copied);
  *room = static_cast<int>(text.size()) + 1;
})
TUTTI_MPI(Info_get, (MPI_Info info, const char* key, int length, char* value, int* flag)) {
  int room = length + 1;
  return PMPI_Info_get_string(info, key, &room, value, flag);
}
TUTTI_MPI(Info_get_valuelen, (MPI_Info info, const char* key, int* length, int* flag)) {
  int room = 0;
  const int result = PMPI_Info_get_string(info, key, &room, nullptr, flag);
  if (result == MPI_SUCCESS && *flag != 0) *length = room - 1;
  return result;
}
