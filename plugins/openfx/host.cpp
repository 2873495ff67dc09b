// SPDX-License-Identifier: MIT
#include "plugins/openfx/host.h"

namespace limpid::openfx {
namespace {

Suites& loaded_suites() {
  static Suites suites;
  return suites;
}

template <typename Suite>
const Suite* fetch(const abi::Host* host, const char* name, int version = 1) {
  return static_cast<const Suite*>(host->suite(host->properties, name, version));
}

}  // namespace

void load_suites(const abi::Host* host) {
  if (host == nullptr || host->suite == nullptr) {
    throw Failure(abi::kMissingHostFeature);
  }
  Suites& own = loaded_suites();
  own.properties = fetch<abi::PropertySuite>(host, abi::kPropertySuite);
  own.effect = fetch<abi::EffectSuite>(host, abi::kEffectSuite);
  own.parameters = fetch<abi::ParameterSuite>(host, abi::kParameterSuite);
  own.progress = fetch<abi::ProgressSuite>(host, abi::kProgressSuite);
  for (const int version : {2, 1}) {
    own.message = fetch<abi::MessageSuite>(host, abi::kMessageSuite, version);
    own.message_version = version;
    if (own.message != nullptr) {
      break;
    }
  }
  if (own.properties == nullptr || own.effect == nullptr || own.parameters == nullptr) {
    throw Failure(abi::kMissingHostFeature);
  }
}

const Suites& suites() { return loaded_suites(); }

std::string Properties::text(const char* name, int index) const {
  char* value = nullptr;
  const abi::Status status = suites().properties->get_string(set_, name, index, &value);
  return status == abi::kOk && value != nullptr ? value : "";
}

int Properties::whole(const char* name, int index, int otherwise) const {
  int value = 0;
  return suites().properties->get_int(set_, name, index, &value) == abi::kOk ? value : otherwise;
}

double Properties::number(const char* name, int index, double otherwise) const {
  double value = 0;
  return suites().properties->get_double(set_, name, index, &value) == abi::kOk ? value : otherwise;
}

void* Properties::pointer(const char* name) const {
  void* value = nullptr;
  return suites().properties->get_pointer(set_, name, 0, &value) == abi::kOk ? value : nullptr;
}

void Properties::set(const char* name, const std::string& value, int index) const {
  set(name, value.c_str(), index);
}

void Properties::set(const char* name, const char* value, int index) const {
  suites().properties->set_string(set_, name, index, value);
}

void Properties::set(const char* name, int value, int index) const {
  suites().properties->set_int(set_, name, index, value);
}

void Properties::set(const char* name, double value, int index) const {
  suites().properties->set_double(set_, name, index, value);
}

void Properties::set(const char* name, void* value) const {
  suites().properties->set_pointer(set_, name, 0, value);
}

bool Messages::is_new(const std::string& sentence) {
  const std::scoped_lock lock(mutex_);
  return shown_.insert(sentence).second;
}

void Messages::error(const std::string& sentence) {
  if (suites().message == nullptr || sentence.empty()) {
    return;
  }
  if (suites().message_version < 2) {
    return show_once(abi::kMessageError, sentence);
  }
  const std::scoped_lock lock(mutex_);
  if (persistent_ != sentence) {
    suites().message->set_persistent(effect_, abi::kMessageError, "", "%s", sentence.c_str());
    persistent_ = sentence;
  }
}

void Messages::warn(const std::string& sentence) {
  if (suites().message != nullptr) {
    show_once(abi::kMessageWarning, sentence);
  }
}

// Hosts may show a dialog, and render on other threads until it is closed: the mutex is not held meanwhile.
void Messages::show_once(const char* type, const std::string& sentence) {
  if (is_new(sentence)) {
    suites().message->message(effect_, type, "", "%s", sentence.c_str());
  }
}

void Messages::clear() {
  const std::scoped_lock lock(mutex_);
  if (!persistent_.empty()) {
    suites().message->clear_persistent(effect_);
    persistent_.clear();
  }
}

Progress::Progress(abi::Effect effect, const char* label) : effect_(effect) {
  if (suites().progress != nullptr) {
    suites().progress->start(effect_, label);
  }
}

Progress::~Progress() {
  if (suites().progress != nullptr) {
    suites().progress->end(effect_);
  }
}

bool Progress::update(double part) const {
  return suites().progress == nullptr || suites().progress->update(effect_, part) != abi::kNo;
}

}  // namespace limpid::openfx
