// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace limpid::test {

/// A socket that listens on this machine's loopback device, at a free port.
class LocalListener {
 public:
  LocalListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // port 0: any
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, length) != 0 || ::listen(socket_, 2) != 0 ||
        ::getsockname(socket_, any, &length) != 0) {
      throw std::system_error(errno, std::generic_category(), "server");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  ~LocalListener() { ::close(socket_); }

  int descriptor() const { return socket_; }
  /// Host and port, as in URLs.
  const std::string& address() const { return address_; }
  /// Ends waits for connections; may be called from any thread.
  void shut_down() const { ::shutdown(socket_, SHUT_RDWR); }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string address_;
};

}  // namespace limpid::test
