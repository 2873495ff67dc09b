// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <typeinfo>
#include <utility>

namespace limpid {

/// Shared data of the producer of a frame. It can be read only as the type that was stored.
class Attachment {
 public:
  Attachment() = default;
  template <typename Data>
  Attachment(std::shared_ptr<Data> data) : data_(std::move(data)), type_(&typeid(Data)) {}

  /// The stored data; null if there is none, or if it has another type.
  template <typename Data>
  const Data* get() const {
    return type_ != nullptr && *type_ == typeid(Data) ? static_cast<const Data*>(data_.get()) : nullptr;
  }
  void reset() { *this = Attachment(); }
  /// True for the same data, not for equal data.
  bool operator==(const Attachment& other) const { return data_ == other.data_; }

 private:
  std::shared_ptr<const void> data_;
  const std::type_info* type_ = nullptr;
};

}  // namespace limpid
