// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One collective call with its data, its check against the reference, and its guards: what the
// conformance tests repeat over types, operations, counts and forms.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "support/buffer.hpp"
#include "support/elements.hpp"
#include "support/ranks.hpp"

namespace tutti_test {

enum class Form { kBlocking, kNonBlocking, kPersistent };
inline constexpr Form kForms[] = {Form::kBlocking, Form::kNonBlocking, Form::kPersistent};

struct Variant {
  Form form = Form::kBlocking;
  bool in_place = false;
  bool skewed = false;  // pointers not even aligned to an element
};

// A call in its three forms. It refers to its arguments, which must outlive it.
struct Call {
  std::function<tutti_status()> blocking;
  std::function<tutti_status(tutti_request_t*)> non_blocking;
  std::function<tutti_status(tutti_request_t*)> persistent;
};
#define TUTTI_TEST_CALL(name, ...)                                                    \
  ::tutti_test::Call {                                                                \
    [&] { return tutti_##name(__VA_ARGS__); },                                        \
        [&](tutti_request_t* made) { return tutti_i##name(__VA_ARGS__, made); },      \
        [&](tutti_request_t* made) { return tutti_##name##_init(__VA_ARGS__, made); } \
  }

// Of a call, for failures.
std::string describe(const char* name, tutti_type type, const char* op, size_t count,
                     const Variant& variant);

// Throws with the error's text: after it this rank cannot keep in step with the others.
void require_ok(tutti_status status, const std::string& what);

// Every rank makes the same calls on its Collectives in the same order. A wrong result is a failure
// of the test (the first few are reported) and does not stop the rank; an error does.
class Collectives {
 public:
  Collectives(int rank, tutti_comm_t comm);

  void allreduce(tutti_type type, Op op, size_t count, const Variant& variant);
  void reduce_scatter(tutti_type type, Op op, size_t count, const Variant& variant);
  void broadcast(tutti_type type, size_t count, int root, const Variant& variant);
  void allgather(tutti_type type, size_t count, const Variant& variant);
  // Here and in alltoallv, of calls in place every other one is so on the odd ranks only.
  void alltoall(tutti_type type, size_t count, const Variant& variant);
  void reduce(tutti_type type, Op op, size_t count, int root, const Variant& variant);
  void gather(tutti_type type, size_t count, int root, const Variant& variant);
  void scatter(tutti_type type, size_t count, int root, const Variant& variant);
  // Blocks of different sizes, some empty, the largest of 3/2 count elements; with gaps between
  // them where `skewed`.
  void allgatherv(tutti_type type, size_t count, const Variant& variant);
  void reduce_scatterv(tutti_type type, Op op, size_t count, const Variant& variant);
  void alltoallv(tutti_type type, size_t count, const Variant& variant);
  void gatherv(tutti_type type, size_t count, int root, const Variant& variant);
  void scatterv(tutti_type type, size_t count, int root, const Variant& variant);
  // To the next rank, from the previous one.
  void send_recv(tutti_type type, size_t count, const Variant& variant);
  void barrier(const Variant& variant);

  // The next call is one of a group: after it was recorded, and before it is checked, `rest` makes
  // the group's other calls and ends it. Of forms, persistent requests take no part in groups.
  void in_group(std::function<void()> rest) { rest_ = std::move(rest); }

  // Buffers of the next calls are of tutti_alloc, or not. May differ from rank to rank.
  void use_given_memory(bool use) { allocator_ = use ? comm_ : nullptr; }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  // The data of all ranks for one (type, op), and the result.
  struct Data {
    std::vector<Bytes> inputs;
    Bytes result;
  };
  // Where blocks of different sizes lie.
  struct Uneven {
    std::vector<size_t> counts;
    std::vector<size_t> offsets;
    size_t total = 0;
    bool gaps = false;
    // What is passed to the call.
    [[nodiscard]] const size_t* displs() const { return gaps ? offsets.data() : nullptr; }
  };
  const Data& data(tutti_type type, Op op);
  // prepare and check run once per call; a persistent request is started several times.
  void run(const Call& call, Form form, const std::function<void()>& prepare,
           const std::function<void()>& check);
  [[nodiscard]] bool exchanges_in_place(const Variant& variant) const {
    return variant.in_place && (round_ % 2 == 0 || rank_ % 2 == 1);
  }
  void run_in_group(const Call& call, Form form, const std::function<void()>& prepare,
                    const std::function<void()>& check);
  void finish(tutti_request_t request);
  void upload();
  void download();
  template <typename Count>
  [[nodiscard]] Uneven uneven(const Variant& variant, Count count) const;
  void expect(const std::string& difference, const GuardedBuffer& written);
  void expect_gap(const Uneven& blocks, size_t rank, const GuardedBuffer& recv, tutti_type type);

  int rank_;
  int ranks_ = 0;
  tutti_comm_t comm_;
  tutti_comm_t allocator_ = nullptr;  // of memory
  uint64_t round_ = 0;  // counts calls, the same on every rank; chooses the data and how to wait
  int reported_ = 0;
  bool uploaded_ = false;       // the buffers of the call to come, if they have twins (Mirror)
  bool receiving_ = false;      // something is on its way to a buffer: none is looked at
  std::string title_;           // of the call, for failures
  std::function<void()> rest_;  // as in in_group()
  std::vector<tutti_request_t> in_group_;  // of the group's calls that nobody has waited for
  std::map<std::tuple<tutti_type, Op, uint64_t>, Data> data_;
};

}  // namespace tutti_test
