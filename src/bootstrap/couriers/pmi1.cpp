// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// PMI-1 on the wire: lines of "cmd=... name=value ...". An MPI library that the program starts
// later uses the same connection, so nothing is ever left unread on it.
#include "bootstrap/couriers/key_values.hpp"
#include "bootstrap/couriers/pmi_wire.hpp"
#include "core/wait.hpp"

namespace tutti::couriers {
namespace {

class Pmi1 final : public KeyValues {
 public:
  Pmi1(PmiWire wire, int rank) : KeyValues(rank), wire_(std::move(wire)) {}

  ~Pmi1() override {
    if (may_say_goodbye()) (void)ask("cmd=finalize", "finalize_ack", now_ms() + kGoodbyeMs);
  }
  Pmi1(const Pmi1&) = delete;

  Status begin(int64_t deadline_ms) {
    auto hello = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline_ms);
    if (!hello.ok()) return hello.status();
    if (!succeeded(*hello)) {
      return {Code::kUnsupported, "the process manager speaks no PMI of version 1"};
    }
    auto space = ask("cmd=get_my_kvsname", "my_kvsname", deadline_ms);
    if (!space.ok()) return space.status();
    space_ = (*space)["kvsname"];
    greeted();
    return {};
  }

 protected:
  Status put(const std::string& key, const std::string& value, int64_t deadline_ms) override {
    auto answer = ask(fmt::format("cmd=put kvsname={} key={} value={}", space_, key, value),
                      "put_result", deadline_ms);
    if (!answer.ok()) return answer.status();
    if (succeeded(*answer)) return {};
    return Status::format(Code::kSystem, "the process manager refuses the key {}: {}", key,
                          (*answer)["msg"]);
  }
  Result<std::optional<std::string>> get(const std::string& key, int64_t deadline_ms) override {
    auto answer =
        ask(fmt::format("cmd=get kvsname={} key={}", space_, key), "get_result", deadline_ms);
    if (!answer.ok()) return answer.status();
    if (!succeeded(*answer)) return std::optional<std::string>();
    return std::optional<std::string>((*answer)["value"]);
  }
  Status fence(int64_t deadline_ms) override {
    return ask("cmd=barrier_in", "barrier_out", deadline_ms).status();
  }

 private:
  static bool succeeded(const Fields& answer) {
    const auto code = answer.find("rc");
    return code == answer.end() || code->second == "0";
  }

  Result<Fields> ask(const std::string& line, const char* answer, int64_t deadline_ms) {
    TUTTI_RETURN_IF_ERROR(wire_.send(line + "\n", deadline_ms));
    return receive(answer, deadline_ms);
  }
  Result<Fields> receive(const char* answer, int64_t deadline_ms) {
    auto line = wire_.read_line(deadline_ms);
    if (!line.ok()) return line.status();
    Fields fields = read_fields(*line, ' ');
    if (fields["cmd"] == answer) return fields;
    return Status::format(Code::kSystem,
                          "the process manager answered \"{}\" in PMI-1: expected cmd={}",
                          line->substr(0, 100), answer);
  }

  PmiWire wire_;
  std::string space_;
};

}  // namespace

Result<std::unique_ptr<Courier>> make_pmi1(const JobPlace& place, int64_t deadline_ms) {
  auto wire = PmiWire::open(place.route.pmi.fd);
  if (!wire.ok()) return wire.status();
  auto made = std::make_unique<Pmi1>(*std::move(wire), place.rank);
  TUTTI_RETURN_IF_ERROR(made->begin(deadline_ms));
  return std::unique_ptr<Courier>(std::move(made));
}

}  // namespace tutti::couriers
