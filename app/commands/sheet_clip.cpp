// SPDX-License-Identifier: MIT
#include "app/commands/sheet_clip.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <variant>

#include "core/base/error.h"
#include "io/media/reader.h"
#include "io/screen/png.h"

namespace limpid::app {
namespace {

// A new folder, removed with its files.
class PictureFolder {
 public:
  PictureFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "limpid-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw Error(name + ": can't create this folder for the pictures of --clip");
    }
    path_ = name;
  }
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;
  PictureFolder(PictureFolder&&) = delete;
  PictureFolder& operator=(PictureFolder&&) = delete;
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
