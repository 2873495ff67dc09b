// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace limpid {

/// A failure, described in one sentence for the user: what failed and where (the file, the option or the
/// frame). The program prints `what()` and exits with code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A request that could never work (a bad parameter, an unknown name). The program exits with code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The host or a device has too little memory. The sentence names the purpose of the allocation.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The sentence that replaces the text of std::bad_alloc.
inline constexpr const char* kOutOfMemory = "there is not enough memory";

}  // namespace limpid
