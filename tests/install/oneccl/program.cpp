// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A program of oneCCL's C++ API, of one rank. As oneCCL's own examples do, it includes nothing for
// what it uses of the standard library: oneCCL's header brings that along.
#include <oneapi/ccl.hpp>

int main() {
  std::stringstream text;
  text << std::bitset<3>(5) << *std::set<int>({7}).begin() << std::numeric_limits<char>::digits;
  std::cout << text.str() << std::endl;
  if (text.str() != "10177") throw std::runtime_error("not 10177");
  oneapi::ccl::init();
  auto comm = oneapi::ccl::create_communicator(1, 0, oneapi::ccl::create_main_kvs());
  const float x = 21;
  float sum = 0;
  oneapi::ccl::allreduce(&x, &sum, 1, oneapi::ccl::reduction::sum, comm).wait();
  return sum == 21 ? 0 : 1;
}
