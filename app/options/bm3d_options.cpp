#include "app/options/bm3d_options.h"

#include "core/base/error.h"

namespace limpid::app {
namespace {

template <typename Value>
void replace(Value& value, const std::optional<Value>& replacement) {
  value = replacement.value_or(value);
}

}  // namespace

void Bm3dOptions::Step::add_to(CommandLine& command, const std::string& suffix) {
  const std::string group = suffix.empty()
                                ? "BM3D step 1, hard thresholding, in place of the profile's values"
                                : "BM3D step 2, Wiener filtering, in place of the profile's values";
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    options.push_back(command.add_option(name + suffix, value, help)->type_name(type)->group(group));
  };
  const bool shared = suffix.empty();
  add("--patch-size", patch_size, "N",
      shared ? "Side of a patch, 2 to 16; of nlm and nlm-bilateral: odd, up to 21"
             : "Side of a patch, 2 to 16");
  add("--step", step, "N", "Distance between reference patches");
  add("--group-size", group_size, "N", "Most patches in a group, 1 to 64");
  add("--search-window", search_window, "N",
      shared ? "Side of the window searched for patches, odd; of nlm-bilateral, 0: the whole plane"
             : "Side of the window searched for patches, odd");
  add("--tau", tau, "X", "Greatest mean squared difference of a match");
  add("--kaiser-beta", kaiser_beta, "X", "Shape of the aggregation window, 0 (flat) to 8");
  add("--transform-2d", transform_2d, "NAME", "dct, bior1.5, walsh-hadamard or haar");
  add("--transform-1d", transform_1d, "NAME", "Across the group: walsh-hadamard or haar");
}

void Bm3dOptions::Step::apply(Bm3dStep& parameters) const {
  replace(parameters.patch_size, patch_size);
  replace(parameters.step, step);
  replace(parameters.max_group_size, group_size);
  replace(parameters.search_window, search_window);
  replace(parameters.max_distance, tau);
  replace(parameters.kaiser_beta, kaiser_beta);
  if (transform_2d) {
    parameters.transform_2d = parse_transform_2d(*transform_2d);
  }
  if (transform_1d) {
    parameters.transform_1d = parse_transform_1d(*transform_1d);
  }
}

void Bm3dOptions::add_to(CommandLine& command) {
  command.add_option("--profile", profile_, "fast, lc, np or high, from fastest to best [np]")
      ->type_name("NAME")
      ->any_case()
      ->group("Denoising");
  command.add_option("--steps", steps_, "1: hard thresholding alone; 2: and a Wiener step [2]")
      ->type_name("1|2")
      ->in_range(1, 2)
      ->group("Denoising");
  command
      .add_option("--matching", matching_,
                  "nearest: patches most like the reference, as in the paper; statistical: those most likely "
                  "to differ "
                  "by noise alone [statistical]")
      ->type_name("NAME")
      ->any_case()
      ->group("Denoising");
  command
      .add_option("--transform", transform_,
                  "separable: --transform-2d and --transform-1d; dft2d+1d and fft3d, Fourier transforms by "
                  "cuFFT, for comparisons [separable]")
      ->type_name("NAME")
      ->any_case()
      ->group("Denoising");
  hard_threshold_.add_to(command, "");
  command.add_option("--lambda", lambda_, "Coefficients up to lambda x sigma are zeroed")
      ->type_name("X")
      ->group(hard_threshold_.options.front()->get_group());
  wiener_.add_to(command, "-2");
}

Profile Bm3dOptions::profile() const { return profile_ ? parse_profile(*profile_) : Profile::kNp; }

Bm3dParameters Bm3dOptions::parameters(std::optional<Profile> other_profile) const {
  Bm3dParameters parameters = bm3d_profile(other_profile ? *other_profile : profile());
  hard_threshold_.apply(parameters.hard_threshold);
  replace(parameters.lambda, lambda_);
  if (matching_) {
    parameters.matching = parse_matching(*matching_);
  }
  if (transform_) {
    parameters.transform = parse_group_transform(*transform_);
  }
  if (steps_ == 1) {
    for (const Option* option : wiener_.options) {
      if (option->count() > 0) {
        throw UsageError(option->get_name() + " has no effect with --steps 1");
      }
    }
    parameters.wiener.reset();
  } else if (parameters.wiener) {
    wiener_.apply(*parameters.wiener);
  }
  parameters.validate();
  return parameters;
}

}  // namespace limpid::app
