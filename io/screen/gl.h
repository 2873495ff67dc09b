// SPDX-License-Identifier: MIT
#pragma once

// OpenGL's functions, and owners of its objects. Private to io. All require the context of a Window,
// which is current on the thread that made the window.

#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>

#include <utility>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"

namespace limpid::io {

/// A texture that is deleted with this object.
class GlTexture : NotCopyable {
 public:
  GlTexture() { glGenTextures(1, &name_); }
  GlTexture(GlTexture&& other) noexcept : name_(std::exchange(other.name_, 0U)) {}
  GlTexture& operator=(GlTexture&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlTexture() { glDeleteTextures(1, &name_); }

  GLuint name() const { return name_; }
  /// Binds the texture to GL_TEXTURE_2D, with interpolation and without repetition.
  void bind() const {
    glBindTexture(GL_TEXTURE_2D, name_);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER}) {
      glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    }
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) {
      glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
    }
  }

 private:
  GLuint name_ = 0;
};

/// A program that is deleted with this object.
class GlProgram : NotCopyable {
 public:
  GlProgram() : name_(glCreateProgram()) {}
  ~GlProgram() { glDeleteProgram(name_); }

  GLuint name() const { return name_; }

 private:
  GLuint name_;
};

/// The format of a texture with one sample per pixel.
struct TextureFormat {
  GLint stored;  ///< of the texture
  GLenum type;   ///< of a sample
  double unit;   ///< value of a sample over its value in a shader
};

inline TextureFormat texture_format(SampleType type) {
  switch (type) {
    case SampleType::kUint8:
      return {GL_R8, GL_UNSIGNED_BYTE, 255};
    case SampleType::kUint16:
      return {GL_R16, GL_UNSIGNED_SHORT, 65535};
    case SampleType::kFloat32:
      return {GL_R32F, GL_FLOAT, 1};
    case SampleType::kFloat16:
      return {GL_R16F, GL_HALF_FLOAT, 1};
  }
  return {GL_R8, GL_UNSIGNED_BYTE, 255};
}

}  // namespace limpid::io
