// SPDX-License-Identifier: MIT
#include "cuda/engine/window_denoiser.h"

#include <cmath>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/mixing.h"

namespace limpid::cuda {
namespace {

// True if a frame in host memory has the device frame's layout, so that one copy suffices.
bool same_layout(const Frame& host, const SamplePlanes& device) {
  for (int p = 0; p < host.format.plane_count(); ++p) {
    if (host.planes[p].stride != device[p].stride ||
        host.planes[p].data - host.planes[0].data != device[p].data - device[0].data) {
      return false;
    }
  }
  return true;
}

}  // namespace

DeviceFrame::DeviceFrame(const FrameFormat& format) : memory_(frame_bytes(format)) {
  // Bytes between rows are copied but never written.
  check(cudaMemset(memory_.as(), 0, memory_.bytes()));
  check(cudaStreamSynchronize(nullptr));
  // Only for the layout; the host does not access the memory.
  const Frame layout = place_frame(format, {std::shared_ptr<void>(), memory_.as()});
  for (int p = 0; p < format.plane_count(); ++p) {
    planes_[p] = {layout.planes[p].data, layout.planes[p].stride};
  }
}

void copy(const Frame& host, const SamplePlanes& device, cudaMemcpyKind kind, cudaStream_t stream) {
  const int planes = host.format.plane_count();
  const bool up = kind == cudaMemcpyHostToDevice;
  const auto row_bytes = [&](int p) {
    return static_cast<std::size_t>(host.planes[p].width) * host.format.bytes_per_sample();
  };
  if (same_layout(host, device)) {
    // Up to the last sample, after which the host memory may end.
    const Plane& last = host.planes[planes - 1];
    const std::size_t bytes = static_cast<std::size_t>(last.data - host.planes[0].data) +
                              last.stride * (last.height - 1) + row_bytes(planes - 1);
    check(cudaMemcpyAsync(up ? device[0].data : host.planes[0].data,
                          up ? host.planes[0].data : device[0].data, bytes, kind, stream));
    return;
  }
  for (int p = 0; p < planes; ++p) {
    const Plane& plane = host.planes[p];
    check(cudaMemcpy2DAsync(up ? device[p].data : plane.data, up ? device[p].stride : plane.stride,
                            up ? plane.data : device[p].data, up ? plane.stride : device[p].stride,
                            row_bytes(p), plane.height, kind, stream));
  }
}

cudaEvent_t ready_event(const Frame& frame, const Event& decoded) {
  if (frame.ready != nullptr) {
    return static_cast<cudaEvent_t>(frame.ready.get());
  }
  check(cudaEventRecord(decoded.get(), cudaStreamLegacy));
  return decoded.get();
}

void copy_from_decoder(const Frame& frame, const SamplePlanes& out, const Stream& stream) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    unpack_plane(frame.format, frame.planes[p], frame.padding_bits, out[p], stream.get());
  }
}

void copy_to_encoder(const SamplePlanes& in, const Frame& frame, const Stream& stream) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    pack_plane(frame.format, in[p], frame.padding_bits, frame.planes[p], stream.get());
  }
}

WindowDenoiser::WindowDenoiser(int device, FramePool pool,
                               const std::function<std::unique_ptr<FrameFilter>()>& make_filter,
                               const NoiseModel& noise, const FrameFormat& format)
    : device_(device),
      scope_(std::make_unique<DeviceScope>(device)),
      pool_(std::move(pool)),
      format_(format),
      filter_(make_filter()),
      clipping_(format),
      ring_(filter_->reach()) {
  set_noise(noise);
  // With frames of this size, two suffice for copies to overlap with kernels unless one of them is delayed.
  constexpr std::size_t kLargeFrame = std::size_t{32} << 20;
  const int results = frame_bytes(format) > kLargeFrame ? 2 : 4;
  for (int i = 0; i < results; ++i) {
    results_.emplace_back(format);
  }
  // The frames that the ring keeps while it waits for another, and those that are being copied.
  const Reach reach = filter_->reach();
  const int kept = reach.unbounded ? 0 : reach.before + reach.after;
  for (int i = 0; i < kept + results; ++i) {
    FrameSlot& slot = frames_.emplace_back(format);
    slot.state = filter_->make_state();
    free_frames_.push_back(&slot);
  }
  scope_.reset();
}

WindowDenoiser::~WindowDenoiser() {
  const DeviceScope scope(device_, std::nothrow);
  wait_for_all();
}

void WindowDenoiser::set_noise(const NoiseModel& noise) {
  noise.validate();
  noise_ = noise;
}

void WindowDenoiser::send(Frame frame) {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  if (frame.format != format_) {
    throw Error("frame " + std::to_string(frame.index) + " is " + to_string(frame.format) +
                ", but the filter was set up for " + to_string(format_));
  }
  if (!frame.memory.is_host() && frame.memory != cuda_memory(device_)) {
    throw Error("frame " + std::to_string(frame.index) + " is in " + to_string(frame.memory) + ", not in " +
                to_string(cuda_memory(device_)));
  }
  const DeviceScope scope(device_);
  let_go_of_uploaded();
  std::optional<Frame> out = take_result(frame);
  FrameSlot& slot = *free_frames_.front();
  Timestamps& timestamps = take_timestamps();
  const bool begins_anew = frame.begins_anew;
  const bool separate =
      begins_anew || !have_like_levels(noise_, noise_of_last_.value_or(noise_), kMostFactorInWindow);
  const bool context_only = frame.context_only;
  // Kept from here on even after a failure: any part of the work may have been enqueued.
  free_frames_.pop_front();
  ring_.push({frame.interlaced, begins_anew, std::move(out), noise_, mix_, &slot, &timestamps, sent_},
             separate, context_only);
  noise_of_last_ = noise_;
  uploading_.push_back({std::move(frame), &timestamps, sent_});
  ++sent_;
  const std::size_t whole = under_way_.size();
  try {
    upload(uploading_.back().in, slot, timestamps);
    enqueue_results();
  } catch (...) {
    // There is no result, and later results must not depend on it, as they share the filter's memory. Earlier
    // results are complete.
    fail(std::current_exception());
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(whole), under_way_.end());
    throw;
  }
}

std::optional<Frame> WindowDenoiser::receive() {
  if (under_way_.empty()) {
    return std::nullopt;
  }
  const DeviceScope scope(device_);
  UnderWay& first = under_way_.front();
  first.timestamps->downloaded.synchronize();
  count(first);
  // Uploads are sequential: all frames sent before the newest frame that the result depends on have been
  // read.
  while (!uploading_.empty() && uploading_.front().number <= first.newest) {
    uploading_.pop_front();
  }
  Frame out = std::move(first.out);
  under_way_.pop_front();
  return out;
}

void WindowDenoiser::flush() {
  const DeviceScope scope(device_);
  ring_.end();
  try {
    enqueue_results();
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
  if (under_way_.empty()) {
    check(cudaStreamSynchronize(kernels_.get()));
  }
}

void WindowDenoiser::reset() {
  const DeviceScope scope(device_);
  wait_for_all();
  filter_->forget();
  noise_of_last_.reset();
  for (const UnderWay& result : under_way_) {
    result.result_slot->last = nullptr;
    idle_timestamps_.push_back(result.timestamps);
  }
  under_way_.clear();
  ring_.reset([this](Kept kept) {
    if (kept.timestamps != nullptr) {
      idle_timestamps_.push_back(kept.timestamps);
    }
    set_free(*kept.slot);
  });
  uploading_.clear();
}

// The filter's state of the frame belongs to other frames from now on.
void WindowDenoiser::set_free(FrameSlot& slot) {
  if (slot.state != nullptr) {
    filter_->renew(*slot.state);
  }
  free_frames_.push_back(&slot);
}

// The destination of the frame's result, if the frame has one.
std::optional<Frame> WindowDenoiser::take_result(const Frame& frame) {
  if (frame.context_only) {
    return std::nullopt;
  }
  Frame out = take_result_ ? take_result_() : pool_.allocate(format_);
  const bool on_device = out.memory == cuda_memory(device_);
  if (out.format != format_ || on_device != static_cast<bool>(take_result_)) {
    throw Error("frame " + std::to_string(frame.index) + ": what was given for its result isn't " +
                to_string(format_) + " in " + to_string(cuda_memory(device_)));
  }
  pass_on(frame, out);
  return out;
}

void WindowDenoiser::upload(const Frame& frame, FrameSlot& slot, const Timestamps& timestamps) {
  if (slot.used) {
    uploads_.wait(slot.read.get());
  }
  const bool on_device = !frame.memory.is_host();
  if (on_device) {
    uploads_.wait(ready_event(frame, decoded_));
  }
  timestamps.begun.record(uploads_);
  if (on_device) {
    copy_from_decoder(frame, slot.samples.planes(), uploads_);
  } else {
    copy(frame, slot.samples.planes(), cudaMemcpyHostToDevice, uploads_.get());
  }
  timestamps.uploaded.record(uploads_);
}

// Enqueues the results of all windows whose frames have been sent.
void WindowDenoiser::enqueue_results() {
  while (ring_.has_next()) {
    enqueue(ring_.next());
  }
  ring_.retire([this](Kept kept) { retire(std::move(kept)); });
}

void WindowDenoiser::enqueue(const FrameRing<Kept>::Window& window) {
  Kept& current = *window.frames[window.current];
  const Kept& newest = *window.frames.back();
  ResultSlot& slot = results_[next_result_];
  next_result_ = (next_result_ + (window.wanted ? 1 : 0)) % results_.size();
  const Timestamps& timestamps = *current.timestamps;

  kernels_.wait(newest.timestamps->uploaded.get());
  if (slot.last != nullptr) {
    kernels_.wait(slot.last->downloaded.get());
  }
  FilterWindow filtered;
  filtered.frames.reserve(window.frames.size());
  for (const Kept* kept : window.frames) {
    filtered.frames.push_back({kept->slot->samples.planes(), kept->interlaced, kept->noise,
                               kept->slot->state.get(), kept->begins_anew});
  }
  filtered.current = window.current;
  filter_->enqueue_window(filtered, slot.samples.planes(), kernels_.get());
  if (!window.wanted) {
    return;  // the next result takes its place in the kernels' stream
  }
  const FilteredFrame& noisy = filtered.frames[filtered.current];
  if (filter_->estimates_means()) {
    clipping_.enqueue(noisy.planes, noisy.noise, slot.samples.planes(), kernels_.get());
  }
  mix_in(format_, noisy.planes, current.mix, slot.samples.planes(), kernels_.get());
  if (noisy.noise.area) {
    pass_outside(format_, noisy.planes, *noisy.noise.area, slot.samples.planes(), kernels_.get());
  }
  for (int p = 0; format_.sample_type == SampleType::kFloat32 && p < format_.color_plane_count(); ++p) {
    pass_unusable_samples(noisy.planes[p], slot.samples.planes()[p], format_.plane_width(p),
                          format_.plane_height(p), kernels_.get());
  }
  timestamps.filtered.record(kernels_);

  downloads_.wait(timestamps.filtered.get());
  Frame& out = *current.out;
  if (!out.memory.is_host()) {
    copy_to_encoder(slot.samples.planes(), out, downloads_);
  } else {
    copy(out, slot.samples.planes(), cudaMemcpyDeviceToHost, downloads_.get());
  }
  timestamps.downloaded.record(downloads_);
  slot.last = current.timestamps;
  under_way_.push_back(
      {std::move(out), current.slot, &slot, std::exchange(current.timestamps, nullptr), newest.number});
}

// No later window contains the frame.
void WindowDenoiser::retire(Kept kept) {
  kept.slot->read.record(kernels_);
  kept.slot->used = true;
  set_free(*kept.slot);
  if (kept.timestamps != nullptr) {
    idle_timestamps_.push_back(kept.timestamps);
  }
}

// Timestamps may already be those of a later upload, before which all earlier ones are complete.
void WindowDenoiser::let_go_of_uploaded() {
  while (!uploading_.empty() && uploading_.front().timestamps->uploaded.has_occurred()) {
    uploading_.pop_front();
  }
  // A stream of context frames only has no results to wait for.
  if (under_way_.empty() && uploading_.size() > frames_.size()) {
    check(cudaStreamSynchronize(uploads_.get()));
    uploading_.clear();
  }
}

void WindowDenoiser::fail(const std::exception_ptr& failure) {
  failure_ = failure;
  wait_for_all();
  ring_.reset([](const Kept& /*kept*/) {});
  uploading_.clear();
}

// A device that fails to report completion has failed entirely and writes nothing any more.
void WindowDenoiser::wait_for_all() const {
  for (const Stream* stream : {&uploads_, &kernels_, &downloads_}) {
    cudaStreamSynchronize(stream->get());
  }
}

WindowDenoiser::Timestamps& WindowDenoiser::take_timestamps() {
  if (idle_timestamps_.empty()) {
    return timestamps_.emplace_back();
  }
  Timestamps& timestamps = *idle_timestamps_.back();
  idle_timestamps_.pop_back();
  return timestamps;
}

// Adds the stages' turns at a result, all of which is complete.
void WindowDenoiser::count(UnderWay& done) {
  Timestamps& timestamps = *done.timestamps;
  FrameSlot& frame_slot = *done.frame_slot;
  ResultSlot& result_slot = *done.result_slot;
  // Measured from the end of the last frame's upload, which precedes all of these events, usually by little.
  const Event& origin = last_timestamps_ != nullptr ? last_timestamps_->uploaded : timestamps.begun;
  const auto moment = [&origin, origin_ns = stages_.upload.end_ns](const Event& event) {
    return origin_ns + std::llround(1e6 * event.milliseconds_since(origin));
  };
  const std::int64_t begun = moment(timestamps.begun);
  const std::int64_t uploaded = moment(timestamps.uploaded);
  const std::int64_t filtered = moment(timestamps.filtered);
  const std::int64_t downloaded = moment(timestamps.downloaded);
  if (last_timestamps_ != nullptr) {
    idle_timestamps_.push_back(last_timestamps_);
  }
  last_timestamps_ = &timestamps;
  stages_.upload.add_turn(begun, frame_slot.filtered_ns, uploaded);
  stages_.filter.add_turn(uploaded, result_slot.downloaded_ns, filtered);
  // There is always room, as send() reserved it.
  stages_.download.add_turn(filtered, 0, downloaded);
  frame_slot.filtered_ns = stages_.filter.end_ns;
  result_slot.downloaded_ns = stages_.download.end_ns;
  if (result_slot.last == &timestamps) {
    result_slot.last = nullptr;
  }
}

}  // namespace limpid::cuda
