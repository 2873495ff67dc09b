// SPDX-License-Identifier: MIT
#include "io/screen/picture_program.h"

#include <array>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "io/screen/color_math.h"

namespace limpid::io {
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

}  // namespace limpid::io
