// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The measurement of the network, as both of its sides, and the figures that come of it.
#include "comm/measure_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/clock.hpp"

namespace tutti {
namespace {

constexpr Tag kAskTag = 1;
constexpr Tag kAnswerTag = 2;

constexpr size_t kWarmUps = 2;  // round trips that do not count
constexpr size_t kMostTrips = 15;
constexpr double kTripsEnd_s = 5e-3;

// Of the bytes, per host. Shaped lines let some 100 KB pass at once, at each end: what comes before
// kSkipped does not count, and messages grow slowly at first, lest much is under way on a slow line
// once its rate shows.
constexpr uint64_t kMostBytes = 4 << 20;
constexpr uint64_t kSkipped = 512 << 10;
constexpr uint64_t kFirstMessage = 32 << 10;
constexpr uint64_t kLongestMessage = 512 << 10;
constexpr int kMessagesPerLength = 4;
constexpr double kQuick_s = 0.3e-3;  // messages that take no longer may become longer
constexpr double kStreamEnd_s = 30e-3;
constexpr uint64_t kLeastMessage = 4 << 10;

constexpr size_t kParts = 5;  // of a stream, for the median

// What no network is beyond: figures stay such that costs can be compared.
constexpr double kLeastMessage_s = 1e-7;
constexpr double kMostMessage_s = 1;
constexpr double kLeastByte_s = 1e-12;
constexpr double kMostByte_s = 1e-3;

constexpr size_t kMostAhead = 2;

// Lines of hosts are seldom so unlike one another that one takes so many times as long.
constexpr double kUnlike = 1.5;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// What one rank asks for.
class Course {
 public:
  virtual ~Course() = default;
  // Messages under way at once.
  [[nodiscard]] virtual size_t ahead() const = 0;
  // How long the next is to be; 0: it is enough.
  virtual uint64_t next(double now) = 0;
  virtual void arrived(uint64_t bytes, double now) = 0;
  // The longest message that it asks for.
  [[nodiscard]] virtual uint64_t longest() const = 0;
  // In seconds: what it has found out; 0 for nothing.
  [[nodiscard]] virtual double figure() const = 0;
};

class RoundTrips final : public Course {
 public:
  [[nodiscard]] size_t ahead() const override { return 1; }
  uint64_t next(double now) override {
    if (trips_.empty() && warm_ups_ == 0) begun_ = now;
    const bool late = now - begun_ >= kTripsEnd_s && !trips_.empty();
    if (trips_.size() == kMostTrips || late) return 0;
    asked_ = now;
    return sizeof(uint64_t);
  }
  void arrived(uint64_t /*bytes*/, double now) override {
    if (warm_ups_++ >= kWarmUps) trips_.push_back(now - asked_);
  }
  [[nodiscard]] uint64_t longest() const override { return sizeof(uint64_t); }
  // Of a message, by the quickest: what else runs on the cores just now makes others slower by far.
  [[nodiscard]] double figure() const override {
    return trips_.empty() ? 0 : *std::ranges::min_element(trips_) / 2;
  }

 private:
  double begun_ = 0;
  double asked_ = 0;
  size_t warm_ups_ = 0;
  std::vector<double> trips_;
};

class Stream final : public Course {
 public:
  // That many ranks share the line.
  explicit Stream(int sharing)
      : sharing_(static_cast<uint64_t>(sharing)),
        longest_(share_of(kLongestMessage)),
        length_(share_of(kFirstMessage)) {}
  [[nodiscard]] uint64_t longest() const override { return longest_; }
  [[nodiscard]] size_t ahead() const override { return kMostAhead; }
  uint64_t next(double now) override {
    if (arrivals_.empty()) arrivals_.push_back({now, 0});
    const bool late = now - arrivals_.front().at_s >= kStreamEnd_s;
    return late || asked_ >= share_of(kMostBytes) ? 0 : add(length_);
  }
  void arrived(uint64_t bytes, double now) override {
    const Arrival last = arrivals_.back();
    arrivals_.push_back({now, last.bytes + bytes});
    if (now - last.at_s <= kQuick_s && ++quick_ % kMessagesPerLength == 0) {
      length_ = std::min(2 * length_, longest_);
    }
  }
  // Per byte.
  [[nodiscard]] double figure() const override {
    return byte_seconds(arrivals_, share_of(kSkipped)).value_or(0);
  }

 private:
  [[nodiscard]] uint64_t share_of(uint64_t bytes) const {
    return std::max(bytes / sharing_, kLeastMessage);
  }
  uint64_t add(uint64_t bytes) {
    asked_ += bytes;
    return bytes;
  }

  const uint64_t sharing_;
  const uint64_t longest_;
  uint64_t length_;
  uint64_t asked_ = 0;
  int quick_ = 0;
  std::vector<Arrival> arrivals_;
};

// Asks one rank as a course has it and serves another (or the same) until that has enough. What is
// under way when it goes is forgotten.
class Dialogue {
 public:
  Dialogue(Endpoint& network, int asked, int asking, uint64_t longest)
      : network_(network), asked_(asked), asking_(asking), longest_(longest), given_(longest) {}
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;

  Status run(Course& course, const Waiter& waiter);

 private:
  struct Question {
    uint64_t bytes = 0;
    bool open = false;
    Transfer out;
    Transfer answer;
    std::vector<std::byte> memory;
  };

  [[nodiscard]] bool over() const { return end_.done && served_ && !serving(); }
  [[nodiscard]] bool serving() const;
  Status advance(Course& course);
  Status ask(Course& course);
  Status take(Course& course);
  Status serve();
  void listen() {
    heard_ = {};
    network_.recv(asking_, kAskTag, kExactTag, &wanted_, sizeof wanted_, heard_);
  }

  Endpoint& network_;
  const int asked_;
  const int asking_;
  const uint64_t longest_;
  // As one who asks.
  std::array<Question, kMostAhead> questions_;
  size_t first_ = 0;  // the oldest that is open, if one is
  size_t open_ = 0;
  bool enough_ = false;  // no more questions
  bool said_enough_ = false;
  const uint64_t nothing_ = 0;
  Transfer end_;
  // As one who is asked.
  uint64_t wanted_ = 0;
  Transfer heard_;
  bool served_ = false;
  std::array<Transfer, kMostAhead> answers_;
  std::array<bool, kMostAhead> answering_{};
  std::vector<std::byte> given_;
};

Dialogue::~Dialogue() {
  const auto forget = [this](Transfer& transfer) {
    if (transfer.internal != nullptr && !transfer.done) network_.cancel(transfer);
  };
  for (Question& question : questions_) {
    forget(question.out);
    forget(question.answer);
  }
  for (Transfer& answer : answers_) forget(answer);
  forget(heard_);
  forget(end_);
}

bool Dialogue::serving() const {
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (answering_[i] && !answers_[i].done) return true;
  }
  return false;
}

Status Dialogue::run(Course& course, const Waiter& waiter) {
  for (Question& question : questions_) question.memory.resize(longest_);
  listen();
  Status failure;
  const WaitEnd end = wait_until(waiter, [&] {
    if (network_.poll()) note_move();
    failure = advance(course);
    return !failure.ok() || over();
  });
  if (!failure.ok() || end == WaitEnd::kReady) return failure;
  const bool waits_for_answers = !end_.done;
  return Status::format(Code::kTimeout, "rank {} did not {} in time while the network was measured",
                        waits_for_answers ? asked_ : asking_,
                        waits_for_answers ? "answer" : "end its questions");
}

Status Dialogue::advance(Course& course) {
  TUTTI_RETURN_IF_ERROR(serve());
  TUTTI_RETURN_IF_ERROR(take(course));
  TUTTI_RETURN_IF_ERROR(ask(course));
  return end_.done ? end_.status : Status();
}

Status Dialogue::ask(Course& course) {
  while (!enough_ && open_ < course.ahead()) {
    Question& question = questions_[(first_ + open_) % kMostAhead];
    question.bytes = course.next(now_s());
    enough_ = question.bytes == 0;
    if (enough_) break;
    question.out = {};
    question.answer = {};
    network_.recv(asked_, kAnswerTag, kExactTag, question.memory.data(), question.bytes,
                  question.answer);
    network_.send(asked_, kAskTag, &question.bytes, sizeof question.bytes, question.out);
    ++open_;
  }
  if (enough_ && open_ == 0 && !said_enough_) {
    said_enough_ = true;
    network_.send(asked_, kAskTag, &nothing_, sizeof nothing_, end_);
  }
  return {};
}

Status Dialogue::take(Course& course) {
  while (open_ > 0) {
    Question& question = questions_[first_];
    if (question.out.done) TUTTI_RETURN_IF_ERROR(question.out.status);
    if (question.answer.done) TUTTI_RETURN_IF_ERROR(question.answer.status);
    if (!question.out.done || !question.answer.done) break;
    course.arrived(question.bytes, now_s());
    first_ = (first_ + 1) % kMostAhead;
    --open_;
  }
  return {};
}

Status Dialogue::serve() {
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (!answering_[i] || !answers_[i].done) continue;
    TUTTI_RETURN_IF_ERROR(answers_[i].status);
    answering_[i] = false;
  }
  while (!served_ && heard_.done) {
    TUTTI_RETURN_IF_ERROR(heard_.status);
    if (wanted_ == 0) {
      served_ = true;
      break;
    }
    if (wanted_ > longest_) {
      return Status::format(Code::kInternal, "rank {} asked for {} bytes, {} are the most", asking_,
                            wanted_, longest_);
    }
    // An answer may have come before this rank knows that it went: its place is not free yet.
    const auto place =
        static_cast<size_t>(std::ranges::find(answering_, false) - answering_.begin());
    if (place == answering_.size()) break;
    answering_[place] = true;
    answers_[place] = {};
    network_.send(asking_, kAnswerTag, given_.data(), wanted_, answers_[place]);
    listen();
  }
  return {};
}

// ---- all ranks ---------------------------------------------------------------------------------

struct Report {
  double figure;
  int32_t code;
  char text[1000];
};

// Every rank's figure, or the first error that any has met.
Result<std::vector<double>> tell(Exchange& exchange, const Status& status, double figure) {
  Report mine{};
  mine.figure = figure;
  mine.code = static_cast<int32_t>(status.code());
  put_text(mine.text, status.message());
  auto all = gather_values(exchange, mine);
  if (!all.ok()) return all.status();
  std::vector<double> figures;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    const Report& report = (*all)[rank];
    if (report.code != 0) {
      return Status::format(static_cast<Code>(report.code), "rank {}: {}", rank,
                            text_of(report.text));
    }
    figures.push_back(report.figure);
  }
  return figures;
}

// What a course comes to on each rank, the same on all. One course at a time: nobody's long
// messages delay another's short ones.
Result<std::vector<double>> measure_all(Exchange& exchange, const Hosts& hosts, Endpoint& network,
                                        const Waiter& waiter, Course& course) {
  const int rank = exchange.rank();
  const int place = hosts.place(rank);
  const auto at = [&](int host) {
    return hosts.ranks_of[static_cast<size_t>(host % hosts.count())][static_cast<size_t>(place)];
  };
  Status status;
  double figure = 0;
  if (place < hosts.columns()) {
    const int host = hosts.host(rank);
    Dialogue dialogue(network, at(host + 1), at(host + hosts.count() - 1), course.longest());
    status = dialogue.run(course, waiter);
    figure = course.figure();
  }
  auto all = tell(exchange, status, figure);
  if (!all.ok()) return all.status().with_context("measuring the network");
  return all;
}

// The seconds per byte of each host's line, as far as they were measured.
std::vector<double> line_byte_s(const Hosts& hosts, std::span<const MeasuredFigures> ranks) {
  std::vector<double> lines;
  for (const std::vector<int>& neighbors : hosts.ranks_of) {
    double rate = 0;
    int measured = 0;
    for (const int rank : neighbors) {
      const double byte_s = ranks[static_cast<size_t>(rank)].byte_s;
      if (!std::isfinite(byte_s) || byte_s <= 0) continue;
      rate += 1 / byte_s;
      ++measured;
    }
    if (measured > 0) lines.push_back(measured / (rate * hosts.columns()));
  }
  return lines;
}

}  // namespace

std::optional<double> byte_seconds(std::span<const Arrival> arrivals, uint64_t skipped) {
  if (arrivals.size() < 2) return std::nullopt;
  const double half = (arrivals.front().at_s + arrivals.back().at_s) / 2;
  const auto counts = [&](const Arrival& arrival) {
    return arrival.bytes >= skipped || arrival.at_s >= half;
  };
  auto from = std::ranges::find_if(arrivals, counts);
  if (from == arrivals.end() - 1) --from;  // one message alone: from the one before
  const uint64_t part = (arrivals.back().bytes - from->bytes) / kParts;
  std::vector<double> rates;
  for (auto at = from + 1; at != arrivals.end(); ++at) {
    const uint64_t bytes = at->bytes - from->bytes;
    if (bytes == 0 || bytes < part) continue;
    rates.push_back((at->at_s - from->at_s) / static_cast<double>(bytes));
    from = at;
  }
  if (rates.empty()) return std::nullopt;
  return median(std::move(rates));
}

NetworkFigures agreed_figures(const Hosts& hosts, std::span<const MeasuredFigures> ranks) {
  NetworkFigures agreed;
  std::vector<double> latencies;
  for (const MeasuredFigures& own : ranks) {
    if (std::isfinite(own.message_s) && own.message_s > 0) latencies.push_back(own.message_s);
  }
  if (!latencies.empty()) {
    agreed.message_s = std::clamp(median(std::move(latencies)), kLeastMessage_s, kMostMessage_s);
  }
  const std::vector<double> lines = line_byte_s(hosts, ranks);
  if (!lines.empty()) {
    agreed.line_byte_s = std::clamp(std::ranges::max(lines), kLeastByte_s, kMostByte_s);
  }
  agreed.origin = "measured when the ranks met";
  return agreed;
}

bool lines_differ(const Hosts& hosts, std::span<const MeasuredFigures> ranks) {
  const std::vector<double> lines = line_byte_s(hosts, ranks);
  return !lines.empty() && std::ranges::max(lines) > kUnlike * std::ranges::min(lines);
}

Result<NetworkFigures> measure_network(Exchange& exchange, const Hosts& hosts, Endpoint& network,
                                       const Waiter& waiter) {
  RoundTrips trips;
  auto latencies = measure_all(exchange, hosts, network, waiter, trips);
  if (!latencies.ok()) return latencies.status();
  std::vector<MeasuredFigures> ranks;
  for (const double message_s : *latencies) ranks.push_back({message_s, 0});
  for (int time = 0; time == 0 || (time == 1 && lines_differ(hosts, ranks)); ++time) {
    Stream stream(hosts.columns());
    auto rates = measure_all(exchange, hosts, network, waiter, stream);
    if (!rates.ok()) return rates.status();
    for (size_t r = 0; r < ranks.size(); ++r) {
      const double byte_s = (*rates)[r];
      ranks[r].byte_s = time == 0 ? byte_s : std::min(ranks[r].byte_s, byte_s);
    }
  }
  return agreed_figures(hosts, ranks);
}

}  // namespace tutti
