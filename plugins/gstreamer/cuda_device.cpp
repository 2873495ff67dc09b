// SPDX-License-Identifier: MIT
// GStreamer's CUDA memory.
#include <cuda.h>
#include <gmodule.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include "plugins/gstreamer/frames.h"

#pragma GCC diagnostic ignored "-Wold-style-cast"  // in GObject's macros

namespace limpid::gstreamer {
namespace {

// The formats that both GStreamer's memory and the library support, without padding bytes.
constexpr const char* kCaps = GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
    GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY,
    "{ NV12, NV21, I420, YV12, P010_10LE, P016_LE, I420_10LE, Y42B, I422_10LE, I422_12LE, Y444, GBR, GBRA, "
    "RGBA, BGRA, ARGB, ABGR, RGB, BGR }");

std::string best_engine() {
  std::string best;
  limpid_list_engines(
      [](void* found, const limpid_engine_info* engine) {
        auto& name = *static_cast<std::string*>(found);
        if (name.empty() && engine->available != 0) {
          name = engine->name;
        }
      },
      &best);
  return best;
}

bool is_cuda(const std::string& engine) { return engine.starts_with("cuda:"); }

template <typename Function>
Function* driver_function(GModule* driver, const char* name) {
  gpointer symbol = nullptr;
  if (driver == nullptr || g_module_symbol(driver, name, &symbol) == FALSE) {
    throw std::runtime_error(std::string("the GPU's driver has no ") + name);
  }
  return reinterpret_cast<Function*>(symbol);
}

GstCudaContext* wrap_primary_context(int ordinal) {
  gst_cuda_memory_init_once();
  GModule* const driver = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY);
  CUdevice device = 0;
  CUcontext context = nullptr;
  GstCudaContext* wrapped = nullptr;
  if (gst_cuda_load_library() != FALSE &&
      driver_function<decltype(cuInit)>(driver, "cuInit")(0) == CUDA_SUCCESS &&
      driver_function<decltype(cuDeviceGet)>(driver, "cuDeviceGet")(&device, ordinal) == CUDA_SUCCESS &&
      driver_function<decltype(cuDevicePrimaryCtxRetain)>(driver, "cuDevicePrimaryCtxRetain")(
          &context, device) == CUDA_SUCCESS) {
    wrapped = gst_cuda_context_new_wrapped(context, device);
  }
  if (wrapped == nullptr) {
    throw std::runtime_error("GStreamer can't use the GPU cuda:" + std::to_string(ordinal));
  }
  return wrapped;
}

// The library's context of a GPU, which is that of CUDA's runtime. Memory of one context can't be reached
// from another. It stays as long as the process.
GstCudaContext* context_of(int ordinal) {
  static std::mutex mutex;
  static std::map<int, GstCudaContext*> contexts;
  const std::scoped_lock lock(mutex);
  GstCudaContext*& context = contexts[ordinal];
  if (context == nullptr) {
    context = wrap_primary_context(ordinal);
  }
  return context;
}

struct FreePool {
  void operator()(GstBufferPool* pool) const {
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
  }
};

limpid_frame lend(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags, int ordinal) {
  auto mapped = std::make_unique<Mapped>(info, buffer, static_cast<GstMapFlags>(flags | GST_MAP_CUDA));
  limpid_frame frame = mapped->frame();
  frame.memory = LIMPID_CUDA;
  frame.ordinal = ordinal;
  frame.release = [](void* lent) { const std::unique_ptr<Mapped> ended(static_cast<Mapped*>(lent)); };
  frame.release_data = mapped.release();
  return frame;
}

class CudaFrames : public DeviceFrames {
 public:
  GstCaps* caps() const override { return gst_caps_from_string(kCaps); }

  bool answer(GstElement* element, GstQuery* query, const std::string& engine) const override {
    const gchar* type = nullptr;
    const std::string used = is_cuda(engine) || engine == "cpu" ? engine : best_engine();
    if (gst_query_parse_context_type(query, &type) == FALSE || g_strcmp0(type, GST_CUDA_CONTEXT_TYPE) != 0 ||
        !is_cuda(used)) {
      return false;
    }
    try {
      const int ordinal = std::atoi(used.c_str() + used.find(':') + 1);
      return gst_cuda_handle_context_query(element, query, context_of(ordinal)) != FALSE;
    } catch (const std::exception& error) {
      GST_WARNING_OBJECT(element, "%s", error.what());
      return false;
    }
  }

  void start(const GstVideoInfo& info, const limpid_stream_info& stream) override {
    if (stream.memory != LIMPID_CUDA || stream.result_memory != LIMPID_CUDA ||
        stream.ordinal != stream.result_ordinal) {
      throw std::runtime_error(std::string("the engine ") + stream.engine +
                               " can't take frames from a GPU's memory and write results there");
    }
    info_ = info;
    ordinal_ = stream.ordinal;
    context_ = context_of(ordinal_);
    pool_.reset(gst_cuda_buffer_pool_new(context_));
    GstCaps* const caps = gst_video_info_to_caps(&info);
    gst_caps_set_features_simple(caps, gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, nullptr));
    GstStructure* const wishes = gst_buffer_pool_get_config(pool_.get());
    gst_buffer_pool_config_set_params(wishes, caps, static_cast<guint>(info.size), 0, 0);
    gst_buffer_pool_config_add_option(wishes, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_caps_unref(caps);
    if (gst_buffer_pool_set_config(pool_.get(), wishes) == FALSE ||
        gst_buffer_pool_set_active(pool_.get(), TRUE) == FALSE) {
      throw std::runtime_error("GStreamer has no memory for results on the GPU");
    }
  }

  Buffer send(plugins::Denoiser& denoiser, GstBuffer* buffer) override {
    GstMemory* const memory = gst_buffer_peek_memory(buffer, 0);
    if (gst_is_cuda_memory(memory) == FALSE ||
        gst_cuda_context_get_handle(GST_CUDA_MEMORY_CAST(memory)->context) !=
            gst_cuda_context_get_handle(context_)) {
      throw std::runtime_error(
          "a frame is in the memory of another CUDA context than the library's; with cudadownload before "
          "limpiddenoise it isn't");
    }
#if GST_CHECK_VERSION(1, 24, 0)
    gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(memory));
#endif
    GstBuffer* place = nullptr;
    if (gst_buffer_pool_acquire_buffer(pool_.get(), &place, nullptr) != GST_FLOW_OK) {
      throw std::runtime_error("GStreamer has no more memory for results on the GPU");
    }
    Buffer result(place);
    copy_all_but_samples(buffer, place);
    denoiser.send_to(lend(info_, buffer, GST_MAP_READ, ordinal_),
                     lend(info_, place, GST_MAP_WRITE, ordinal_));
    return result;
  }

 private:
  GstVideoInfo info_{};
  int ordinal_ = 0;
  GstCudaContext* context_ = nullptr;
  std::unique_ptr<GstBufferPool, FreePool> pool_;
};

}  // namespace

std::unique_ptr<DeviceFrames> make_device_frames() {
  static const bool works = is_cuda(best_engine());
  return works ? std::make_unique<CudaFrames>() : nullptr;
}

}  // namespace limpid::gstreamer
