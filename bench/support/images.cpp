// SPDX-License-Identifier: MIT
#include "bench/support/images.h"

#include <variant>

#include "core/base/error.h"
#include "core/frame/metrics.h"
#include "io/media/reader.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {

Frame read_picture(const std::filesystem::path& file) {
  io::Reader reader(file.string());
  io::Reader::Item item = reader.read();
  while (std::holds_alternative<std::shared_ptr<io::Packet>>(item)) {
    item = reader.read();
  }
  if (Frame* frame = std::get_if<Frame>(&item)) {
    return *frame;
  }
  throw Error(file.string() + " has no picture");
}

Frame to_float(const Frame& frame) {
  Frame result = allocate_frame(oracle::as_float(frame.format));
  for (int plane = 0; plane < frame.format.plane_count(); ++plane) {
    oracle::store(oracle::to_picture(frame, plane), result, plane);
  }
  return result;
}

Frame plane_as_gray(const Frame& frame, int plane) {
  Frame result = frame;
  result.format = oracle::gray(frame.planes[plane].width, frame.planes[plane].height);
  result.format.sample_type = frame.format.sample_type;
  result.format.bit_depth = frame.format.bit_depth;
  result.planes = {frame.planes[plane]};
  return result;
}

double psnr(const Frame& reference, const Frame& test) {
  double energy = 0;
  double samples = 0;
  for (int plane = 0; plane < reference.format.color_plane_count(); ++plane) {
    const Plane& view = reference.planes[plane];
    const double count = static_cast<double>(view.width) * view.height;
    energy += count * mean_squared_error(view, reference.format, test.planes[plane], test.format);
    samples += count;
  }
  return psnr_from_mse(energy / samples);
}

}  // namespace limpid::benchmarks
