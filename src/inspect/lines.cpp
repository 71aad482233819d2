// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/lines.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/fd.hpp"
#include "core/folder.hpp"

namespace tutti::inspect {
namespace {

constexpr uint32_t kEstablished = 1U << 1;

std::string address_of(const inet_diag_msg& about) {
  char text[INET6_ADDRSTRLEN] = "?";
  (void)inet_ntop(about.idiag_family, about.id.idiag_dst, text, sizeof text);
  return text;
}

// An older kernel gives a shorter tcp_info: what it lacks is 0.
Line line_of(const inet_diag_msg& about, const void* told, size_t bytes) {
  tcp_info info{};
  std::memcpy(&info, told, std::min(bytes, sizeof info));
  return {.peer = address_of(about),
          // The time in which data was on its way, without that in which the receiver's full buffer
          // held it back: then the line waited for the process, not the process for the line.
          .busy_us = info.tcpi_busy_time - std::min(info.tcpi_rwnd_limited, info.tcpi_busy_time),
          .bytes = info.tcpi_bytes_sent,
          .segments = info.tcpi_data_segs_out,
          .sent_again = info.tcpi_total_retrans,
          .needless = info.tcpi_dsack_dups,
          .round_trip_us = info.tcpi_rtt};
}

void take_line(const nlmsghdr& message, Lines& lines) {
  if (message.nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return;
  const auto* const about = static_cast<const inet_diag_msg*>(NLMSG_DATA(&message));
  // Signed, for the step over padding that the last one lacks leads below 0.
  auto left = static_cast<int>(message.nlmsg_len - NLMSG_LENGTH(sizeof *about));
  const auto* attribute = reinterpret_cast<const rtattr*>(about + 1);
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type != INET_DIAG_INFO) continue;
    lines[about->idiag_inode] = line_of(*about, RTA_DATA(attribute), RTA_PAYLOAD(attribute));
  }
}

bool ask_for_lines(int socket, int family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = static_cast<uint8_t>(family);
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
  question.request.idiag_states = kEstablished;
  return send(socket, &question, sizeof question, 0) == static_cast<ssize_t>(sizeof question);
}

void take_answers(int socket, Lines& lines) {
  alignas(nlmsghdr) std::array<char, 1 << 15> bytes;
  for (;;) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got <= 0) return;
    auto left = static_cast<int>(got);  // signed, too
    const auto* message = reinterpret_cast<const nlmsghdr*>(bytes.data());
    for (; left > 0 && NLMSG_OK(message, static_cast<uint32_t>(left));
         message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) return;
      take_line(*message, lines);
    }
  }
}

}  // namespace

double Line::loss() const {
  return static_cast<double>(lost()) / static_cast<double>(std::max<uint64_t>(segments, 1));
}

Lines lines_of_host() {
  Lines lines;
  const Fd socket(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket.open()) return lines;
  const timeval most{.tv_sec = 1, .tv_usec = 0};
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  for (const int family : {AF_INET, AF_INET6}) {
    if (ask_for_lines(socket.get(), family)) take_answers(socket.get(), lines);
  }
  return lines;
}

std::vector<uint64_t> sockets_of(int pid) {
  constexpr std::string_view kBegin = "socket:[";
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  std::vector<uint64_t> inodes;
  for (const int number : numbers_in(folder)) {
    char target[64] = {};
    const ssize_t length = readlink(fmt::format("{}/{}", folder, number).c_str(), target,
                                    sizeof target - 1);  // leaves a NUL behind
    if (length <= 0 || !std::string_view(target).starts_with(kBegin)) continue;
    inodes.push_back(std::strtoull(target + kBegin.size(), nullptr, 10));
  }
  return inodes;
}

Line busiest_of(int pid, const Lines& before, const Lines& now) {
  Line most;
  if (now.empty()) return most;
  for (const uint64_t inode : sockets_of(pid)) {
    const auto then = before.find(inode);
    const auto line = now.find(inode);
    if (then == before.end() || line == now.end()) continue;
    Line since = line->second;
    since.busy_us -= std::min(since.busy_us, then->second.busy_us);
    since.bytes -= std::min(since.bytes, then->second.bytes);
    since.segments -= std::min(since.segments, then->second.segments);
    since.sent_again -= std::min(since.sent_again, then->second.sent_again);
    since.needless -= std::min(since.needless, then->second.needless);
    if (since.busy_us > most.busy_us) most = since;
  }
  return most;
}

}  // namespace tutti::inspect
