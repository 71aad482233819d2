// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/ofi/library.hpp"

#include <atomic>
#include <cstdlib>
#include <string>

#include "core/folder.hpp"
#include "core/opened_library.hpp"
#include "transports/frames/frame.hpp"

namespace tutti::ofi {
namespace {

constexpr uint32_t kOldest = FI_VERSION(1, 17);

// The layer over TCP sends all above 16 KiB by a read of the receiver's by default, which waits
// behind what the receiver itself sends. Both directions then take turns, at half the link's rate.
// Frames and pieces have a receive that waits for them, so they may go at once, and without a copy.
// Providers read this when they are opened, and from nowhere else; over verbs,
// the same layer could not receive so much at once. It also keeps more room than it uses: a quarter
// does as well, and saves over half of a rank's memory.
void set_up_layer_over_tcp() {
  if (!entries_of("/sys/class/infiniband").empty()) return;
  const std::string limit = std::to_string(frames::kPieceBytes + sizeof(frames::FrameHead));
  setenv("FI_OFI_RXM_EAGER_LIMIT", limit.c_str(), 0);
  setenv("FI_OFI_RXM_MSG_RX_SIZE", "32", 0);
}

// Never closed: providers leave threads and handlers behind.
Result<Library> open() {
  const KeepSignals keep;
  set_up_layer_over_tcp();
  OpenedLibrary library("libfabric.so.1");
  Library found;
  library.need("fi_getinfo", found.getinfo);
  library.need("fi_freeinfo", found.freeinfo);
  library.need("fi_dupinfo", found.dupinfo);
  library.need("fi_fabric", found.fabric);
  library.need("fi_strerror", found.strerror);
  library.need("fi_version", found.version);
  if (!library.status().ok()) {
    return Status::format(Code::kUnsupported,
                          "libfabric cannot be opened: {} (Debian's package is libfabric1)",
                          library.status().message());
  }
  if (const uint32_t version = found.version(); FI_VERSION_LT(version, kOldest)) {
    return Status::format(Code::kUnsupported, "libfabric is {}.{}, {}.{} or newer is needed",
                          FI_MAJOR(version), FI_MINOR(version), FI_MAJOR(kOldest),
                          FI_MINOR(kOldest));
  }
  return found;
}

std::atomic<const Result<Library>*> replacement = nullptr;

}  // namespace

void replace_library(const Result<Library>* instead) { replacement = instead; }

const Result<Library>& library() {
  if (const Result<Library>* instead = replacement) return *instead;
  static const Result<Library> opened = open();
  return opened;
}

KeepSignals::KeepSignals() {
  for (size_t i = 1; i < kept_.size(); ++i) sigaction(static_cast<int>(i), nullptr, &kept_[i]);
}

KeepSignals::~KeepSignals() {
  for (size_t i = 1; i < kept_.size(); ++i) {
    struct sigaction now {};
    const bool known = sigaction(static_cast<int>(i), nullptr, &now) == 0;
    if (!known || now.sa_handler == kept_[i].sa_handler) continue;
    sigaction(static_cast<int>(i), &kept_[i], nullptr);
  }
}

Status reason(int64_t code) {
  const int number = static_cast<int>(code < 0 ? -code : code);
  const Code kind = number == FI_ENOMEM ? Code::kOutOfMemory : Code::kSystem;
  return Status::format(kind, "{} (libfabric error {})", library()->strerror(number), number);
}

Status failure(int64_t code, std::string_view what) { return reason(code).with_context(what); }

void FreeInfo::operator()(fi_info* info) const { library()->freeinfo(info); }

}  // namespace tutti::ofi
