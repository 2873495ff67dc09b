// SPDX-License-Identifier: MIT
#include "io/screen/picture_painter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "io/screen/cuda_display.h"
#include "io/screen/gl.h"
#include "io/screen/picture_program.h"

namespace limpid::io {
namespace {

const FrameFormat& validated(const FrameFormat& format) {
  format.validate("frame");
  return format;
}

int largest_texture() {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  return largest;
}

// A plane with only every `factor`-th row and column, without gaps between rows.
std::vector<std::byte> thinned(const Plane& plane, int bytes, int factor, Size size) {
  std::vector<std::byte> samples(static_cast<std::size_t>(size.width) * size.height * bytes);
  std::byte* to = samples.data();
  for (int y = 0; y < size.height; ++y) {
    const std::byte* const row = plane.data + std::ptrdiff_t{y} * factor * plane.stride;
    for (int x = 0; x < size.width; ++x, to += bytes) {
      std::memcpy(to, row + std::ptrdiff_t{x} * factor * bytes, static_cast<std::size_t>(bytes));
    }
  }
  return samples;
}

void upload(const Plane& plane, const FrameFormat& format, int largest, const GlTexture& texture) {
  const TextureFormat as = texture_format(format.sample_type);
  const int bytes = format.bytes_per_sample();
  texture.bind();
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  const int factor = (std::max(plane.width, plane.height) + largest - 1) / largest;
  if (factor <= 1) {
    glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(plane.stride / bytes));
    glTexImage2D(GL_TEXTURE_2D, 0, as.stored, plane.width, plane.height, 0, GL_RED, as.type, plane.data);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  } else {
    const Size size{(plane.width + factor - 1) / factor, (plane.height + factor - 1) / factor};
    glTexImage2D(GL_TEXTURE_2D, 0, as.stored, size.width, size.height, 0, GL_RED, as.type,
                 thinned(plane, bytes, factor, size).data());
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

}  // namespace

struct PicturePainter::State : NotCopyable {
  // A frame that has been set.
  struct Picture {
    const GlTexture& texture(int plane) const {
      const auto index = static_cast<std::size_t>(plane);
      return is_shared && index < shared.size() ? shared[index].texture() : uploaded[index];
    }

    std::array<GlTexture, kPlanesOfPicture> uploaded;
    std::deque<CudaTexture> shared;
    bool is_shared = false;
  };

  State(const FrameFormat& frame_format, const DisplayProperties& display)
      : format(frame_format), properties(display), largest(largest_texture()) {
    glGenVertexArrays(1, &vertices);
  }
  ~State() { glDeleteVertexArrays(1, &vertices); }

  void set(const Frame& frame, Picture& picture) const;
  void bind(const Picture& picture, int unit, bool smooth) const;
  const PictureProgram& program(bool difference);

  FrameFormat format;
  DisplayProperties properties;
  int largest;
  GLuint vertices = 0;
  PictureProgram single{format, properties, false};
  std::unique_ptr<PictureProgram> difference;  // made for the first one
  std::shared_ptr<CudaDisplay> cuda;           // none before share()
  Picture first;
  Picture second;
};

void PicturePainter::State::set(const Frame& frame, Picture& picture) const {
  if (frame.format != format) {
    throw Error("frame " + std::to_string(frame.index) + " is " + limpid::to_string(frame.format) +
                " instead of " + limpid::to_string(format));
  }
  picture.is_shared = !frame.memory.is_host();
  if (!picture.is_shared) {
    for (int plane = 0; plane < format.color_plane_count(); ++plane) {
      upload(frame.planes[plane], format, largest, picture.uploaded[plane]);
    }
    return;
  }
  if (cuda == nullptr || frame.memory != cuda->memory()) {
    throw Error("frame " + std::to_string(frame.index) + " is in " + limpid::to_string(frame.memory) +
                ", which the window can't show");
  }
  if (picture.shared.empty()) {
    picture.shared = cuda_textures(cuda, format, texture_format(format.sample_type));
  }
  copy_to_textures(frame, *cuda, picture.shared);
}

const PictureProgram& PicturePainter::State::program(bool is_difference) {
  if (is_difference && difference == nullptr) {
    difference = std::make_unique<PictureProgram>(format, properties, true);
  }
  return is_difference ? *difference : single;
}

// Interpolation costs time where OpenGL runs in software, so only what needs it is interpolated.
void PicturePainter::State::bind(const Picture& picture, int unit, bool smooth) const {
  for (int plane = 0; plane < kPlanesOfPicture; ++plane) {
    glActiveTexture(static_cast<GLenum>(GL_TEXTURE0 + unit + plane));
    glBindTexture(GL_TEXTURE_2D, picture.texture(plane).name());
    const bool between_samples = smooth || (plane > 0 && format.color_model == ColorModel::kYuv);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, between_samples ? GL_LINEAR : GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, between_samples ? GL_LINEAR : GL_NEAREST);
  }
}

PicturePainter::PicturePainter(const FrameFormat& format, const DisplayProperties& properties)
    : state_(std::make_unique<State>(validated(format), properties)) {}

PicturePainter::~PicturePainter() = default;

FramePool::Allocator PicturePainter::share(const MemoryDomain& memory) {
  if (std::max(state_->format.width, state_->format.height) > state_->largest) {
    throw Error("the pictures are larger than the textures of the display");
  }
  auto display = std::make_shared<CudaDisplay>(memory.ordinal);
  state_->second.shared = cuda_textures(display, state_->format, texture_format(state_->format.sample_type));
  state_->cuda = display;
  return frames_in_memory_of(display);
}

void PicturePainter::set_first(const Frame& frame) { state_->set(frame, state_->first); }
void PicturePainter::set_second(const Frame& frame) { state_->set(frame, state_->second); }

void PicturePainter::draw(const PictureDrawing& drawing, Size window) {
  const Rectangle& clip = drawing.clip;
  if (clip.width <= 0 || clip.height <= 0 || drawing.target.width <= 0 || drawing.target.height <= 0) {
    return;
  }
  const bool is_difference = drawing.choice == PictureChoice::kDifference;
  const PictureProgram& program = state_->program(is_difference);
  program.use();
  const Rectangle& from = drawing.source;
  const int left = drawing.mirrored ? from.x + from.width : from.x;
  program.set("source", left, from.y, 2 * from.x + from.width - left, from.y + from.height);
  const auto column = [&](int x) { return 2.0 * x / window.width - 1; };
  const auto row = [&](int y) { return 1 - 2.0 * y / window.height; };
  const Rectangle& to = drawing.target;
  program.set("target", column(to.x), row(to.y), column(to.x + to.width), row(to.y + to.height));
  program.set("smooth_scaling", drawing.smooth ? 1 : 0);
  state_->bind(drawing.choice == PictureChoice::kSecond ? state_->second : state_->first, 0,
               drawing.smooth || is_difference);
  if (is_difference) {
    program.set("gain", drawing.gain);
    state_->bind(state_->second, kPlanesOfPicture, true);
  }
  glActiveTexture(GL_TEXTURE0);
  glBindVertexArray(state_->vertices);
  glViewport(0, 0, window.width, window.height);
  glEnable(GL_SCISSOR_TEST);
  glScissor(clip.x, window.height - clip.y - clip.height, clip.width, clip.height);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glDisable(GL_SCISSOR_TEST);
  glBindVertexArray(0);
}

}  // namespace limpid::io
