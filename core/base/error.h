#pragma once

#include <stdexcept>

namespace limpid {

/// A failure told in one sentence for a person: what failed and where (the file, the option or the frame).
/// The program prints `what()` and exits with code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A request that could never work (a bad parameter, an unknown name). The program exits with code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Memory, the host's or a device's, does not suffice; it tells for what.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The sentence for std::bad_alloc, whose own text is not for people.
inline constexpr const char* kOutOfMemory = "there is not enough memory";

}  // namespace limpid
