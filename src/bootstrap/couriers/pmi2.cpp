// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// PMI-2 on the wire, as Slurm serves it with --mpi=pmi2: the version is agreed on in PMI-1, then
// come messages of six characters for the length and "cmd=...;name=value;...".
#include <charconv>

#include "bootstrap/couriers/key_values.hpp"
#include "bootstrap/couriers/pmi_wire.hpp"
#include "core/wait.hpp"

namespace tutti::couriers {
namespace {

constexpr size_t kLengthDigits = 6;

class Pmi2 final : public KeyValues {
 public:
  Pmi2(PmiWire wire, int rank, std::string job)
      : KeyValues(rank), wire_(std::move(wire)), job_(std::move(job)) {}
  ~Pmi2() override {
    if (may_say_goodbye()) (void)ask("finalize;", "finalize-response", now_ms() + kGoodbyeMs);
  }
  Pmi2(const Pmi2&) = delete;

  Status begin(int rank, int64_t deadline_ms) {
    TUTTI_RETURN_IF_ERROR(wire_.send("cmd=init pmi_version=2 pmi_subversion=0\n", deadline_ms));
    auto line = wire_.read_line(deadline_ms);
    if (!line.ok()) return line.status();
    Fields hello = read_fields(*line, ' ');
    if (hello["cmd"] != "response_to_init" || hello["rc"] != "0") {
      return Status::format(Code::kUnsupported,
                            "the process manager answered \"{}\": expected PMI of version 2",
                            line->substr(0, 100));
    }
    const auto full =
        ask(fmt::format("fullinit;pmijobid={};pmirank={};threaded=FALSE;", job_, rank),
            "fullinit-response", deadline_ms);
    if (full.ok()) greeted();
    return full.status();
  }

 protected:
  Status put(const std::string& key, const std::string& value, int64_t deadline_ms) override {
    return ask(fmt::format("kvs-put;key={};value={};", key, value), "kvs-put-response", deadline_ms)
        .status();
  }
  Result<std::optional<std::string>> get(const std::string& key, int64_t deadline_ms) override {
    auto answer = ask(fmt::format("kvs-get;jobid={};srcid=-1;key={};", job_, key),
                      "kvs-get-response", deadline_ms);
    if (!answer.ok()) return answer.status();
    if ((*answer)["found"] != "TRUE") return std::optional<std::string>();
    return std::optional<std::string>((*answer)["value"]);
  }
  Status fence(int64_t deadline_ms) override {
    return ask("kvs-fence;", "kvs-fence-response", deadline_ms).status();
  }

 private:
  Result<Fields> ask(const std::string& command, const char* answer, int64_t deadline_ms) {
    const std::string message = "cmd=" + command;
    TUTTI_RETURN_IF_ERROR(wire_.send(fmt::format("{:6}{}", message.size(), message), deadline_ms));
    auto head = wire_.read_bytes(kLengthDigits, deadline_ms);
    if (!head.ok()) return head.status();
    const size_t first = std::min(head->find_first_not_of(' '), kLengthDigits);
    size_t length = 0;
    const char* end = head->data() + head->size();
    const auto [rest, error] = std::from_chars(head->data() + first, end, length);
    if (error != std::errc() || (rest != end && *rest != ' ') || length > PmiWire::kLongest) {
      return Status::format(Code::kSystem,
                            "the process manager began an answer with \"{}\" in PMI-2: expected a "
                            "length of up to {}",
                            *head, PmiWire::kLongest);
    }
    auto body = wire_.read_bytes(length, deadline_ms);
    if (!body.ok()) return body.status();
    Fields fields = read_fields(*body, ';');
    if (fields["cmd"] == answer && fields["rc"] == "0") return fields;
    return Status::format(Code::kSystem,
                          "the process manager answered \"{}\" in PMI-2: expected cmd={} and rc=0",
                          body->substr(0, 100), answer);
  }

  PmiWire wire_;
  const std::string job_;
};

}  // namespace

Result<std::unique_ptr<Courier>> make_pmi2(const JobPlace& place, int64_t deadline_ms) {
  auto wire = PmiWire::open(place.route.pmi.fd);
  if (!wire.ok()) return wire.status();
  auto made = std::make_unique<Pmi2>(*std::move(wire), place.rank, place.route.pmi.job);
  TUTTI_RETURN_IF_ERROR(made->begin(place.rank, deadline_ms));
  return std::unique_ptr<Courier>(std::move(made));
}

}  // namespace tutti::couriers
