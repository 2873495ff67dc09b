// SPDX-License-Identifier: MIT
#include "io/screen/picture_painter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/screen/cuda_display.h"
#include "io/screen/display.h"
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

namespace {

// A rectangle of the window; `at` is the position in the stored picture, in samples of luma.
constexpr const char* kPictureVertexShader =
    R"(uniform vec4 target;    // left, top, right, bottom, of -1 to 1
uniform vec4 source;    // left, top, right, bottom, in pixels of the upright picture
uniform vec2 upright;   // size of the upright picture
uniform ivec3 turned;   // transposed, mirrored in x, mirrored in y
out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 place = mix(source.xy, source.zw, corner);
  if (turned.y != 0) place.x = upright.x - place.x;
  if (turned.z != 0) place.y = upright.y - place.y;
  at = turned.x != 0 ? place.yx : place;
  gl_Position = vec4(mix(target.xy, target.zw, corner), 0.0, 1.0);
}
)";

// OpenGL in software computes both branches of a condition for each pixel, so conditions that never change in
// a program are macros: DIFFERENCE, FLOATS (samples are floats), MODEL (0: gray, 1: YUV, 2: RGB), TRANSFER
// (0: none, 1: SDR of wide gamut, 2: PQ, 3: HLG), WIDE_GAMUT.
constexpr const char* kPictureFragmentShader = R"(uniform sampler2D first[3];
#if DIFFERENCE
uniform sampler2D second[3];
uniform float gain;
#endif
uniform vec2 size[3];      // of the planes
uniform vec2 shift;        // luma samples to a sample of chroma
uniform vec2 siting;       // position of the first chroma sample, in luma samples
uniform vec4 range;        // offset and scale of luma, of chroma
uniform vec4 matrix;       // red of V, green of U, green of V, blue of U
uniform vec4 tone;         // peak, a, b, scale
uniform vec2 hlg;          // gain, exponent
uniform mat3 to_bt709;
uniform vec3 luminance;
uniform bool smooth_scaling;
in vec2 at;
out vec4 color;

const float kWhite = 203.0;
const float kLeast = 1e-7;

vec3 pq(vec3 code) {
  vec3 power = pow(code, vec3(32.0 / 2523.0));
  return 10000.0 / kWhite * pow(max(power - 0.8359375, 0.0) / (18.8515625 - 18.6875 * power), vec3(16384.0 / 2610.0));
}
vec3 hlg_scene(vec3 code) {
  return mix((exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12.0, code * code / 3.0,
             lessThanEqual(code, vec3(0.5)));
}
vec3 shown(vec3 code) {
  code = clamp(code, 0.0, 1.0);
#if TRANSFER == 0
  return code;
#else
#if TRANSFER == 1
  vec3 light = pow(code, vec3(2.4));
#elif TRANSFER == 2
  vec3 light = pq(code);
#else
  vec3 light = hlg_scene(code);
  light *= hlg.x * pow(clamp(dot(luminance, light), kLeast, 1.0), hlg.y);
#endif
#if WIDE_GAMUT
  light = to_bt709 * light;
#endif
  float largest = clamp(max(max(light.r, light.g), light.b), kLeast, tone.x);
  float rolled = largest <= 0.5 || tone.x <= 1.0 ? largest : tone.w * (largest + tone.y) / (largest + tone.z);
  return pow(clamp(light * (min(rolled, 1.0) / largest), 0.0, 1.0), vec3(1.0 / 2.4));
#endif
}
vec3 picture(sampler2D a, sampler2D b, sampler2D c, vec2 place) {
  float y = (texture(a, place / size[0]).r - range.x) * range.y;
  vec3 code = vec3(y);
#if MODEL == 2
  code.gb = (vec2(texture(b, place / size[1]).r, texture(c, place / size[2]).r) - range.x) * range.y;
#elif MODEL == 1
  vec2 chroma = ((place - 0.5 - siting) / shift + 0.5) / size[1];
  float u = (texture(b, chroma).r - range.z) * range.w;
  float v = (texture(c, chroma).r - range.z) * range.w;
  code += vec3(matrix.x * v, matrix.y * u + matrix.z * v, matrix.w * u);
#endif
#if FLOATS
  for (int i = 0; i < 3; ++i) {
    if (isnan(code[i])) code[i] = 0.0;
  }
#endif
  return shown(code);
}
float brightness(sampler2D a, sampler2D b, sampler2D c, vec2 place) {
  float value = texture(a, place / size[0]).r;
#if MODEL == 2
  value = dot(vec3(0.2126, 0.7152, 0.0722),
              vec3(value, texture(b, place / size[0]).r, texture(c, place / size[0]).r));
#endif
#if FLOATS
  if (isnan(value)) value = 0.0;
#endif
  return (value - range.x) * range.y;
}
void main() {
  vec2 place = smooth_scaling ? at : min(floor(at), size[0] - 1.0) + 0.5;
#if DIFFERENCE
  // Smoothed over 5x5 samples, of which each texture access at 1.5 averages two: noise has no shape then.
  float sum = 0.0;
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) {
      vec2 near = place + 1.5 * vec2(x, y);
      sum += brightness(first[0], first[1], first[2], near) - brightness(second[0], second[1], second[2], near);
    }
  }
  color = vec4(vec3(128.0 / 255.0 + gain * sum / 9.0), 1.0);
#else
  vec3 result = picture(first[0], first[1], first[2], place);
  color = vec4(result, 1.0);
#endif
}
)";

std::string definitions_of(const FrameFormat& format, const DisplayProperties& properties, bool difference) {
  const bool is_plain = properties.transfer == Transfer::kSdr && !properties.wide_gamut;
  std::string text;
  for (const auto& [name, value] : {std::pair{"DIFFERENCE", difference ? 1 : 0},
                                    {"FLOATS", format.is_float() ? 1 : 0},
                                    {"MODEL", static_cast<int>(format.color_model)},
                                    {"TRANSFER", is_plain ? 0 : 1 + static_cast<int>(properties.transfer)},
                                    {"WIDE_GAMUT", properties.wide_gamut ? 1 : 0}}) {
    text += std::string("#define ") + name + " " + std::to_string(value) + "\n";
  }
  return text;
}

GLuint compile(GLenum kind, const std::string& definitions, const char* text) {
  const GLuint shader = glCreateShader(kind);
  const std::array parts{"#version 150\n", definitions.c_str(), text};
  glShaderSource(shader, static_cast<GLsizei>(parts.size()), parts.data(), nullptr);
  glCompileShader(shader);
  GLint compiled = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (compiled == GL_FALSE) {
    std::array<char, 1024> log{};
    glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), nullptr, log.data());
    glDeleteShader(shader);
    throw Error(std::string("the display's OpenGL does not compile a shader: ") + log.data());
  }
  return shader;
}

}  // namespace

PictureProgram::PictureProgram(const FrameFormat& format, const DisplayProperties& properties,
                               bool difference) {
  const std::string definitions = definitions_of(format, properties, difference);
  for (const auto& [kind, text] : {std::pair{GLenum{GL_VERTEX_SHADER}, kPictureVertexShader},
                                   std::pair{GLenum{GL_FRAGMENT_SHADER}, kPictureFragmentShader}}) {
    const GLuint shader = compile(kind, definitions, text);
    glAttachShader(program_.name(), shader);
    glDeleteShader(shader);
  }
  glLinkProgram(program_.name());
  GLint linked = GL_FALSE;
  glGetProgramiv(program_.name(), GL_LINK_STATUS, &linked);
  if (linked == GL_FALSE) {
    throw Error("the display's OpenGL does not link the shaders");
  }
  use();
  describe_planes(format, properties);
  describe_samples(format, properties);
  describe_light(properties);
}

void PictureProgram::describe_planes(const FrameFormat& format, const DisplayProperties& properties) const {
  for (int plane = 0; plane < kPlanesOfPicture; ++plane) {
    const std::string index = "[" + std::to_string(plane) + "]";
    set(("first" + index).c_str(), plane);
    set(("second" + index).c_str(), plane + kPlanesOfPicture);
    const int of = plane < format.color_plane_count() ? plane : 0;
    set(("size" + index).c_str(), format.plane_width(of), format.plane_height(of));
  }
  const auto& [transposed, mirrored_x, mirrored_y] = properties.orientation;
  glUniform3i(at("turned"), transposed ? 1 : 0, mirrored_x ? 1 : 0, mirrored_y ? 1 : 0);
  const bool turned = properties.orientation.transposed;
  set("upright", turned ? format.height : format.width, turned ? format.width : format.height);
  set("shift", 1 << format.chroma_shift_x, 1 << format.chroma_shift_y);
  set("siting", properties.chroma_x, properties.chroma_y);
}

void PictureProgram::describe_samples(const FrameFormat& format, const DisplayProperties& properties) const {
  const double unit = texture_format(format.sample_type).unit;
  const Normalization luma = luma_normalization(format, properties.range);
  const Normalization chroma = chroma_normalization(format, properties.range);
  set("range", double{luma.offset} / unit, double{luma.scale} * unit, double{chroma.offset} / unit,
      double{chroma.scale} * unit);
  const YuvToRgb matrix = yuv_to_rgb(properties.matrix);
  glUniform4f(at("matrix"), matrix.red_v, matrix.green_u, matrix.green_v, matrix.blue_u);
}

void PictureProgram::describe_light(const DisplayProperties& properties) const {
  const ToneCurve tone = tone_curve(properties);
  set("tone", tone.peak, tone.a, tone.b, tone.scale);
  set("hlg", properties.peak / kReferenceWhite, hlg_exponent(properties.peak));
  glUniformMatrix3fv(at("to_bt709"), 1, GL_TRUE, &kToBt709[0][0]);
  glUniform3fv(at("luminance"), 1, kLuminance2020);
}

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
  for (const auto& [name, value] : drawing.values) {
    program.set(name.c_str(), value);  // without effect unless the shader has it
  }
  if (is_difference) {
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
