// SPDX-License-Identifier: MIT
#pragma once

// OpenGL's functions, and owners of its objects. Private to io. All require the context of a Window,
// which is current on the thread that made the window.

#include <GL/glcorearb.h>

#include <utility>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"

namespace limpid::io {

/// The address of a function in the driver of the current context. Throws Error if the driver lacks it.
void* opengl_function(const char* name);

/// A function of OpenGL, which is searched when it is called for the first time.
template <typename Function>
class GlFunction {
 public:
  explicit constexpr GlFunction(const char* name) : name_(name) {}
  // NOLINTNEXTLINE(google-explicit-constructor): makes the object callable
  operator Function() {
    if (function_ == nullptr) {
      function_ = reinterpret_cast<Function>(opengl_function(name_));
    }
    return function_;
  }

 private:
  const char* name_;
  Function function_ = nullptr;
};

// NOLINTBEGIN(readability-identifier-naming): OpenGL's own names
inline GlFunction<PFNGLACTIVETEXTUREPROC> glActiveTexture("glActiveTexture");
inline GlFunction<PFNGLATTACHSHADERPROC> glAttachShader("glAttachShader");
inline GlFunction<PFNGLBINDTEXTUREPROC> glBindTexture("glBindTexture");
inline GlFunction<PFNGLBINDVERTEXARRAYPROC> glBindVertexArray("glBindVertexArray");
inline GlFunction<PFNGLCLEARPROC> glClear("glClear");
inline GlFunction<PFNGLCLEARCOLORPROC> glClearColor("glClearColor");
inline GlFunction<PFNGLCOMPILESHADERPROC> glCompileShader("glCompileShader");
inline GlFunction<PFNGLCREATEPROGRAMPROC> glCreateProgram("glCreateProgram");
inline GlFunction<PFNGLCREATESHADERPROC> glCreateShader("glCreateShader");
inline GlFunction<PFNGLDELETEPROGRAMPROC> glDeleteProgram("glDeleteProgram");
inline GlFunction<PFNGLDELETESHADERPROC> glDeleteShader("glDeleteShader");
inline GlFunction<PFNGLDELETETEXTURESPROC> glDeleteTextures("glDeleteTextures");
inline GlFunction<PFNGLDELETEVERTEXARRAYSPROC> glDeleteVertexArrays("glDeleteVertexArrays");
inline GlFunction<PFNGLDISABLEPROC> glDisable("glDisable");
inline GlFunction<PFNGLDRAWARRAYSPROC> glDrawArrays("glDrawArrays");
inline GlFunction<PFNGLENABLEPROC> glEnable("glEnable");
inline GlFunction<PFNGLGENTEXTURESPROC> glGenTextures("glGenTextures");
inline GlFunction<PFNGLGENVERTEXARRAYSPROC> glGenVertexArrays("glGenVertexArrays");
inline GlFunction<PFNGLGETINTEGERVPROC> glGetIntegerv("glGetIntegerv");
inline GlFunction<PFNGLGETPROGRAMIVPROC> glGetProgramiv("glGetProgramiv");
inline GlFunction<PFNGLGETSHADERINFOLOGPROC> glGetShaderInfoLog("glGetShaderInfoLog");
inline GlFunction<PFNGLGETSHADERIVPROC> glGetShaderiv("glGetShaderiv");
inline GlFunction<PFNGLGETUNIFORMLOCATIONPROC> glGetUniformLocation("glGetUniformLocation");
inline GlFunction<PFNGLLINKPROGRAMPROC> glLinkProgram("glLinkProgram");
inline GlFunction<PFNGLPIXELSTOREIPROC> glPixelStorei("glPixelStorei");
inline GlFunction<PFNGLREADPIXELSPROC> glReadPixels("glReadPixels");
inline GlFunction<PFNGLSCISSORPROC> glScissor("glScissor");
inline GlFunction<PFNGLSHADERSOURCEPROC> glShaderSource("glShaderSource");
inline GlFunction<PFNGLTEXIMAGE2DPROC> glTexImage2D("glTexImage2D");
inline GlFunction<PFNGLTEXPARAMETERIPROC> glTexParameteri("glTexParameteri");
inline GlFunction<PFNGLUNIFORM1FPROC> glUniform1f("glUniform1f");
inline GlFunction<PFNGLUNIFORM1IPROC> glUniform1i("glUniform1i");
inline GlFunction<PFNGLUNIFORM2FPROC> glUniform2f("glUniform2f");
inline GlFunction<PFNGLUNIFORM3FVPROC> glUniform3fv("glUniform3fv");
inline GlFunction<PFNGLUNIFORM3IPROC> glUniform3i("glUniform3i");
inline GlFunction<PFNGLUNIFORM4FPROC> glUniform4f("glUniform4f");
inline GlFunction<PFNGLUNIFORMMATRIX3FVPROC> glUniformMatrix3fv("glUniformMatrix3fv");
inline GlFunction<PFNGLUSEPROGRAMPROC> glUseProgram("glUseProgram");
inline GlFunction<PFNGLVIEWPORTPROC> glViewport("glViewport");
// NOLINTEND(readability-identifier-naming)

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
