// EXIF and color profiles of pictures, byte for byte.
#include "io/picture_metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/media.h"

namespace limpid::io {
namespace {

Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

void write_bytes(const std::string& path, BytesView bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool contains(BytesView bytes, std::string_view text) {
  return std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) != bytes.end();
}

/// Writes a block field by field, as a camera would.
class ExifMaker {
 public:
  explicit ExifMaker(bool big_endian) : big_endian_(big_endian) {
    bytes_ = big_endian ? Bytes{'M', 'M'} : Bytes{'I', 'I'};
    put(42, 2);
    put(8, 4);
  }
  void put(std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * (big_endian_ ? size - 1 - i : i))));
    }
  }
  void put(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  void field(std::uint16_t tag, std::uint16_t type, std::uint32_t count, std::uint32_t value) {
    put(tag, 2);
    put(type, 2);
    put(count, 4);
    if (type == 3) {
      put(value, 2);
      put(0, 2);
    } else {
      put(value, 4);
    }
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  bool big_endian_;
  Bytes bytes_;
};

constexpr std::string_view kMake{"Canonical\0\0", 10};
constexpr std::string_view kDate{"2024:05:06 07:08:09\0", 20};
constexpr std::string_view kRights{"(c) Somebody\0\0", 14};

/// Make, orientation, date, rights, a directory of details with a size and a maker's note, the latitude, and
/// a preview.
Bytes make_exif(bool big_endian, std::uint16_t orientation) {
  ExifMaker exif(big_endian);
  constexpr std::uint32_t kValues = 8 + 2 + 6 * 12 + 4;
  constexpr std::uint32_t kDetails = kValues + 10 + 20 + 14;
  constexpr std::uint32_t kGps = kDetails + 2 + 3 * 12 + 4 + 8;
  constexpr std::uint32_t kPreview = kGps + 2 + 2 * 12 + 4 + 24;
  exif.put(6, 2);
  exif.field(0x010F, 2, kMake.size(), kValues);
  exif.field(0x0112, 3, 1, orientation);
  exif.field(0x0132, 2, kDate.size(), kValues + 10);
  exif.field(0x8298, 2, kRights.size(), kValues + 30);
  exif.field(0x8769, 4, 1, kDetails);
  exif.field(0x8825, 4, 1, kGps);
  exif.put(kPreview, 4);
  exif.put(kMake);
  exif.put(kDate);
  exif.put(kRights);
  exif.put(3, 2);
  exif.field(0x927C, 7, 8, kDetails + 2 + 36 + 4);
  exif.field(0xA002, 4, 1, 4000);
  exif.field(0xA003, 3, 1, 3000);
  exif.put(0, 4);
  exif.put("a secret");
  exif.put(2, 2);
  exif.field(0x0001, 2, 2, big_endian ? 0x4E000000 : 'N');
  exif.field(0x0002, 5, 3, kGps + 2 + 24 + 4);
  exif.put(0, 4);
  for (const std::uint32_t number : {48, 1, 12, 1, 3456, 100}) {
    exif.put(number, 4);
  }
  exif.put(2, 2);
  exif.field(0x0201, 4, 1, kPreview + 2 + 24 + 4);
  exif.field(0x0202, 4, 1, 9);
  exif.put(0, 4);
  exif.put("A PREVIEW");
  return exif.bytes();
}

/// What looks like a profile as far as anybody here looks into it.
Bytes make_profile(std::size_t size, std::string_view space = "RGB ") {
  Bytes profile(size);
  for (std::size_t i = 0; i < size; ++i) {
    profile[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    profile[i] = static_cast<std::uint8_t>(size >> (24 - 8 * i));
  }
  profile[8] = 4;
  std::copy_n("mntr", 4, profile.begin() + 12);
  std::copy(space.begin(), space.end(), profile.begin() + 16);
  std::copy_n("XYZ ", 4, profile.begin() + 20);
  std::copy_n("acsp", 4, profile.begin() + 36);
  return profile;
}

AVCodecID codec_of(const std::string& extension) {
  return extension == "jpg"
             ? AV_CODEC_ID_MJPEG
             : avcodec_descriptor_get_by_name(extension == "tif" ? "tiff" : extension.c_str())->id;
}

/// As libav's own decoder gives it.
FrameHandle first_frame(const std::string& file) {
  AVFormatContext* context = nullptr;
  check(avformat_open_input(&context, file.c_str(), nullptr, nullptr), file, "can't open it");
  const InputHandle input(context);
  check(avformat_find_stream_info(context, nullptr), file, "can't read it");
  const AVCodec* const codec = avcodec_find_decoder(context->streams[0]->codecpar->codec_id);
  const CodecHandle decoder(avcodec_alloc_context3(codec));
  decoder->thread_count = 1;
  check(avcodec_parameters_to_context(decoder.get(), context->streams[0]->codecpar), file, "can't decode it");
  check(avcodec_open2(decoder.get(), codec, nullptr), file, "can't decode it");
  PacketHandle packet = make_packet();
  FrameHandle frame = make_frame();
  check(av_read_frame(context, packet.get()), file, "can't read it");
  check(avcodec_send_packet(decoder.get(), packet.get()), file, "can't decode it");
  avcodec_send_packet(decoder.get(), nullptr);
  check(avcodec_receive_frame(decoder.get(), frame.get()), file, "can't decode it");
  return frame;
}

class PictureMetadataTest : public MediaTest {
 protected:
  /// A picture with these; "" has none.
  std::string make_picture(const std::string& extension, const PictureMetadata& metadata) const {
    const std::string format = extension == "jpg" ? "yuvj420p" : extension == "webp" ? "bgra" : "rgb24";
    std::string plain = path("plain." + extension);
    if (!std::filesystem::exists(plain)) {
      plain =
          make("plain." + extension, "-f lavfi -i testsrc2=s=48x32 -frames:v 1 -update 1 -pix_fmt " + format);
    }
    std::string file = path("with." + extension);
    write_bytes(file, with_metadata(codec_of(extension), read_bytes(plain), metadata));
    return file;
  }
};

TEST_F(PictureMetadataTest, GoesFromAnyKindOfPictureToAnyOther) {
  const Bytes profile = make_profile(70'000);  // longer than a segment of a JPEG
  for (const bool big_endian : {false, true}) {
    const Bytes exif = make_exif(big_endian, 1);
    for (const std::string from : {"jpg", "png", "webp", "tif"}) {
      const std::string source = make_picture(from, {exif, profile});
      for (const std::string to : {"jpg", "png", "tif", "webp"}) {
        SCOPED_TRACE(testing::Message() << from << " to " << to);
        const std::string target = path("copy." + to);
        const Transcoded result = transcode(source, target, {.overwrite = Overwrite::kAlways});
        EXPECT_EQ(joined(result.warnings).find("not kept"), std::string::npos) << joined(result.warnings);
        const Bytes written = read_bytes(target);
        const Bytes kept = find_exif(codec_of(to), written);
        for (const std::string_view text : {kMake, kDate, kRights}) {
          EXPECT_TRUE(contains(kept, text)) << text;
        }
        EXPECT_FALSE(contains(kept, "A PREVIEW"));
        if (from != "tif" && to != "tif") {
          EXPECT_EQ(kept, updated_exif(exif, 48, 32, true)) << "byte for byte";
          EXPECT_TRUE(contains(kept, "a secret"));
        }
        const Reader reader(target);
        EXPECT_EQ(reader.video().format.width, 48);
        // As libav reads it.
        const FrameHandle frame = first_frame(target);
        const AVFrameSideData* const data = av_frame_get_side_data(frame.get(), AV_FRAME_DATA_ICC_PROFILE);
        ASSERT_NE(data, nullptr);
        EXPECT_EQ(Bytes(data->data, data->data + data->size), profile);
      }
    }
  }
}

TEST_F(PictureMetadataTest, TellsTheSizeAndOrientationOfWhatIsWritten) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string jpg =
        make_picture("jpg", {make_exif(true, static_cast<std::uint16_t>(orientation)), {}});
    transcode(jpg, path("turned.png"), {.overwrite = Overwrite::kAlways});
    const Clip expected = read_clip(path("turned.png"));
    for (const std::string extension : {"jpg", "png", "webp", "tif"}) {
      SCOPED_TRACE(extension + " " + std::to_string(orientation));
      const Bytes exif = make_exif(extension == "png", static_cast<std::uint16_t>(orientation));
      const std::string source = make_picture(extension, {exif, {}});
      transcode(source, path("copy.jpg"), {.overwrite = Overwrite::kAlways});
      const Bytes kept = find_exif(AV_CODEC_ID_MJPEG, read_bytes(path("copy.jpg")));
      EXPECT_EQ(exif_orientation(exif), orientation);
      EXPECT_EQ(exif_orientation(kept), 1);
      const Clip copy = read_clip(path("copy.jpg"));
      const bool on_its_side = orientation > 4;
      EXPECT_EQ(copy.video.format.width, on_its_side ? 32 : 48);
      EXPECT_EQ(copy.video.format.height, on_its_side ? 48 : 32);
      if (extension != "tif") {
        EXPECT_EQ(kept, updated_exif(exif, copy.video.format.width, copy.video.format.height, true));
      }
      // Not only the size: all four turn it alike.
      transcode(source, path("turned.png"), {.overwrite = Overwrite::kAlways});
      const Clip turned = read_clip(path("turned.png"));
      ASSERT_EQ(turned.video.format.width, expected.video.format.width);
      double difference = 0;
      for (int y = 0; y < turned.video.format.height; ++y) {
        for (int x = 0; x < turned.video.format.width; ++x) {
          difference += std::abs(turned.frames[0].planes[1].row<std::uint8_t>(y)[x] -
                                 expected.frames[0].planes[1].row<std::uint8_t>(y)[x]);
        }
      }
      EXPECT_LT(difference / (48 * 32), 25);
    }
  }
  const Bytes before = make_exif(false, 6);
  const Bytes after = updated_exif(before, 640, 480, false);
  EXPECT_EQ(exif_orientation(after), 6) << "the pixels are as they were";
}

TEST_F(PictureMetadataTest, EachPictureOfASequenceKeepsItsOwn) {
  for (const int number : {1, 2, 3}) {
    Bytes exif = make_exif(false, 1);
    *std::search(exif.begin(), exif.end(), kDate.begin(), kDate.end()) =
        static_cast<std::uint8_t>('0' + number);
    write_bytes(path("in_" + std::to_string(number) + ".jpg"), read_bytes(make_picture("jpg", {exif, {}})));
  }
  transcode(path("in_%d.jpg"), path("out_%d.png"));
  for (const int number : {1, 2, 3}) {
    const Bytes kept = find_exif(AV_CODEC_ID_PNG, read_bytes(path("out_" + std::to_string(number) + ".png")));
    EXPECT_TRUE(contains(kept, std::to_string(number) + "024:05:06"));
  }
}

TEST_F(PictureMetadataTest, WhatCantBeKeptIsNamed) {
  const std::string source = make_picture("png", {make_exif(false, 1), make_profile(500)});
  for (const std::string to : {"copy.bmp", "copy.mp4", "copy.pgm"}) {
    const std::string warnings = joined(transcode(source, path(to)).warnings);
    EXPECT_NE(warnings.find("EXIF data (camera, time, place, rights) is not kept"), std::string::npos)
        << warnings;
    EXPECT_NE(warnings.find("color profile (ICC) is not kept"), std::string::npos) << warnings;
  }
  EXPECT_EQ(
      joined(transcode(make("plain.png", "-f lavfi -i testsrc2=s=48x32 -frames:v 1 -update 1 -pix_fmt rgb24"),
                       path("plain.bmp"))
                 .warnings),
      "");

  const std::string cmyk = make_picture("tif", {{}, make_profile(500, "CMYK")});
  const std::string warnings = joined(transcode(cmyk, path("copy.png")).warnings);
  EXPECT_NE(warnings.find("color profile (ICC) is not kept: it isn't for rgb24"), std::string::npos)
      << warnings;
  EXPECT_FALSE(contains(read_bytes(path("copy.png")), "iCCP"));
}

TEST_F(PictureMetadataTest, BlocksThatLieAreHarmless) {
  const Bytes block = make_exif(true, 6);
  const auto try_out = [](const Bytes& exif) {
    exif_orientation(exif);
    EXPECT_LE(updated_exif(exif, 1, 1, true).size(), exif.size());
    const Bytes tiff = with_metadata(AV_CODEC_ID_TIFF, BytesView(make_exif(false, 1)), {exif, {}});
    find_exif(AV_CODEC_ID_TIFF, tiff);
    find_exif(AV_CODEC_ID_TIFF, exif);
  };
  for (std::size_t size = 0; size <= block.size(); ++size) {
    try_out(Bytes(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (const int value : {0x00, 0x7F, 0xFF, 0x80}) {
      Bytes changed = block;
      changed[at] = static_cast<std::uint8_t>(value);
      try_out(changed);
    }
  }
  for (const std::string extension : {"jpg", "png", "webp", "tif"}) {
    const Bytes whole = read_bytes(make_picture(extension, {block, make_profile(100)}));
    for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 97) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      find_exif(codec_of(extension), cut);
      with_metadata(codec_of(extension), cut, {block, {}});
    }
  }
}

TEST_F(PictureMetadataTest, WhatIsToldAgainAndAgainIsNotReadAgainAndAgain) {
  constexpr std::uint16_t kDetails = 0x8769;
  constexpr std::uint32_t kFields = 5000;
  const auto directory = [](ExifMaker& maker, const auto& put_field) {
    maker.put(kFields, 2);
    for (std::uint32_t i = 0; i < kFields; ++i) {
      put_field(i);
    }
    maker.put(0, 4);
  };
  ExifMaker loop(false);  // each field leads to all of them
  directory(loop, [&](std::uint32_t) { loop.field(kDetails, 4, 1, 8); });
  EXPECT_LE(find_exif(AV_CODEC_ID_TIFF, loop.bytes()).size(), 2 * loop.bytes().size());

  ExifMaker overlap(false);  // each value is the whole of the block
  overlap.put(1, 2);
  overlap.field(kDetails, 4, 1, 26);
  overlap.put(0, 4);
  directory(overlap, [&](std::uint32_t i) {
    overlap.field(static_cast<std::uint16_t>(0x9000 + i), 7, 2 + 12 * kFields, 26);
  });
  EXPECT_LE(find_exif(AV_CODEC_ID_TIFF, overlap.bytes()).size(), 2 * overlap.bytes().size());
}

}  // namespace
}  // namespace limpid::io
