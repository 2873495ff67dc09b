// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/screen/gl.h"

namespace limpid::io {

inline constexpr int kPlanesOfPicture = 3;

/// The program of OpenGL that draws frames of one format. Private to io.
///
/// Texture units 0 to 2 have the planes of a frame; for differences, units 3 to 5 have the planes of the
/// second frame. The uniforms that change from picture to picture are `target`, `source` (left, top, right,
/// bottom), `smooth_scaling` and, of differences, `gain`.
class PictureProgram {
 public:
  /// `difference`: of the brightness of two frames, smoothed, around mid-gray. Throws Error if the display
  /// does not support it.
  PictureProgram(const FrameFormat& format, const DisplayProperties& properties, bool difference);

  void use() const { glUseProgram(program_.name()); }
  /// Set uniforms of the program in use.
  void set(const char* uniform, int value) const { glUniform1i(at(uniform), value); }
  void set(const char* uniform, double value) const { glUniform1f(at(uniform), static_cast<float>(value)); }
  void set(const char* uniform, double a, double b) const {
    glUniform2f(at(uniform), static_cast<float>(a), static_cast<float>(b));
  }
  void set(const char* uniform, double a, double b, double c, double d) const {
    glUniform4f(at(uniform), static_cast<float>(a), static_cast<float>(b), static_cast<float>(c),
                static_cast<float>(d));
  }

 private:
  GLint at(const char* uniform) const { return glGetUniformLocation(program_.name(), uniform); }
  void describe_planes(const FrameFormat& format, const DisplayProperties& properties) const;
  void describe_samples(const FrameFormat& format, const DisplayProperties& properties) const;
  void describe_light(const DisplayProperties& properties) const;

  GlProgram program_;
};

}  // namespace limpid::io
