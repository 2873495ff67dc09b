// SPDX-License-Identifier: MIT
#include "core/engine/denoising_stream.h"

#include <string>
#include <utility>

#include "core/base/error.h"

namespace limpid {

DenoisingStream::DenoisingStream(std::shared_ptr<Engine> engine, const Filter& filter,
                                 const NoiseSettings& noise, FieldChoice fields, const FrameFormat& format,
                                 Latency latency)
    : engine_(std::move(engine)), format_(format), filter_(filter), fields_(fields) {
  NoiseControl(noise, *engine_).check(format_);
  denoiser_ = engine_->make_denoiser(filter_, level_, format_);
  denoiser_->set_mix(noise.mix);
  control_.emplace(noise, fields_, denoiser_->reach(), *engine_, NoiseControl::Listener{}, latency);
}

void DenoisingStream::check(const Frame& frame) const {
  if (frame.format != format_) {
    throw UsageError("the frame is " + to_string(frame.format) + ", but the stream is " + to_string(format_));
  }
  if (!frame.memory.is_host() && frame.memory != engine_->memory()) {
    throw UsageError("the frame is in " + to_string(frame.memory) + ", which the engine " +
                     std::string(engine_->name()) + " cannot read");
  }
}

void DenoisingStream::choose_results(bool given) {
  const Results kind = given ? Results::kGiven : Results::kOwn;
  if (kind_of_results_ == Results::kNotKnown && given) {
    denoiser_->set_result_frames([this] { return std::move(next_result_).value(); });
  } else if (kind_of_results_ != Results::kNotKnown && kind_of_results_ != kind) {
    throw UsageError(
        "memory for results must be passed with all frames of a stream or with none; this frame differs from "
        "the frames before");
  }
  kind_of_results_ = kind;
}

void DenoisingStream::send(Frame frame, std::optional<Frame> result) {
  check(frame);
  if (!frame.context_only) {
    choose_results(result.has_value());
  }
  if (frame.level_only) {
    has_gap_ = true;
  } else {
    sent_.push_back({std::move(result), std::exchange(has_gap_, false)});
  }
  control_->send(std::move(frame));
  pass_on();
}

std::optional<Frame> DenoisingStream::receive() {
  std::optional<Frame> result = denoiser_->receive();
  if (result) {
    found_of_result_ = founds_.front();
    founds_.pop_front();
  }
  return result;
}

void DenoisingStream::pass_on() {
  while (std::optional<LeveledFrame> next = control_->receive()) {
    found_ = next->noise;
    if (!next->frame.context_only) {
      founds_.push_back(next->noise);
    }
    if (next->level != level_) {
      denoiser_->set_noise(next->level);
      level_ = next->level;
    }
    Sent& sent = sent_.front();
    next->frame.begins_anew = next->frame.begins_anew || sent.behind_gap;
    next_result_ = std::move(sent.result);
    sent_.pop_front();
    denoiser_->send(std::move(next->frame));
  }
}

void DenoisingStream::flush() {
  if (!is_flushed_) {
    control_->flush();
    pass_on();
    denoiser_->flush();
    is_flushed_ = true;
  }
}

void DenoisingStream::reset() {
  sent_.clear();
  founds_.clear();
  denoiser_->reset();
  control_->reset();
  has_gap_ = false;
  is_flushed_ = false;
}

void DenoisingStream::set_noise(const NoiseSettings& noise) {
  NoiseControl(noise, *engine_).check(format_);
  if (noise.noise.has_value() == control_->is_estimated()) {
    control_->flush();
    pass_on();
  }
  control_->set_noise(noise);
  denoiser_->set_mix(noise.mix);
}

}  // namespace limpid
