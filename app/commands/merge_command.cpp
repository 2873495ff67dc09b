// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "app/commands/command.h"
#include "app/commands/job_options.h"
#include "app/commands/jobs.h"
#include "app/console/diagnostics.h"
#include "app/console/interrupt.h"
#include "app/console/json_report.h"
#include "app/console/quantity_text.h"
#include "app/jobs/merge.h"
#include "core/base/error.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

struct MergeOptions {
  std::string folder;
  std::string output;
  bool overwrite = false;
  JobMessageOptions messages;
};

/// `files`: null unless a report is requested.
void report_on(const MergedFile& merged, const std::string& input, const std::string& output,
               nlohmann::ordered_json* files) {
  spdlog::info(fmt::format("{}: {} frames, {}, {}", output, merged.frames,
                           merged.joined ? "joined without reencoding" : "encoded", size_text(merged.bytes)));
  if (files != nullptr) {
    files->push_back({{"input", input},
                      {"output", output},
                      {"frames", merged.frames},
                      {"samples", to_hex(merged.hash)},
                      {"joined", merged.joined},
                      {"engines", merged.engines},
                      {"bytes", merged.bytes},
                      {"dropped_streams", io::streams_left_out(merged.diagnostics)}});
  }
}

int merge(const MergeOptions& options, Console& console) {
  options.messages.set_up(console);
  const JobFolder folder(options.folder);
  const Plan plan = read_plan(folder);
  if (const std::string missing = missing_segments(folder, plan); !missing.empty()) {
    throw Error(fmt::format("{}: {}; limpid work {} does them", folder.path(), missing, folder.path()));
  }
  const InterruptWatch interrupts;
  Jobs jobs;
  jobs.output = io::local_name(options.output);
  for (const PlannedInput& input : plan.inputs) {
    jobs.inputs.push_back({input.path, false});
  }
  std::error_code failure;
  jobs.into_folder = plan.inputs.size() > 1 || jobs.output.ends_with('/') ||
                     std::filesystem::is_directory(jobs.output, failure);
  if (jobs.into_folder) {
    require_folder(jobs.output);
    std::filesystem::create_directories(jobs.output, failure);
    if (failure) {
      throw Error(jobs.output + ": can't create the folder: " + failure.message());
    }
  }
  OutputNames names(jobs);
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  bool lacks_report = false;
  for (int input = 0; input < std::ssize(plan.inputs); ++input) {
    const PlannedInput& planned = plan.inputs[static_cast<std::size_t>(input)];
    io::WriterOptions naming = plan.settings.writer;
    const std::string output =
        jobs.into_folder ? names.name_for(planned.path, planned.still_picture, naming) : jobs.output;
    const MergedFile merged = merge_input(folder, plan, input, output,
                                          options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever,
                                          frame_counter(console, options.messages, interrupts, output));
    console.set_status("");
    if (merged.frames == 0) {  // interrupted
      return kExitInterrupted;
    }
    try {
      report_on(merged, planned.path, output, options.messages.json ? &files : nullptr);
    } catch (const std::bad_alloc&) {
      warn_of_missing_report(output);
      lacks_report = true;
    }
  }
  if (options.messages.json && lacks_report) {
    return kExitFailed;
  }
  if (options.messages.json) {
    print_report({{"job", folder.path()}, {"segments", plan.segments.size()}, {"files", files}});
  }
  return kExitDone;
}

}  // namespace

void add_merge_command(CommandLine& program, Command& selected) {
  CommandLine* command = program.add_subcommand("merge", "Join the finished segments of a job into files");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("JOB", options->folder, "Folder of the job")->required();
  constexpr const char* kGroup = "Output";
  command
      ->add_option(
          "-o,--output", options->output,
          "Output file; if the job has several inputs, a folder, where outputs have the names of the inputs")
      ->type_name("OUTPUT")
      ->required()
      ->group(kGroup);
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite existing outputs")->group(kGroup);
  options->messages.add_to(*command);
  command->callback(
      [&selected, options] { selected = [options](Console& console) { return merge(*options, console); }; });
}

}  // namespace limpid::app
