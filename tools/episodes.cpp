// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/episodes.hpp"

#include <algorithm>

namespace tutti::tools {

using namespace tutti::inspect;

// A job that spends its time within its calls may be meant so.
bool Episodes::is_slow(const Finding& finding) const {
  return finding.outcome == Outcome::kSlow && finding.cause != Cause::kCalls &&
         finding.share >= slow_share_;
}

void Episodes::end(Episode& episode, int64_t now_ms, std::vector<News>& news) {
  if (!episode.said.empty()) {
    const auto lasted_ms = static_cast<double>(now_ms - episode.since_ms);
    news.push_back({.begins = false, .outcome = episode.outcome, .lasted_s = lasted_ms / 1000});
  }
  episode.said.clear();
  episode.seen = 0;
}

void Episodes::take(Episode& episode, const Finding* finding, int64_t now_ms,
                    std::vector<News>& news) {
  if (finding == nullptr) {
    episode.seen = 0;
    if (++episode.quiet >= episode.looks) end(episode, now_ms, news);
    return;
  }
  episode.quiet = 0;
  Key key = {finding->cause, finding->ranks};
  episode.seen = key == episode.last ? episode.seen + 1 : 1;
  episode.last = key;
  if (episode.seen < episode.looks || episode.said.contains(key)) return;
  if (episode.said.empty()) {
    const bool hangs = episode.outcome == Outcome::kHangs;
    episode.since_ms = now_ms - (hangs ? static_cast<int64_t>(finding->waited_s * 1000) : 0);
  }
  episode.said.insert(std::move(key));
  const auto lasted_ms = static_cast<double>(now_ms - episode.since_ms);
  news.push_back({.begins = true,
                  .outcome = episode.outcome,
                  .finding = *finding,
                  .lasted_s = lasted_ms / 1000});
}

std::vector<Episodes::News> Episodes::take(const Verdict& verdict, int64_t now_ms) {
  std::vector<News> news;
  const Finding* const first = verdict.findings.empty() ? nullptr : &verdict.findings.front();
  const bool hangs = verdict.outcome == Outcome::kHangs;
  take(hung_, hangs ? first : nullptr, now_ms, news);
  if (hangs) return news;
  const auto slow =
      std::ranges::find_if(verdict.findings, [this](const Finding& one) { return is_slow(one); });
  const bool is_slow = verdict.outcome == Outcome::kSlow && slow != verdict.findings.end();
  take(slow_, is_slow ? &*slow : nullptr, now_ms, news);
  return news;
}

std::vector<Episodes::News> Episodes::end(int64_t now_ms) {
  std::vector<News> news;
  end(hung_, now_ms, news);
  end(slow_, now_ms, news);
  return news;
}

}  // namespace tutti::tools
