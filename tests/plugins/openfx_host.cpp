// SPDX-License-Identifier: MIT
#include "tests/plugins/openfx_host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sstream>
#include <thread>

#include "core/base/system.h"

namespace limpid::lib::openfx {
namespace {

namespace property = abi::property;

constexpr std::size_t kPadding = 24;

// One for all sets: tests are not about speed.
std::recursive_mutex& properties_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

PropertySet& set_of(abi::Properties handle) { return *reinterpret_cast<PropertySet*>(handle); }
HostEffect& effect_of(abi::Effect handle) { return *reinterpret_cast<HostEffect*>(handle); }
HostParameter& parameter_of(abi::Parameter handle) { return *reinterpret_cast<HostParameter*>(handle); }

struct ClipHandle {
  HostEffect* effect;
  std::string name;
};

template <typename Value, typename Given>
abi::Status set_value(abi::Properties set, const char* name, int index, Given value) {
  const std::scoped_lock lock(properties_mutex());
  if (set == nullptr) {
    return abi::kBadHandle;
  }
  set_of(set).set(name, Value(value), index);
  return abi::kOk;
}

template <typename Value, typename Taken>
abi::Status get_value(abi::Properties set, const char* name, int index, Taken take) {
  const std::scoped_lock lock(properties_mutex());
  if (set == nullptr) {
    return abi::kBadHandle;
  }
  const PropertySet::Value* const value = set_of(set).get(name, index);
  if (value == nullptr || !std::holds_alternative<Value>(*value)) {
    return abi::kUnknown;
  }
  take(std::get<Value>(*value));
  return abi::kOk;
}

const abi::PropertySuite kProperties{
    .set_pointer = set_value<void*, void*>,
    .set_string = set_value<std::string, const char*>,
    .set_double = set_value<double, double>,
    .set_int = set_value<int, int>,
    .set_many = {},
    .get_pointer =
        [](abi::Properties set, const char* name, int index, void** value) {
          return get_value<void*>(set, name, index, [value](void* own) { *value = own; });
        },
    .get_string =
        [](abi::Properties set, const char* name, int index, char** value) {
          return get_value<std::string>(
              set, name, index, [value](const std::string& own) { *value = const_cast<char*>(own.c_str()); });
        },
    .get_double =
        [](abi::Properties set, const char* name, int index, double* value) {
          return get_value<double>(set, name, index, [value](double own) { *value = own; });
        },
    .get_int =
        [](abi::Properties set, const char* name, int index, int* value) {
          return get_value<int>(set, name, index, [value](int own) { *value = own; });
        },
    .get_many = {},
    .reset = nullptr,
    .dimension =
        [](abi::Properties set, const char* name, int* count) {
          const std::scoped_lock lock(properties_mutex());
          *count = set_of(set).dimension(name);
          return abi::kOk;
        },
};

// Clips' handles live as long as the process.
abi::Clip clip_handle(HostEffect& effect, const char* name) {
  static std::map<std::pair<HostEffect*, std::string>, std::unique_ptr<ClipHandle>> handles;
  const std::scoped_lock lock(properties_mutex());
  std::unique_ptr<ClipHandle>& handle = handles[{&effect, name}];
  if (handle == nullptr) {
    handle = std::make_unique<ClipHandle>(ClipHandle{&effect, name});
  }
  return reinterpret_cast<abi::Clip>(handle.get());
}
ClipHandle& clip_of(abi::Clip clip) { return *reinterpret_cast<ClipHandle*>(clip); }

const abi::EffectSuite kEffects{
    .properties =
        [](abi::Effect effect, abi::Properties* properties) {
          *properties = effect_of(effect).properties().handle();
          return abi::kOk;
        },
    .parameters =
        [](abi::Effect effect, abi::Parameters* parameters) {
          *parameters = reinterpret_cast<abi::Parameters>(effect);
          return abi::kOk;
        },
    .define_clip =
        [](abi::Effect effect, const char* name, abi::Properties* properties) {
          *properties = effect_of(effect).clips_[name].handle();
          return abi::kOk;
        },
    .clip =
        [](abi::Effect effect, const char* name, abi::Clip* clip, abi::Properties* properties) {
          if (!effect_of(effect).clips_.contains(name)) {
            return abi::kBadHandle;
          }
          *clip = clip_handle(effect_of(effect), name);
          if (properties != nullptr) {
            *properties = effect_of(effect).clips_[name].handle();
          }
          return abi::kOk;
        },
    .clip_properties =
        [](abi::Clip clip, abi::Properties* properties) {
          *properties = clip_of(clip).effect->clips_.at(clip_of(clip).name).handle();
          return abi::kOk;
        },
    .image =
        [](abi::Clip clip, double time, const abi::Area* /*region*/, abi::Properties* image) {
          auto& [effect, name] = clip_of(clip);
          PropertySet* const made = effect->image(name, time);
          *image = made == nullptr ? nullptr : made->handle();
          return made == nullptr ? effect->status_of(name, time) : abi::kOk;
        },
    .release_image =
        [](abi::Properties image) {
          const std::unique_ptr<PropertySet> ended(&set_of(image));
          return abi::kOk;
        },
    .region_of_definition =
        [](abi::Clip clip, double /*time*/, abi::Area* region) {
          const abi::Rectangle& bounds = clip_of(clip).effect->source().frames.front().bounds;
          *region = {double(bounds.x1), double(bounds.y1), double(bounds.x2), double(bounds.y2)};
          return abi::kOk;
        },
    .abort = [](abi::Effect effect) { return effect_of(effect).aborts ? 1 : 0; },
    .memory = {},
};

// The arguments of a parameter's type.
abi::Status get_parameter(abi::Parameter handle, ...) {
  const std::scoped_lock lock(properties_mutex());
  HostParameter& parameter = parameter_of(handle);
  if (parameter.status != abi::kOk) {
    return parameter.status;
  }
  std::va_list arguments;
  va_start(arguments, handle);
  if (parameter.type == abi::parameter::kString) {
    *va_arg(arguments, char**) = parameter.text.data();
  } else if (parameter.type == abi::parameter::kChoice) {
    *va_arg(arguments, int*) = static_cast<int>(parameter.numbers.at(0));
  } else {
    for (const double number : parameter.numbers) {
      *va_arg(arguments, double*) = number;
    }
  }
  va_end(arguments);
  return abi::kOk;
}

abi::Status set_parameter(abi::Parameter handle, ...) {
  const std::scoped_lock lock(properties_mutex());
  HostParameter& parameter = parameter_of(handle);
  std::va_list arguments;
  va_start(arguments, handle);
  if (parameter.type == abi::parameter::kString) {
    parameter.text = va_arg(arguments, const char*);
  } else if (parameter.type == abi::parameter::kChoice) {
    parameter.numbers = {static_cast<double>(va_arg(arguments, int))};
  } else {
    for (double& number : parameter.numbers) {
      number = va_arg(arguments, double);
    }
  }
  va_end(arguments);
  return abi::kOk;
}

const abi::ParameterSuite kParameters{
    .define =
        [](abi::Parameters set, const char* type, const char* name, abi::Properties* properties) {
          HostEffect& effect = effect_of(reinterpret_cast<abi::Effect>(set));
          EXPECT_FALSE(effect.has_parameter(name)) << name;
          HostParameter& parameter = effect.parameters_[name];
          parameter.type = type;
          *properties = parameter.properties.handle();
          return abi::kOk;
        },
    .handle =
        [](abi::Parameters set, const char* name, abi::Parameter* parameter,
           abi::Properties* /*properties*/) {
          HostEffect& effect = effect_of(reinterpret_cast<abi::Effect>(set));
          if (!effect.has_parameter(name)) {
            return abi::kUnknown;
          }
          *parameter = reinterpret_cast<abi::Parameter>(&effect.parameter(name));
          return abi::kOk;
        },
    .set_properties = nullptr,
    .properties =
        [](abi::Parameter parameter, abi::Properties* properties) {
          *properties = parameter_of(parameter).properties.handle();
          return abi::kOk;
        },
    .get = get_parameter,
    .get_at_time = nullptr,
    .derivative = nullptr,
    .integral = nullptr,
    .set = set_parameter,
    .set_at_time = nullptr,
    .keys = {},
    .copy = nullptr,
    .begin_edit = [](abi::Parameters /*set*/, const char* /*name*/) { return abi::kOk; },
    .end_edit = [](abi::Parameters /*set*/) { return abi::kOk; },
};

std::string formatted(const char* format, std::va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

abi::Status add_message(void* effect, const char* /*type*/, const char* /*id*/, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  HostEffect& own = effect_of(static_cast<abi::Effect>(effect));
  const std::scoped_lock lock(own.mutex);
  own.messages.push_back(formatted(format, arguments));
  va_end(arguments);
  return abi::kOk;
}

abi::Status set_persistent(void* effect, const char* /*type*/, const char* /*id*/, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  HostEffect& own = effect_of(static_cast<abi::Effect>(effect));
  const std::scoped_lock lock(own.mutex);
  own.message = formatted(format, arguments);
  va_end(arguments);
  return abi::kOk;
}

const abi::MessageSuite kMessages{
    .message = add_message,
    .set_persistent = set_persistent,
    .clear_persistent =
        [](void* effect) {
          effect_of(static_cast<abi::Effect>(effect)).message.clear();
          return abi::kOk;
        },
};

const abi::ProgressSuite kProgress{
    .start = [](void* /*effect*/, const char* /*label*/) { return abi::kOk; },
    .update =
        [](void* effect, double part) {
          HostEffect& own = effect_of(static_cast<abi::Effect>(effect));
          own.progress.push_back(part);
          return own.cancels ? abi::kNo : abi::kYes;
        },
    .end = [](void* /*effect*/) { return abi::kOk; },
};

int offered_message_version = 2;

const void* fetch_suite(abi::Properties /*host*/, const char* name, int version) {
  const std::string suite = name;
  if (suite == abi::kMessageSuite) {
    return version <= offered_message_version ? &kMessages : nullptr;
  }
  const std::map<std::string, const void*> suites{{abi::kPropertySuite, &kProperties},
                                                  {abi::kEffectSuite, &kEffects},
                                                  {abi::kParameterSuite, &kParameters},
                                                  {abi::kProgressSuite, &kProgress}};
  const auto found = suites.find(suite);
  return version == 1 && found != suites.end() ? found->second : nullptr;
}

const char* components_of(int channels) {
  return channels == 4 ? abi::kRgba : channels == 3 ? abi::kRgb : abi::kAlpha;
}

void describe_picture(PropertySet& image, Picture& picture) {
  const abi::Rectangle& bounds = picture.bounds;
  image.set(property::kDepth, picture.depth);
  image.set(property::kComponents, std::string(components_of(picture.channels)));
  image.set(property::kData, static_cast<void*>(picture.pixel(bounds.x1, bounds.y1)));
  image.set(property::kRowBytes,
            static_cast<int>(picture.is_top_down ? -picture.row_size() : picture.row_size()));
  for (int i = 0; const int bound : {bounds.x1, bounds.y1, bounds.x2, bounds.y2}) {
    image.set(property::kBounds, bound, i++);
  }
}

}  // namespace

std::size_t Picture::sample_bytes() const { return depth == abi::kByte ? 1 : depth == abi::kFloat ? 4 : 2; }

std::ptrdiff_t Picture::row_size() const {
  return static_cast<std::ptrdiff_t>(
      static_cast<std::size_t>((bounds.x2 - bounds.x1) * channels) * sample_bytes() + kPadding);
}

std::byte* Picture::pixel(int x, int y) {
  const int row = is_top_down ? bounds.y2 - 1 - y : y - bounds.y1;
  return samples.data() + row * row_size() +
         static_cast<std::size_t>((x - bounds.x1) * channels) * sample_bytes();
}

bool Picture::same_pixels(const Picture& other) const {
  if (bounds != other.bounds || channels != other.channels || depth != other.depth) {
    return false;
  }
  const std::size_t size = static_cast<std::size_t>(row_size()) - kPadding;
  for (int y = bounds.y1; y < bounds.y2; ++y) {
    if (std::memcmp(pixel(bounds.x1, y), other.pixel(bounds.x1, y), size) != 0) {
      return false;
    }
  }
  return true;
}

Picture empty_picture(const abi::Rectangle& bounds, int channels, const std::string& depth,
                      bool is_top_down) {
  Picture picture{bounds, channels, depth, is_top_down, {}};
  picture.samples.assign(static_cast<std::size_t>(picture.row_size() * (bounds.y2 - bounds.y1)),
                         std::byte{0xa5});
  return picture;
}

Picture picture_of(const Frame& frame, int x, int y, bool is_top_down) {
  const FrameFormat& format = frame.format;
  const char* const depth = format.bytes_per_sample() == 1   ? abi::kByte
                            : format.bytes_per_sample() == 4 ? abi::kFloat
                            : format.is_float()              ? abi::kHalf
                                                             : abi::kShort;
  Picture picture =
      empty_picture({x, y, x + format.width, y + format.height}, format.plane_count(), depth, is_top_down);
  const std::size_t size = picture.sample_bytes();
  for (int c = 0; c < picture.channels; ++c) {
    for (int row = 0; row < format.height; ++row) {
      for (int column = 0; column < format.width; ++column) {
        std::memcpy(
            picture.pixel(x + column, y + format.height - 1 - row) + static_cast<std::size_t>(c) * size,
            frame.planes[c].row<std::byte>(row) + static_cast<std::size_t>(column) * size, size);
      }
    }
  }
  return picture;
}

void PropertySet::set(const std::string& name, Value value, int index) {
  values_[name][index] = std::move(value);
}

const PropertySet::Value* PropertySet::get(const std::string& name, int index) const {
  const auto property = values_.find(name);
  if (property == values_.end()) {
    return nullptr;
  }
  const auto value = property->second.find(index);
  return value == property->second.end() ? nullptr : &value->second;
}

int PropertySet::dimension(const std::string& name) const {
  const auto property = values_.find(name);
  return property == values_.end() ? 0 : static_cast<int>(property->second.size());
}

std::string PropertySet::text(const std::string& name, int index) const {
  const Value* const value = get(name, index);
  return value == nullptr ? "" : std::get<std::string>(*value);
}

double PropertySet::number(const std::string& name, int index) const {
  const Value* const value = get(name, index);
  return value == nullptr ? std::numeric_limits<double>::quiet_NaN() : std::get<double>(*value);
}

int PropertySet::whole(const std::string& name, int index) const {
  const Value* const value = get(name, index);
  return value == nullptr ? -1 : std::get<int>(*value);
}

abi::Status HostEffect::act(const char* action, PropertySet& in, PropertySet& out) {
  return plugin_.entry(action, handle(), in.handle(), out.handle());
}

abi::Status HostEffect::describe(const char* context) {
  PropertySet in;
  PropertySet out;
  const abi::Status status = act(abi::kDescribe, in, out);
  in.set(property::kContext, std::string(context));
  return status == abi::kOk ? act(abi::kDescribeInContext, in, out) : status;
}

std::unique_ptr<HostEffect> HostEffect::instance(SourceClip source) {
  auto made = std::make_unique<HostEffect>(plugin_);
  made->properties_ = properties_;
  made->clips_ = clips_;
  made->parameters_ = parameters_;
  made->source_ = std::move(source);
  const SourceClip& clip = made->source_;
  for (auto& [name, parameter] : made->parameters_) {
    const PropertySet& own = parameter.properties;
    if (parameter.type == abi::parameter::kString) {
      parameter.text = own.text(abi::parameter::kDefault);
    } else if (parameter.type == abi::parameter::kChoice) {
      parameter.numbers = {static_cast<double>(own.whole(abi::parameter::kDefault))};
    } else if (parameter.type == abi::parameter::kDouble) {
      parameter.numbers = {own.number(abi::parameter::kDefault)};
    } else if (parameter.type == abi::parameter::kDouble2D) {  // in parts of the picture
      const abi::Rectangle bounds = clip.frames.empty() ? abi::Rectangle{} : clip.frames.front().bounds;
      parameter.numbers = {own.number(abi::parameter::kDefault, 0) * (bounds.x2 - bounds.x1) / clip.scale,
                           own.number(abi::parameter::kDefault, 1) * (bounds.y2 - bounds.y1) / clip.scale};
    }
  }
  PropertySet& properties = made->clips_.at(abi::kSource);
  properties.set(property::kFrameRange, clip.first_time, 0);
  properties.set(property::kFrameRange, clip.first_time + static_cast<double>(clip.frames.size()) - 1, 1);
  PropertySet in;
  PropertySet out;
  EXPECT_EQ(made->act(abi::kCreateInstance, in, out), abi::kOk);
  made->is_instance_ = true;
  return made;
}

HostEffect::~HostEffect() {
  if (is_instance_) {
    PropertySet in;
    PropertySet out;
    EXPECT_EQ(act(abi::kDestroyInstance, in, out), abi::kOk);
  }
}

PropertySet* HostEffect::image(const std::string& clip, double time) {
  const std::scoped_lock lock(mutex);
  auto made = std::make_unique<PropertySet>();
  if (clip == abi::kOutput) {
    const auto output = outputs_.find(time);
    if (output == outputs_.end()) {
      return nullptr;
    }
    describe_picture(*made, *output->second);
    return made.release();
  }
  const double n = time - source_.first_time;
  if (n < 0 || n >= static_cast<double>(source_.frames.size()) || n != std::floor(n)) {
    return nullptr;
  }
  ++fetched_;
  if (!announced_times_.contains(time)) {
    unannounced_.insert(time);
  }
  if (source_.missing.contains(time)) {
    return nullptr;
  }
  describe_picture(*made, source_.frames[static_cast<std::size_t>(n)]);
  if (source_.row_bytes != 0) {
    made->set(property::kRowBytes, source_.row_bytes);
  }
  made->set(property::kPremultiplication, source_.premultiplication);
  made->set(property::kField, source_.field);
  made->set(property::kRenderScale, source_.scale, 0);
  made->set(property::kRenderScale, source_.scale, 1);
  made->set(property::kAspectRatio, 1.0);
  made->set(property::kIdentifier, source_.has_identifiers ? "frame " + std::to_string(time) : std::string());
  return made.release();
}

abi::Status HostEffect::status_of(const std::string& clip, double time) const {
  const auto missing = source_.missing.find(time);
  return clip == abi::kOutput || missing == source_.missing.end() ? abi::kFailed : missing->second;
}

void HostEffect::ask_for_frames(double time) {
  PropertySet in;
  PropertySet out;
  in.set(property::kTime, time);
  act(abi::kGetFramesNeeded, in, out);
  const std::scoped_lock lock(mutex);
  announced_times_.insert(std::floor(time));
  for (int i = 0; i + 1 < out.dimension(property::kSourceFrames); i += 2) {
    for (double t = out.number(property::kSourceFrames, i); t <= out.number(property::kSourceFrames, i + 1);
         ++t) {
      announced_times_.insert(t);
    }
  }
}

HostEffect::Rendered HostEffect::render(double time, const abi::Rectangle* window, const char* field) {
  PropertySet in;
  PropertySet out;
  in.set(property::kTime, time);
  in.set(property::kFieldToRender, std::string(field));
  in.set(property::kRenderScale, source_.scale, 0);
  in.set(property::kRenderScale, source_.scale, 1);
  Rendered rendered;
  const Picture& like = source_.frames.at(static_cast<std::size_t>(std::floor(time - source_.first_time)));
  const abi::Rectangle bounds = output_bounds.value_or(like.bounds);
  rendered.picture = empty_picture(bounds, like.channels, like.depth, like.is_top_down);
  const abi::Rectangle& area = window == nullptr ? bounds : *window;
  for (int i = 0; const int edge : {area.x1, area.y1, area.x2, area.y2}) {
    in.set(property::kRenderWindow, edge, i++);
  }
  rendered.is_identity = act(abi::kIsIdentity, in, out) == abi::kOk;
  ask_for_frames(time);
  {
    const std::scoped_lock lock(mutex);
    outputs_[time] = &rendered.picture;
  }
  rendered.status = act(abi::kRender, in, out);
  const std::scoped_lock lock(mutex);
  outputs_.erase(time);
  return rendered;
}

std::map<double, Picture> HostEffect::render_all(const std::vector<double>& times, int threads) {
  std::map<double, Picture> results;
  std::mutex results_mutex;
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (std::size_t at = next++; at < times.size(); at = next++) {
        Rendered rendered = render(times[at]);
        const std::scoped_lock lock(results_mutex);
        EXPECT_EQ(rendered.status, abi::kOk) << "frame " << times[at] << ": " << message;
        results[times[at]] = std::move(rendered.picture);
      }
    });
  }
  for (std::thread& each : running) {
    each.join();
  }
  return results;
}

abi::Status HostEffect::end_sequence(std::optional<std::pair<double, double>> range) {
  PropertySet in;
  PropertySet out;
  if (range) {
    in.set(property::kFrameRange, range->first, 0);
    in.set(property::kFrameRange, range->second, 1);
  }
  in.set(property::kIsInteractive, 0);
  return act(abi::kEndSequence, in, out);
}

abi::Status HostEffect::press(const std::string& parameter, double time) {
  PropertySet in;
  PropertySet out;
  in.set(property::kType, std::string(abi::kTypeParameter));
  in.set(property::kName, parameter);
  in.set(property::kTime, time);
  return act(abi::kInstanceChanged, in, out);
}

abi::Status HostEffect::source_changed(const char* reason) {
  PropertySet in;
  PropertySet out;
  in.set(property::kChangeReason, std::string(reason));
  in.set(property::kType, std::string(abi::kTypeClip));
  in.set(property::kName, std::string(abi::kSource));
  return act(abi::kInstanceChanged, in, out);
}

HostParameter& HostEffect::parameter(const std::string& name) { return parameters_.at(name); }

void HostEffect::set(const std::string& name, double value) {
  parameter(name).numbers = {value};
  press(name, 0);
}

void HostEffect::set(const std::string& name, double first, double second) {
  parameter(name).numbers = {first, second};
}

void HostEffect::set(const std::string& name, const std::string& value) { parameter(name).text = value; }

std::string HostEffect::project() const {
  std::ostringstream text;
  text.precision(17);
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.type == abi::parameter::kString) {
      text << name << '\t' << parameter.text << '\n';
    } else if (!parameter.numbers.empty()) {
      text << name;
      for (const double number : parameter.numbers) {
        text << '\t' << number;
      }
      text << '\n';
    }
  }
  return text.str();
}

void HostEffect::load_project(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    HostParameter& own = parameter(line.substr(0, tab));
    if (own.type == abi::parameter::kString) {
      own.text = line.substr(tab + 1);
      continue;
    }
    std::istringstream numbers(line.substr(tab + 1));
    for (double& number : own.numbers) {
      numbers >> number;
    }
  }
}

abi::Plugin* load_plugin(const char* binary, int message_version) {
  offered_message_version = message_version;
  void* const library = load_library(binary);
  const auto count = reinterpret_cast<int (*)()>(find_function(library, "OfxGetNumberOfPlugins"));
  const auto get = reinterpret_cast<abi::Plugin* (*)(int)>(find_function(library, "OfxGetPlugin"));
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(get(1), nullptr);
  abi::Plugin* const plugin = get(0);
  static PropertySet host_properties;
  static abi::Host host{host_properties.handle(), fetch_suite};
  plugin->set_host(&host);
  EXPECT_EQ(plugin->entry(abi::kLoad, nullptr, nullptr, nullptr), abi::kOk);
  return plugin;
}

}  // namespace limpid::lib::openfx
