// SPDX-License-Identifier: MIT
#pragma once

// Frames in the memory of a CUDA device as textures of OpenGL, by functions of CUDA's driver (libcuda), which
// is loaded at run time. Private to io.

#include <cstddef>
#include <deque>
#include <memory>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/screen/gl.h"

namespace limpid::io {

struct CudaDriver;

/// A CUDA device that renders for OpenGL's current context, with its primary context, which CUDA engines use
/// as well.
class CudaDisplay : NotCopyable {
 public:
  /// Throws Error, with the reason, if the device does not render for the current context of OpenGL.
  explicit CudaDisplay(int device);
  ~CudaDisplay();

  MemoryDomain memory() const { return cuda_memory(device_); }
  void* context() const { return context_; }
  /// The functions of the driver; they require a Scope.
  const CudaDriver& driver() const { return *driver_; }
  /// Returns memory of the device, which is freed with the last reference to it. Throws OutOfMemory.
  static std::shared_ptr<std::byte> allocate(const std::shared_ptr<CudaDisplay>& display, std::size_t bytes);

  /// Makes the device the current one of this thread.
  class Scope : NotCopyable {
   public:
    explicit Scope(const CudaDisplay& display);
    ~Scope();

   private:
    const CudaDisplay& display_;
  };

 private:
  std::unique_ptr<const CudaDriver> driver_;
  int device_;
  void* context_ = nullptr;
};

/// Makes frames in the device's memory, from a pool. Thread-safe. Frames may outlive it.
FramePool::Allocator frames_in_memory_of(const std::shared_ptr<CudaDisplay>& display);

/// A texture that CUDA writes. Belongs to the thread of OpenGL's context.
class CudaTexture : NotCopyable {
 public:
  /// Throws Error if CUDA cannot write textures of the format.
  CudaTexture(std::shared_ptr<CudaDisplay> display, Size size, const TextureFormat& as);
  ~CudaTexture();

  const GlTexture& texture() const { return texture_; }
  /// The handle of the texture in CUDA.
  void* resource() const { return resource_; }

 private:
  std::shared_ptr<CudaDisplay> display_;
  GlTexture texture_;
  void* resource_ = nullptr;
};

/// Textures for the color planes of a format.
std::deque<CudaTexture> cuda_textures(const std::shared_ptr<CudaDisplay>& display, const FrameFormat& format,
                                      const TextureFormat& as);

/// Copies the color planes of a frame in the device's memory to their textures, and waits until that is done.
void copy_to_textures(const Frame& frame, const CudaDisplay& display,
                      const std::deque<CudaTexture>& textures);

}  // namespace limpid::io
