// SPDX-License-Identifier: MIT
// The OpenFX plug-in: the effect Limpid, over the C library.
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "plugins/openfx/effect.h"
#include "plugins/openfx/parameters.h"

namespace limpid::openfx {
namespace {

abi::Host* given_host = nullptr;

Properties effect_properties(abi::Effect effect) {
  abi::Properties properties = nullptr;
  check(suites().effect->properties(effect, &properties));
  return Properties(properties);
}

void describe(abi::Effect effect) {
  const Properties properties = effect_properties(effect);
  properties.set(abi::property::kLabel, "Limpid");
  properties.set(abi::property::kGrouping, "Noise");
  properties.set(abi::property::kDescription, "Removes noise from video");
  properties.set(abi::property::kVersionLabel, limpid_version());
  properties.set(abi::property::kContexts, abi::kContextFilter, 0);
  properties.set(abi::property::kContexts, abi::kContextGeneral, 1);
  for (int i = 0; const char* depth : {abi::kByte, abi::kShort, abi::kHalf, abi::kFloat}) {
    properties.set(abi::property::kDepths, depth, i++);
  }
  properties.set(abi::property::kThreadSafety, abi::kFullySafe);
  properties.set(abi::property::kHostThreading, 0);
  properties.set(abi::property::kTemporalAccess, 1);
  properties.set(abi::property::kTiles, 0);
  properties.set(abi::property::kMultiResolution, 1);
  properties.set(abi::property::kMultipleDepths, 0);
  properties.set(abi::property::kRenderTwice, 0);
  properties.set(abi::property::kSequential, 2);
}

void describe_in_context(abi::Effect effect) {
  for (const std::string name : {abi::kSource, abi::kOutput}) {
    abi::Properties made = nullptr;
    check(suites().effect->define_clip(effect, name.c_str(), &made));
    const Properties clip(made);
    for (int i = 0; const char* components : {abi::kRgba, abi::kRgb, abi::kAlpha}) {
      clip.set(abi::property::kSupportedComponents, components, i++);
    }
    clip.set(abi::property::kTemporalAccess, name == abi::kSource ? 1 : 0);
    clip.set(abi::property::kTiles, 0);
    clip.set(abi::property::kFieldExtraction, abi::kFieldBoth);
  }
  abi::Parameters parameters = nullptr;
  suites().effect->parameters(effect, &parameters);
  define_parameters(parameters);
}

Effect& instance_of(abi::Effect effect) {
  auto* const own = static_cast<Effect*>(effect_properties(effect).pointer(abi::property::kInstanceData));
  if (own == nullptr) {
    throw Failure(abi::kBadHandle);
  }
  return *own;
}

void create(abi::Effect effect) {
  auto own = std::make_unique<Effect>(effect);
  effect_properties(effect).set(abi::property::kInstanceData, static_cast<void*>(own.release()));
}

void destroy(abi::Effect effect) {
  const std::unique_ptr<Effect> ended(&instance_of(effect));
  effect_properties(effect).set(abi::property::kInstanceData, static_cast<void*>(nullptr));
}

// Actions of instances.
abi::Status act(const std::string& action, Effect& own, const Properties& in, const Properties& out) {
  if (action == abi::kRender) {
    own.render(in);
  } else if (action == abi::kGetFramesNeeded) {
    own.frames_needed(in, out);
  } else if (action == abi::kGetRegionsOfInterest) {
    own.regions_of_interest(in, out);
  } else if (action == abi::kIsIdentity) {
    return own.is_identity(in, out) ? abi::kOk : abi::kDefault;
  } else if (action == abi::kInstanceChanged) {
    own.changed(in);
  } else if (action == abi::kEndSequence) {
    own.end_sequence(in);
  } else if (action == abi::kPurgeCaches) {
    own.purge();
  } else {
    return abi::kDefault;
  }
  return abi::kOk;
}

abi::Status act_and_tell(const std::string& action, abi::Effect effect, const Properties& in,
                         const Properties& out) {
  Effect& own = instance_of(effect);
  try {
    return act(action, own, in, out);
  } catch (const Failure& failure) {
    own.messages().error(failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    return abi::kNoMemory;
  } catch (const std::exception& error) {
    own.messages().error(error.what());
    return abi::kFailed;
  }
}

bool is_of_instance(const std::string& action) {
  for (const char* const each :
       {abi::kRender, abi::kGetFramesNeeded, abi::kGetRegionsOfInterest, abi::kIsIdentity,
        abi::kInstanceChanged, abi::kEndSequence, abi::kPurgeCaches}) {
    if (action == each) {
      return true;
    }
  }
  return false;
}

abi::Status run(const std::string& action, abi::Effect effect, abi::Properties in, abi::Properties out) {
  if (is_of_instance(action)) {
    return act_and_tell(action, effect, Properties(in), Properties(out));
  }
  if (action == abi::kLoad) {
    load_suites(given_host);
  } else if (action == abi::kDescribe) {
    describe(effect);
  } else if (action == abi::kDescribeInContext) {
    describe_in_context(effect);
  } else if (action == abi::kCreateInstance) {
    create(effect);
  } else if (action == abi::kDestroyInstance) {
    destroy(effect);
  } else if (action != abi::kUnload) {
    return abi::kDefault;
  }
  return abi::kOk;
}

abi::Status entry(const char* action, const void* handle, abi::Properties in, abi::Properties out) {
  try {
    return run(action, static_cast<abi::Effect>(const_cast<void*>(handle)), in, out);
  } catch (const Failure& failure) {
    return failure.status();
  } catch (const std::bad_alloc&) {
    return abi::kNoMemory;
  } catch (const std::exception&) {
    return abi::kFailed;
  }
}

void set_host(abi::Host* host) { given_host = host; }

abi::Plugin plugin{.api = abi::kApi,
                   .api_version = 1,
                   .identifier = "org.limpid.limpid",
                   .version_major = LIMPID_MAJOR,
                   .version_minor = LIMPID_MINOR,
                   .set_host = set_host,
                   .entry = entry};

}  // namespace
}  // namespace limpid::openfx

// Hosts find these functions by their names.
extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming)
LIMPID_EXPORTED int OfxGetNumberOfPlugins() { return 1; }

// NOLINTNEXTLINE(readability-identifier-naming)
LIMPID_EXPORTED limpid::openfx::abi::Plugin* OfxGetPlugin(int number) {
  return number == 0 ? &limpid::openfx::plugin : nullptr;
}
}
