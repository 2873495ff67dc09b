// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "plugins/openfx/host.h"
#include "plugins/shared/denoiser.h"

// The effect's parameters. None is animated: results depend on earlier and later frames, which have the same
// settings.

namespace limpid::openfx {

/// Names of parameters, in projects and for scripts. Parameters of a filter have names such as
/// vbm4d_search_window.
namespace name {
inline constexpr const char* kNoise = "noise";
inline constexpr const char* kLevel = "level";
inline constexpr const char* kStrength = "strength";
inline constexpr const char* kFilter = "filter";
inline constexpr const char* kProfile = "profile";
inline constexpr const char* kRepair = "repair";
inline constexpr const char* kFields = "fields";
inline constexpr const char* kEngine = "engine";
inline constexpr const char* kOptions = "options";
inline constexpr const char* kPosition = "rectanglePosition";
inline constexpr const char* kSize = "rectangleSize";
inline constexpr const char* kMeasure = "measure";
inline constexpr const char* kMeasuredLevel = "measuredLevel";
inline constexpr const char* kMeasuredProfile = "measuredProfile";
inline constexpr const char* kMeasuredScale = "measuredScale";
}  // namespace name

/// Where the noise level comes from. The numbers are saved in projects.
enum class NoiseSource { kAutomatic = 0, kLevel = 1, kMeasured = 2 };

/// The values of the parameters.
struct Values {
  plugins::Settings settings;  ///< noise and strength are in it only if Options has them; engine is not
  NoiseSource noise = NoiseSource::kAutomatic;
  double level = 0;  ///< standard deviation in 8-bit code values
  double strength = 1;
  std::string engine;
  std::string profile;        ///< measured, as JSON; "" before
  double measured_scale = 1;  ///< the render scale of the frames that the profile was measured from

  /// True if Options has the noise level or profile, which then replaces that of `noise`.
  bool sets_noise() const { return settings.contains("noise") || settings.contains("sigma"); }
  /// True if frames pass unchanged.
  bool is_identity() const;
};

/// A part of the picture in the host's canonical coordinates, which do not depend on the render scale.
struct Part {
  double x, y, width, height;
};

/// Defines the parameters of an effect in an action that describes it.
void define_parameters(abi::Parameters set);

/// The parameters of an instance.
class Parameters {
 public:
  explicit Parameters(abi::Parameters set) : set_(set) {}

  /// Throws std::runtime_error with a sentence for the user. May be called on several threads at once.
  Values values() const;
  Part rectangle() const;
  /// Saves a measured profile in the project, and selects it.
  void set_measured(const std::string& profile, const std::string& level, double scale) const;
  /// Shows the parameters of the selected filter only.
  void show_filter() const;

 private:
  abi::Parameter handle(const char* name) const;
  template <typename Value>
  Value value(const char* name) const;
  std::string text(const char* name) const;
  template <typename... Value>
  void get(const char* name, Value*... values) const;

  abi::Parameters set_;
};

}  // namespace limpid::openfx
