// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever somebody sends for a measurement, it is refused in words, or it is the same after a page
// was made of it.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/fuzz.hpp"
#include "tools/report_page.hpp"

namespace tutti::tools {
namespace {

using tutti_test::fuzz::demand;

std::string file_of(std::string_view text) {
  static const int file = memfd_create("report", MFD_CLOEXEC);
  demand(ftruncate(file, 0) == 0, "a file in memory can be emptied");
  demand(pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
         "and written");
  return "/proc/self/fd/" + std::to_string(file);
}

FUZZ_TARGET(report) {
  const auto read = read_report(file_of(tutti_test::fuzz::text_of(input.rest())));
  if (!read.ok()) return demand(!read.status().message().empty(), "a refusal says why");
  const Report report = joined({{"a file", *read}, {"a file", *read}});
  const auto again = read_report(file_of(page_of(report)));
  demand(again.ok(), "a page that was made is read");
}

}  // namespace
}  // namespace tutti::tools
