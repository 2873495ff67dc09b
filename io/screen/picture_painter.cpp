// SPDX-License-Identifier: MIT
#include "io/screen/picture_painter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/screen/color_math.h"
#include "io/screen/cuda_display.h"
#include "io/screen/gl.h"

namespace limpid::io {
namespace {

constexpr int kPlanesOfPicture = 3;

// A rectangle of the window; `at` is the position in the stored picture, in samples of luma.
constexpr const char* kPictureVertexShader = R"(#version 150
uniform vec4 target;    // left, top, right, bottom, of -1 to 1
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

constexpr const char* kPictureFragmentShader = R"(#version 150
uniform sampler2D first[3];
uniform sampler2D second[3];
uniform vec2 size[3];      // of the planes
uniform vec2 shift;        // luma samples to a sample of chroma
uniform vec2 siting;       // position of the first chroma sample, in luma samples
uniform vec4 range;        // offset and scale of luma, of chroma
uniform vec4 matrix;       // red of V, green of U, green of V, blue of U
uniform int model;         // 0: gray, 1: YUV, 2: RGB
uniform int transfer;      // 0: none, 1: SDR of wide gamut, 2: PQ, 3: HLG
uniform bool wide_gamut;
uniform vec4 tone;         // peak, a, b, scale
uniform vec2 hlg;          // gain, exponent
uniform mat3 to_bt709;
uniform vec3 luminance;
uniform bool smooth_scaling;
uniform int choice;
uniform float gain;
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
  if (transfer == 0) return clamp(code, 0.0, 1.0);
  code = clamp(code, 0.0, 1.0);
  vec3 light = transfer == 1 ? pow(code, vec3(2.4)) : transfer == 2 ? pq(code) : hlg_scene(code);
  if (transfer == 3) light *= hlg.x * pow(clamp(dot(luminance, light), kLeast, 1.0), hlg.y);
  if (wide_gamut) light = to_bt709 * light;
  float largest = clamp(max(max(light.r, light.g), light.b), kLeast, tone.x);
  float rolled = largest <= 0.5 || tone.x <= 1.0 ? largest : tone.w * (largest + tone.y) / (largest + tone.z);
  return pow(clamp(light * (min(rolled, 1.0) / largest), 0.0, 1.0), vec3(1.0 / 2.4));
}
vec3 picture(sampler2D a, sampler2D b, sampler2D c, vec2 place) {
  float y = (texture(a, place / size[0]).r - range.x) * range.y;
  vec3 code = vec3(y);
  if (model == 2) {
    code.gb = (vec2(texture(b, place / size[1]).r, texture(c, place / size[2]).r) - range.x) * range.y;
  } else if (model == 1) {
    vec2 chroma = ((place - 0.5 - siting) / shift + 0.5) / size[1];
    float u = (texture(b, chroma).r - range.z) * range.w;
    float v = (texture(c, chroma).r - range.z) * range.w;
    code += vec3(matrix.x * v, matrix.y * u + matrix.z * v, matrix.w * u);
  }
  for (int i = 0; i < 3; ++i) {
    if (isnan(code[i])) code[i] = 0.0;
  }
  return shown(code);
}
void main() {
  vec2 place = smooth_scaling ? at : min(floor(at), size[0] - 1.0) + 0.5;
  vec3 result;
  if (choice == 0) {
    result = picture(first[0], first[1], first[2], place);
  } else {
    result = picture(second[0], second[1], second[2], place);
    if (choice == 2) {
      vec3 bytes = floor(picture(first[0], first[1], first[2], place) * 255.0 + 0.5) - floor(result * 255.0 + 0.5);
      result = (128.0 + gain * bytes) / 255.0;
    }
  }
  color = vec4(result, 1.0);
}
)";

GLuint compile(GLenum kind, const char* text) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 1, &text, nullptr);
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

class Program {
 public:
  Program(const char* vertex, const char* fragment) : name_(glCreateProgram()) {
    for (const auto& [kind, text] :
         {std::pair{GLenum{GL_VERTEX_SHADER}, vertex}, std::pair{GLenum{GL_FRAGMENT_SHADER}, fragment}}) {
      const GLuint shader = compile(kind, text);
      glAttachShader(name_, shader);
      glDeleteShader(shader);
    }
    glLinkProgram(name_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program() { glDeleteProgram(name_); }

  void use() const { glUseProgram(name_); }
  GLint at(const char* uniform) const { return glGetUniformLocation(name_, uniform); }
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
  GLuint name_;
};

TextureFormat texture_format(SampleType type) {
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

struct PicturePainter::State {
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
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() { glDeleteVertexArrays(1, &vertices); }

  void set(const Frame& frame, Picture& picture) const;
  void describe_frames() const;
  void describe_light() const;
  static void bind(const Picture& picture, int unit);
  Size upright() const {
    return properties.orientation.transposed ? Size{format.height, format.width}
                                             : Size{format.width, format.height};
  }

  FrameFormat format;
  DisplayProperties properties;
  int largest;
  GLuint vertices = 0;
  Program program{kPictureVertexShader, kPictureFragmentShader};
  std::shared_ptr<CudaDisplay> cuda;  // none before share()
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
  copy_to_textures(frame, *cuda, picture.shared);
}

// Sets the uniforms that are equal for all frames.
void PicturePainter::State::describe_frames() const {
  program.use();
  for (int plane = 0; plane < kPlanesOfPicture; ++plane) {
    const std::string index = "[" + std::to_string(plane) + "]";
    program.set(("first" + index).c_str(), plane);
    program.set(("second" + index).c_str(), plane + kPlanesOfPicture);
    const int of = plane < format.color_plane_count() ? plane : 0;
    program.set(("size" + index).c_str(), format.plane_width(of), format.plane_height(of));
  }
  const auto& [transposed, mirrored_x, mirrored_y] = properties.orientation;
  glUniform3i(program.at("turned"), transposed ? 1 : 0, mirrored_x ? 1 : 0, mirrored_y ? 1 : 0);
  program.set("upright", upright().width, upright().height);
  program.set("shift", 1 << format.chroma_shift_x, 1 << format.chroma_shift_y);
  program.set("siting", properties.chroma_x, properties.chroma_y);
  const double unit = texture_format(format.sample_type).unit;
  const Normalization luma = luma_normalization(format, properties.range);
  const Normalization chroma = chroma_normalization(format, properties.range);
  program.set("range", double{luma.offset} / unit, double{luma.scale} * unit, double{chroma.offset} / unit,
              double{chroma.scale} * unit);
  const YuvToRgb matrix = yuv_to_rgb(properties.matrix);
  glUniform4f(program.at("matrix"), matrix.red_v, matrix.green_u, matrix.green_v, matrix.blue_u);
  program.set("model", static_cast<int>(format.color_model));
}

void PicturePainter::State::describe_light() const {
  const bool sdr = properties.transfer == Transfer::kSdr;
  program.set("transfer", sdr && !properties.wide_gamut ? 0 : 1 + static_cast<int>(properties.transfer));
  program.set("wide_gamut", properties.wide_gamut ? 1 : 0);
  const ToneCurve tone = tone_curve(properties);
  program.set("tone", tone.peak, tone.a, tone.b, tone.scale);
  program.set("hlg", properties.peak / kReferenceWhite, hlg_exponent(properties.peak));
  glUniformMatrix3fv(program.at("to_bt709"), 1, GL_TRUE, &kToBt709[0][0]);
  glUniform3fv(program.at("luminance"), 1, kLuminance2020);
}

void PicturePainter::State::bind(const Picture& picture, int unit) {
  for (int plane = 0; plane < kPlanesOfPicture; ++plane) {
    glActiveTexture(static_cast<GLenum>(GL_TEXTURE0 + unit + plane));
    glBindTexture(GL_TEXTURE_2D, picture.texture(plane).name());
  }
}

PicturePainter::PicturePainter(const FrameFormat& format, const DisplayProperties& properties)
    : state_(std::make_unique<State>(format, properties)) {
  format.validate("frame");
  state_->describe_frames();
  state_->describe_light();
}

PicturePainter::~PicturePainter() = default;

FramePool::Allocator PicturePainter::share(const MemoryDomain& memory) {
  if (std::max(state_->format.width, state_->format.height) > state_->largest) {
    throw Error("the pictures are larger than the textures of the display");
  }
  auto display = std::make_shared<CudaDisplay>(memory.ordinal);
  const TextureFormat as = texture_format(state_->format.sample_type);
  for (State::Picture* const picture : {&state_->first, &state_->second}) {
    picture->shared = cuda_textures(display, state_->format, as);
  }
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
  const Program& program = state_->program;
  program.use();
  const Rectangle& from = drawing.source;
  program.set("source", from.x, from.y, from.x + from.width, from.y + from.height);
  const auto column = [&](int x) { return 2.0 * x / window.width - 1; };
  const auto row = [&](int y) { return 1 - 2.0 * y / window.height; };
  const Rectangle& to = drawing.target;
  program.set("target", column(to.x), row(to.y), column(to.x + to.width), row(to.y + to.height));
  program.set("smooth_scaling", drawing.smooth ? 1 : 0);
  program.set("choice", static_cast<int>(drawing.choice));
  program.set("gain", drawing.gain);
  State::bind(state_->first, 0);
  State::bind(state_->second, kPlanesOfPicture);
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
