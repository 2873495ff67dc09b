// SPDX-License-Identifier: MIT
#include "io/screen/cuda_display.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/system.h"

namespace limpid::io {

// Declarations of the CUDA driver's interface (CUDA Driver API: contexts, memory, streams, graphics
// interoperability, OpenGL). The toolkit's header is not required for building.
struct CudaDriver {
  using Result = int;
  using Pointer = unsigned long long;
  enum class MemoryType : int { kHost = 1, kDevice = 2, kArray = 3 };
  // CUDA_MEMCPY2D
  struct Copy2d {
    std::size_t source_x = 0;
    std::size_t source_y = 0;
    MemoryType source_type = MemoryType::kDevice;
    const void* source_host = nullptr;
    Pointer source_device = 0;
    void* source_array = nullptr;
    std::size_t source_pitch = 0;
    std::size_t target_x = 0;
    std::size_t target_y = 0;
    MemoryType target_type = MemoryType::kArray;
    void* target_host = nullptr;
    Pointer target_device = 0;
    void* target_array = nullptr;
    std::size_t target_pitch = 0;
    std::size_t width = 0;  // in bytes
    std::size_t height = 0;
  };

  CudaDriver();
  // Throws Error for results other than success.
  void check(Result result, const std::string& what) const;

  Result (*init)(unsigned flags) = nullptr;
  Result (*name_of_error)(Result result, const char** name) = nullptr;
  Result (*devices_of_opengl)(unsigned* count, int* devices, unsigned most, int list) = nullptr;
  Result (*retain_context)(void** context, int device) = nullptr;
  Result (*release_context)(int device) = nullptr;
  Result (*push_context)(void* context) = nullptr;
  Result (*pop_context)(void** context) = nullptr;
  Result (*allocate)(Pointer* memory, std::size_t bytes) = nullptr;
  Result (*free)(Pointer memory) = nullptr;
  Result (*synchronize)(void* stream) = nullptr;
  Result (*wait_for_event)(void* stream, void* event, unsigned flags) = nullptr;
  Result (*copy_2d)(const Copy2d* copy, void* stream) = nullptr;
  Result (*register_texture)(void** resource, GLuint texture, GLenum target, unsigned flags) = nullptr;
  Result (*unregister)(void* resource) = nullptr;
  Result (*map)(unsigned count, void** resources, void* stream) = nullptr;
  Result (*unmap)(unsigned count, void** resources, void* stream) = nullptr;
  Result (*array_of)(void** array, void* resource, unsigned index, unsigned level) = nullptr;

 private:
  template <typename Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(find_function(library_, name));
    if (function == nullptr) {
      throw Error(std::string("the CUDA driver has no ") + name);
    }
  }

  void* library_;  // never closed: memory of the device may live until the process ends
};

CudaDriver::CudaDriver() : library_(load_library("libcuda.so.1")) {
  load(init, "cuInit");
  load(name_of_error, "cuGetErrorName");
  load(devices_of_opengl, "cuGLGetDevices_v2");
  load(retain_context, "cuDevicePrimaryCtxRetain");
  load(release_context, "cuDevicePrimaryCtxRelease_v2");
  load(push_context, "cuCtxPushCurrent_v2");
  load(pop_context, "cuCtxPopCurrent_v2");
  load(allocate, "cuMemAlloc_v2");
  load(free, "cuMemFree_v2");
  load(synchronize, "cuStreamSynchronize");
  load(wait_for_event, "cuStreamWaitEvent");
  load(copy_2d, "cuMemcpy2DAsync_v2");
  load(register_texture, "cuGraphicsGLRegisterImage");
  load(unregister, "cuGraphicsUnregisterResource");
  load(map, "cuGraphicsMapResources");
  load(unmap, "cuGraphicsUnmapResources");
  load(array_of, "cuGraphicsSubResourceGetMappedArray");
}

void CudaDriver::check(Result result, const std::string& what) const {
  if (result != 0) {
    const char* name = nullptr;
    static_cast<void>(name_of_error(result, &name));
    throw Error("CUDA can't " + what + ": " +
                (name != nullptr ? std::string(name) : "error " + std::to_string(result)));
  }
}

namespace {

// Textures that CUDA may write while this object exists. OpenGL's later calls wait for the writing.
class CudaMapping : NotCopyable {
 public:
  CudaMapping(const CudaDriver& driver, unsigned count, void** resources)
      : driver_(driver), count_(count), resources_(resources) {
    driver.check(driver.map(count, resources, nullptr), "write to the window");
  }
  ~CudaMapping() { driver_.unmap(count_, resources_, nullptr); }

 private:
  const CudaDriver& driver_;
  unsigned count_;
  void** resources_;
};

// Calls `free` in the context of the display. Does nothing if the context is gone, and its memory with it.
template <typename Free>
void release(const CudaDisplay& display, const Free& free) {
  const CudaDriver& driver = display.driver();
  if (driver.push_context(display.context()) == 0) {
    free();
    void* context = nullptr;
    driver.pop_context(&context);
  }
}

}  // namespace

CudaDisplay::CudaDisplay(int device) : driver_(std::make_unique<CudaDriver>()), device_(device) {
  driver_->check(driver_->init(0), "begin");
  constexpr int kAllDevices = 1;  // CU_GL_DEVICE_LIST_ALL
  std::array<int, 16> devices{};
  unsigned count = 0;
  // Fails for OpenGL of other makers, and in software.
  const CudaDriver::Result result =
      driver_->devices_of_opengl(&count, devices.data(), static_cast<unsigned>(devices.size()), kAllDevices);
  const std::span found(devices.data(), result == 0 ? count : 0);
  if (std::ranges::find(found, device) == found.end()) {
    throw Error("GPU " + std::to_string(device) + " does not draw the window");
  }
  driver_->check(driver_->retain_context(&context_, device), "use GPU " + std::to_string(device));
}

CudaDisplay::~CudaDisplay() { driver_->release_context(device_); }

CudaDisplay::Scope::Scope(const CudaDisplay& display) : display_(display) {
  display.driver_->check(display.driver_->push_context(display.context_), "use the GPU");
}

CudaDisplay::Scope::~Scope() {
  void* context = nullptr;
  display_.driver_->pop_context(&context);
}

std::shared_ptr<std::byte> CudaDisplay::allocate(const std::shared_ptr<CudaDisplay>& display,
                                                 std::size_t bytes) {
  const Scope scope(*display);
  CudaDriver::Pointer memory = 0;
  constexpr CudaDriver::Result kOutOfMemory = 2;
  const CudaDriver::Result result = display->driver_->allocate(&memory, bytes);
  if (result == kOutOfMemory) {
    throw OutOfMemory("out of memory: GPU " + std::to_string(display->device_) + " has no " +
                      std::to_string(bytes >> 20) + " MiB for a frame");
  }
  display->driver_->check(result, "allocate a frame");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
  return {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(memory)), [display](std::byte* freed) {
            release(*display, [&] { display->driver().free(reinterpret_cast<std::uintptr_t>(freed)); });
          }};
}

FramePool::Allocator frames_in_memory_of(const std::shared_ptr<CudaDisplay>& display) {
  auto pool = std::make_shared<FramePool>([display](const FrameFormat& format) {
    Frame frame = place_frame(format, CudaDisplay::allocate(display, frame_bytes(format)));
    frame.memory = display->memory();
    return frame;
  });
  return [pool](const FrameFormat& format) { return pool->allocate(format); };
}

CudaTexture::CudaTexture(std::shared_ptr<CudaDisplay> display, Size size, const TextureFormat& as)
    : display_(std::move(display)) {
  texture_.bind();
  glTexImage2D(GL_TEXTURE_2D, 0, as.stored, size.width, size.height, 0, GL_RED, as.type, nullptr);
  const CudaDisplay::Scope scope(*display_);
  constexpr unsigned kDiscard = 2;  // CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD
  display_->driver().check(
      display_->driver().register_texture(&resource_, texture_.name(), GL_TEXTURE_2D, kDiscard),
      "write textures of OpenGL");
}

CudaTexture::~CudaTexture() {
  release(*display_, [this] { display_->driver().unregister(resource_); });
}

std::deque<CudaTexture> cuda_textures(const std::shared_ptr<CudaDisplay>& display, const FrameFormat& format,
                                      const TextureFormat& as) {
  std::deque<CudaTexture> textures;
  for (int plane = 0; plane < format.color_plane_count(); ++plane) {
    textures.emplace_back(display, Size{format.plane_width(plane), format.plane_height(plane)}, as);
  }
  return textures;
}

void copy_to_textures(const Frame& frame, const CudaDisplay& display,
                      const std::deque<CudaTexture>& textures) {
  const CudaDisplay::Scope scope(display);
  const CudaDriver& driver = display.driver();
  void* const stream = nullptr;  // the default one, which completes frames without an event
  if (frame.ready != nullptr) {
    driver.check(driver.wait_for_event(stream, frame.ready.get(), 0), "wait for a frame");
  }
  std::array<void*, kMaxPlanes> resources{};
  std::ranges::transform(textures, resources.begin(), &CudaTexture::resource);
  const auto count = static_cast<unsigned>(textures.size());
  const CudaMapping mapping(driver, count, resources.data());
  for (unsigned p = 0; p < count; ++p) {
    const Plane& plane = frame.planes[p];
    CudaDriver::Copy2d copy{.source_device = reinterpret_cast<std::uintptr_t>(plane.data),
                            .source_pitch = static_cast<std::size_t>(plane.stride),
                            .width = static_cast<std::size_t>(plane.width) * frame.format.bytes_per_sample(),
                            .height = static_cast<std::size_t>(plane.height)};
    driver.check(driver.array_of(&copy.target_array, resources[p], 0, 0), "write to a texture");
    driver.check(driver.copy_2d(&copy, stream), "copy a frame to the window");
  }
  driver.check(driver.synchronize(stream), "show a frame");
}

}  // namespace limpid::io
