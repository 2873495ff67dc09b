// SPDX-License-Identifier: MIT
// The files of a job, noise profiles and film grain tables, as workers and commands read them. The first byte
// selects the file, the rest is its content.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>

#include "app/console/durable_file.h"
#include "app/jobs/job_folder.h"
#include "app/jobs/plan.h"
#include "core/base/error.h"
#include "core/grain/film_grain.h"
#include "core/settings/noise_settings.h"
#include "io/media/segments.h"

namespace limpid::app {
namespace {

/// A folder in memory that is removed with the process.
class FuzzedFolder {
 public:
  FuzzedFolder()
      : job_((std::filesystem::path("/dev/shm") / ("limpid-fuzz-" + std::to_string(::getpid()))).string()) {
    std::filesystem::create_directory(job_.path());
    job_.create();
  }
  FuzzedFolder(const FuzzedFolder&) = delete;
  FuzzedFolder(FuzzedFolder&&) = delete;
  FuzzedFolder& operator=(const FuzzedFolder&) = delete;
  FuzzedFolder& operator=(FuzzedFolder&&) = delete;
  ~FuzzedFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(job_.path(), ignored);
  }
  const JobFolder& job() const { return job_; }

 private:
  JobFolder job_;
};

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

void read(unsigned kind, const JobFolder& job, Claims& claims, const std::string& content) {
  const std::string other = job.path() + "/other";
  switch (kind) {
    case 0:
      write(job.plan(), content);
      static_cast<void>(to_json(read_plan(job).settings).dump());
      break;
    case 1:
      write(job.segment(0), content);
      static_cast<void>(to_json(read_segment_plan(job, 0, 2)).dump());
      break;
    case 2: {
      Plan plan;
      plan.segments.push_back({.frames = 2});
      write(job.done(0), content);
      static_cast<void>(read_done(job, plan, 0));
      break;
    }
    case 3:
      write(job.claim(0), content);
      static_cast<void>(claims.is_taken(0));
      break;
    case 4:
      write(other, content);
      static_cast<void>(to_json(read_noise_profile(other)).dump());
      break;
    case 5: {
      NoiseChoice choice;
      find_noise_field("noise")->parse(choice, "noise", content);
      break;
    }
    case 6: {
      const FilmGrainTable table = parse_film_grain_table(content, "table");
      static_cast<void>(parse_film_grain_table(to_text(scaled(rebased(table, 1), 0.5)), "written table"));
      const FrameFormat format{.width = 40,
                               .height = 40,
                               .color_model = ColorModel::kYuv,
                               .chroma_shift_x = 1,
                               .chroma_shift_y = 1};
      static_cast<void>(with_film_grain(for_format(table.front().grain, format), allocate_frame(format)));
      break;
    }
    default: {
      write(other, content);
      io::PacketFileReader packets(other, 64, 48);
      static_cast<void>(packets.entries());
      while (packets.read() != nullptr) {
      }
    }
  }
}

}  // namespace
}  // namespace limpid::app

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);  // NOLINT: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  static const limpid::app::FuzzedFolder folder;
  // Claims use the name until their end, so it is constructed first.
  [[maybe_unused]] static const std::string& name = limpid::app::process_name();
  static limpid::app::Claims claims(folder.job(), 3600);
  if (size == 0) {
    return 0;
  }
  try {
    limpid::app::read(data[0] % 8U, folder.job(), claims,
                      {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const limpid::Error&) {  // NOLINT(bugprone-empty-catch): a sentence is the right answer
  }
  return 0;
}
