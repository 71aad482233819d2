// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How options are described, alike in all subcommands: in --help, in the manual, and for the test
// that a name has one meaning. And what may have been meant by a word that is none.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// The names of a collective where there is one to choose: it stands by itself, or behind an option.
inline constexpr const char* kCollectiveNames = "COLLECTIVE,-c,--collective,--collectives";

// The text with `to` wherever it had `from`.
std::string replaced(std::string text, std::string_view from, std::string_view to);
// "N", "FILE", "core|none": what is to be given; empty for what takes no value.
std::string value_text(const CLI::Option& option);
// The bounds of its value: "1 to 4096"; empty if there are none.
std::string bounds_text(const CLI::Option& option);
// "[16]", or "[a,b]" of several values; empty if it has none.
std::string default_text(const CLI::Option& option);

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

// Every option of every subcommand, in tabs: subcommand, names, value, description.
std::string all_options(const CLI::App& app);

// "; did you mean bench?" with the nearest of `known`; empty if none is near.
std::string did_you_mean(const std::string& given, const std::vector<std::string>& known);
// A hint for an option that this subcommand does not have.
std::string did_you_mean_option(const std::string& given, const CLI::App& command);

}  // namespace tutti
