// SPDX-License-Identifier: MIT
#include "app/commands/sheet_clip.h"

#include <spdlog/fmt/fmt.h>

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <variant>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "io/media/reader.h"
#include "io/screen/png.h"

namespace limpid::app {
namespace {

// A new folder, removed with its files.
class PictureFolder : NotCopyable {
 public:
  PictureFolder() {
    path_ = std::filesystem::temp_directory_path() / ("limpid-" + io::new_temporary_mark());
    std::error_code error;
    if (!std::filesystem::create_directory(path_, error)) {
      throw Error(path_.string() + ": can't create this folder for the pictures of --clip");
    }
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
  }
  ~PictureFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

void write_clip(const std::string& file, const std::vector<ContactSheet>& sheets, double frames_per_second,
                io::Overwrite overwrite) {
  const PictureFolder folder;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    io::write_png(folder.file(fmt::format("{:06}.png", i)), sheets[i].draw(), io::Overwrite::kNever);
  }
  constexpr double kUsualRate = 25;
  io::ReaderOptions pictures;
  pictures.options = {
      {"framerate", fmt::format("{}", frames_per_second > 0 ? frames_per_second : kUsualRate)}};
  io::Reader reader(folder.file("%06d.png"), pictures);
  io::WriterOptions options;
  options.overwrite = overwrite;
  options.for_players = true;
  io::Writer writer(file, reader, options);
  for (io::Reader::Item item = reader.read(); !std::holds_alternative<io::Reader::End>(item);
       item = reader.read()) {
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      writer.write(*frame);
    }
  }
  writer.finish();
}

}  // namespace limpid::app
