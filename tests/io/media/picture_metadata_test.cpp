// SPDX-License-Identifier: MIT
// EXIF, XMP and color profiles of pictures, byte for byte.
#include "io/media/picture_metadata.h"

extern "C" {
#include <libavutil/crc.h>
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/media/media.h"

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
  const Bytes part(text.begin(), text.end());  // char may be signed
  return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
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

Bytes as_bytes(std::string_view text) { return {text.begin(), text.end()}; }

/// In a shortened form of that of Adobe's programs.
Bytes make_xmp(int orientation, std::size_t padding = 40) {
  const std::string number = std::to_string(orientation);
  return as_bytes(
      "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?><x:xmpmeta><rdf:RDF>"
      "<rdf:Description xmp:Rating=\"4\" tiff:Orientation=\"" +
      number + "\" tiff:Make=\"6\"/><rdf:Description><tiff:Orientation>" + number +
      "</tiff:Orientation></rdf:Description></rdf:RDF></x:xmpmeta>" + std::string(padding, ' ') +
      "<?xpacket end=\"w\"?>");
}

/// The picture with `text` inserted after its first bytes.
Bytes inserted(const Bytes& picture, std::size_t at, std::string_view text) {
  Bytes result = picture;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(at), text.begin(), text.end());
  return result;
}

std::string big_endian_text(std::uint32_t value, int size) {
  std::string text;
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(value >> shift);
  }
  return text;
}

std::string jpeg_segment(std::uint8_t kind, const std::string& content) {
  return std::string("\xFF") + static_cast<char>(kind) +
         big_endian_text(static_cast<std::uint32_t>(content.size() + 2), 2) + content;
}

std::string png_chunk(const std::string& name, const std::string& content) {
  const Bytes checked = as_bytes(name + content);
  const std::uint32_t crc =
      ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), 0xFFFFFFFFU, checked.data(), checked.size());
  return big_endian_text(static_cast<std::uint32_t>(content.size()), 4) + name + content +
         big_endian_text(crc, 4);
}

constexpr std::size_t kBehindSoi = 2;    // of a JPEG
constexpr std::size_t kBehindIhdr = 33;  // of a PNG

/// A resource of Photoshop, with a name; `number` 0x0404 is IPTC.
std::string photoshop_resource(std::uint32_t number, const std::string& content) {
  return "8BIM" + big_endian_text(number, 2) + std::string("\3abc", 4) +
         big_endian_text(static_cast<std::uint32_t>(content.size()), 4) + content +
         std::string(content.size() % 2, '\0');
}

/// A profile, as far as the code under test examines it.
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

/// As decoded by libav's own decoder.
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
  /// A picture with this metadata; "" has none.
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
  const Bytes profile = make_profile(70'000);  // longer than a JPEG segment
  for (const bool big_endian : {false, true}) {
    const Bytes exif = make_exif(big_endian, 1);
    const Bytes xmp = make_xmp(1);
    for (const std::string from : {"jpg", "png", "webp", "tif"}) {
      const std::string source = make_picture(from, {exif, profile, xmp});
      for (const std::string to : {"jpg", "png", "tif", "webp"}) {
        SCOPED_TRACE(testing::Message() << from << " to " << to);
        const std::string target = path("copy." + to);
        const Transcoded result = transcode(source, target, {.overwrite = Overwrite::kAlways});
        EXPECT_EQ(joined(result.warnings).find("not kept") != std::string::npos,
                  to == "tif" && from != "tif")
            << joined(result.warnings);  // of the maker note
        const Bytes written = read_bytes(target);
        EXPECT_EQ(find_xmp(codec_of(to), written), xmp);
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
      // Not only the size: all four rotate it equally.
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

// At the position that the XMP specification requires, part 3.
TEST_F(PictureMetadataTest, XmpAloneLiesWhereOthersLookForIt) {
  const Bytes xmp = make_xmp(1);
  const Bytes jpg = read_bytes(make_picture("jpg", {.xmp = xmp}));
  EXPECT_TRUE(contains(jpg, std::string_view("http://ns.adobe.com/xap/1.0/\0<?xpacket begin", 44)));
  const Bytes png = read_bytes(make_picture("png", {.xmp = xmp}));
  const std::string in_png = std::string("XML:com.adobe.xmp") + std::string(5, '\0');
  EXPECT_TRUE(contains(png, png_chunk("iTXt", in_png + std::string(xmp.begin(), xmp.end()))));
  const Bytes webp = read_bytes(make_picture("webp", {.xmp = xmp}));
  EXPECT_EQ(webp.at(20) & 0x2C, 0x04) << "features";
  EXPECT_TRUE(contains(webp, "XMP "));
  for (const std::string extension : {"jpg", "png", "webp", "tif"}) {
    SCOPED_TRACE(extension);
    const std::string source = make_picture(extension, {.xmp = xmp});
    const PictureMetadata found = find_metadata(codec_of(extension), read_bytes(source));
    EXPECT_EQ(found.xmp, xmp);
    EXPECT_TRUE(std::ranges::all_of(found.others, &std::string::empty, &OtherMetadata::description));
    EXPECT_EQ(first_frame(source)->width, 48);
  }
}

TEST_F(PictureMetadataTest, XmpTellsTheOrientationOfWhatIsWritten) {
  const std::string source = make_picture("jpg", {make_exif(false, 6), {}, make_xmp(6)});
  transcode(source, path("copy.png"));
  EXPECT_EQ(find_xmp(AV_CODEC_ID_PNG, read_bytes(path("copy.png"))), make_xmp(1));
  EXPECT_EQ(updated_xmp(make_xmp(6), false), make_xmp(6)) << "the pixels are as they were";
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

TEST_F(PictureMetadataTest, LossesAreNamed) {
  const std::string source = make_picture("png", {make_exif(false, 1), make_profile(500), make_xmp(1)});
  for (const std::string to : {"copy.bmp", "copy.mp4", "copy.pgm"}) {
    const std::string warnings = joined(transcode(source, path(to)).warnings);
    EXPECT_NE(warnings.find("EXIF data (camera, time, place, rights) is not kept"), std::string::npos)
        << warnings;
    EXPECT_NE(warnings.find("color profile (ICC) is not kept"), std::string::npos) << warnings;
    EXPECT_NE(warnings.find("XMP data (rights, rating, keywords) is not kept"), std::string::npos)
        << warnings;
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

TEST_F(PictureMetadataTest, XmpThatIsTooLongForAJpegIsNamed) {
  const std::string source = make_picture("png", {.xmp = make_xmp(1, 70'000)});
  EXPECT_EQ(joined(transcode(source, path("copy.png")).warnings), "");
  EXPECT_EQ(find_xmp(AV_CODEC_ID_PNG, read_bytes(path("copy.png"))), make_xmp(1, 70'000));
  const std::string warnings = joined(transcode(source, path("copy.jpg")).warnings);
  EXPECT_NE(warnings.find("XMP data (rights, rating, keywords) is not kept: mjpeg can't hold it"),
            std::string::npos)
      << warnings;
  EXPECT_TRUE(find_xmp(AV_CODEC_ID_MJPEG, read_bytes(path("copy.jpg"))).empty());
}

TEST_F(PictureMetadataTest, OtherMetadataIsKeptUnreadByTheSameFormat) {
  const auto warnings_of = [&](const std::string& name, const Bytes& picture, const std::string& to) {
    write_bytes(path(name), picture);
    return joined(transcode(path(name), path(to), {.overwrite = Overwrite::kAlways}).warnings);
  };
  const std::string photoshop("Photoshop 3.0\0", 14);
  const std::string others = photoshop_resource(0x03ED, "odd") + photoshop_resource(0x0425, "even");
  const std::string preview = photoshop_resource(0x040C, "a preview of the noisy picture");
  const Bytes jpg = read_bytes(make_picture("jpg", {}));
  const std::string iptc =
      jpeg_segment(0xED, photoshop + others + photoshop_resource(0x0404, "\x1C\x02\x78 a caption"));
  const std::string with_preview = jpeg_segment(0xED, photoshop + others + preview) +
                                   jpeg_segment(0xED, photoshop + iptc.substr(4 + 14 + others.size()));
  const std::string no_iptc = jpeg_segment(0xED, photoshop + others + photoshop_resource(0x0404, ""));
  const std::string more =
      jpeg_segment(0xE1, std::string("http://ns.adobe.com/xmp/extension/\0", 35) + "...");
  EXPECT_EQ(warnings_of("in.jpg", inserted(jpg, kBehindSoi, with_preview + more), "copy.jpg"), "");
  EXPECT_TRUE(contains(read_bytes(path("copy.jpg")), iptc + more));
  EXPECT_FALSE(contains(read_bytes(path("copy.jpg")), "a preview"));
  EXPECT_EQ(warnings_of("in.jpg", inserted(jpg, kBehindSoi, iptc + more), "copy.png"),
            joined({"the source's IPTC data (caption, credit, keywords) is not kept",
                    "the source's extended XMP data (the part beyond 64 KiB) is not kept"}));
  EXPECT_EQ(warnings_of("in.jpg", inserted(jpg, kBehindSoi, no_iptc), "copy.jpg"), "");

  const Bytes png = read_bytes(make_picture("png", {}));
  const auto text = [](const std::string& keyword) {
    return png_chunk("tEXt", keyword + std::string(1, '\0') + "value");
  };
  const std::string texts = text("Title") + text("Title") + text(std::string("By\x1B") + "[m");
  const std::string raw = text("Raw profile type exif");
  EXPECT_EQ(warnings_of("in.png", inserted(png, kBehindIhdr, texts), "copy.png"), "");
  EXPECT_TRUE(contains(read_bytes(path("copy.png")), texts));
  EXPECT_EQ(warnings_of("in.png", inserted(png, kBehindIhdr, raw + texts), "copy.png"),
            joined({"the source's text (Raw profile type exif) is not kept"}));
  EXPECT_FALSE(contains(read_bytes(path("copy.png")), raw));
  EXPECT_EQ(warnings_of("in.png", inserted(png, kBehindIhdr, texts), "copy.tif"),
            joined({"the source's text (Title, By?[m) is not kept"}));
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    many += text(std::to_string(i));
  }
  const auto descriptions_of = [](AVCodecID codec, const Bytes& picture) {
    std::vector<std::string> descriptions;
    std::ranges::transform(find_metadata(codec, picture).others, std::back_inserter(descriptions),
                           &OtherMetadata::description);
    std::erase(descriptions, "");
    return joined(descriptions);
  };
  EXPECT_EQ(descriptions_of(AV_CODEC_ID_PNG, inserted(png, kBehindIhdr, many)),
            joined({"text (0, 1, 2, 3, 4, ...)"}));
  const std::string compressed = png_chunk("iTXt", std::string("XML:com.adobe.xmp\0\1\0\0\0", 22) + "x");
  EXPECT_EQ(descriptions_of(AV_CODEC_ID_PNG, inserted(png, kBehindIhdr, compressed)),
            joined({"text (XML:com.adobe.xmp)"}));

  for (const std::uint16_t tag : {std::uint16_t{0x83BB}, std::uint16_t{0x8649}}) {
    const std::string content = photoshop_resource(0x0404, "a caption");
    ExifMaker tiff(true);
    tiff.put(1, 2);
    tiff.field(tag, 1, static_cast<std::uint32_t>(content.size()), 26);
    tiff.put(0, 4);
    tiff.put(content);
    EXPECT_EQ(descriptions_of(AV_CODEC_ID_TIFF, tiff.bytes()),
              joined({"IPTC data (caption, credit, keywords)"}));
  }
}

TEST_F(PictureMetadataTest, ColorChunksOfAPngAreKeptOrNamed) {
  const Bytes png = read_bytes(make_picture("png", {}));
  const std::string gamma = png_chunk("gAMA", std::string("\0\1\x86\xA0", 4));
  const std::string display = png_chunk("mDCV", std::string(24, '1'));
  const std::string pq = png_chunk("cICP", std::string("\x09\x10\0\1", 4));
  const std::string others =
      png_chunk("sBIT", "\5\6\5") +
      png_chunk("pHYs", std::string("\0\0\x2E\x23", 4) + std::string("\0\0\x2E\x23\1", 5));
  const auto warnings = [&](const std::string& chunks, const std::string& to,
                            const WriterOptions& options = {}) {
    write_bytes(path("in.png"), inserted(png, kBehindIhdr, chunks));
    WriterOptions all = options;
    all.overwrite = Overwrite::kAlways;
    return joined(transcode(path("in.png"), path(to), all).warnings);
  };
  EXPECT_EQ(warnings(gamma + others, "copy.png"), "");
  const Bytes copy = read_bytes(path("copy.png"));
  EXPECT_TRUE(contains(copy, gamma + others));
  EXPECT_EQ(warnings(gamma, "copy.tif"), joined({"the source's color data (gAMA) is not kept"}));
  EXPECT_EQ(warnings(others, "copy.tif"), "") << "the picture looks alike";
  EXPECT_EQ(warnings(pq + display, "copy.png"), "");
  EXPECT_TRUE(contains(read_bytes(path("copy.png")), pq + display));
  EXPECT_EQ(warnings(pq + display, "copy.mkv", {.codec = "ffv1"}),
            joined({"the source's color data (mDCV) is not kept"}));
  EXPECT_NE(probe_streams(path("copy.mkv")).find("color_transfer=smpte2084"), std::string::npos);
  EXPECT_NE(warnings(pq, "copy.tif").find("color tags (cICP) are not kept"), std::string::npos);
  EXPECT_EQ(warnings(png_chunk("caBX", "x"), "copy.png"),
            joined({"the source's PNG data (caBX) is not kept"}));
}

TEST_F(PictureMetadataTest, DataBehindAPictureIsNamed) {
  const std::string video = std::string("\0\0\0\x14", 4) + "ftypmp42 and a video";
  const std::string described = "<x:xmpmeta><rdf hdrgm:Version=\"1.0\"/></x:xmpmeta>";
  for (const std::string extension : {"jpg", "webp"}) {
    SCOPED_TRACE(extension);
    const PictureMetadata metadata{.xmp = Bytes(described.begin(), described.end())};
    Bytes picture = read_bytes(make_picture(extension, metadata));
    write_bytes(path("in." + extension), picture);
    EXPECT_EQ(joined(transcode(path("in." + extension), path("whole." + extension)).warnings).find("behind"),
              std::string::npos);
    picture.insert(picture.end(), 100, 0);
    EXPECT_TRUE(find_metadata(codec_of(extension), picture).xmp == metadata.xmp) << "padding";
    picture.insert(picture.end(), video.begin(), video.end());
    write_bytes(path("in." + extension), picture);
    const std::string warnings =
        joined(transcode(path("in." + extension), path("copy." + extension)).warnings);
    EXPECT_NE(warnings.find("data behind the picture"), std::string::npos) << warnings;
    EXPECT_NE(warnings.find("XMP data, which describes"), std::string::npos) << warnings;
    EXPECT_FALSE(contains(read_bytes(path("copy." + extension)), "hdrgm"));
  }
}

/// Attributes of an EXR's header.
std::string exr_attribute(const std::string& name, const std::string& type, const std::string& value) {
  return name + '\0' + type + '\0' + static_cast<char>(value.size()) + std::string(3, '\0') + value;
}
std::string exr_channel(const std::string& name, char type) {
  return name + '\0' + type + std::string(15, '\0');
}

TEST_F(PictureMetadataTest, WhatLibavDoesNotDecodeOfAnExrIsNamed) {
  const std::string window(16, '\1');
  const auto found = [&](const std::string& channels, const std::string& data_window, char flags,
                         const std::string& more) {
    const std::string header = std::string("\x76\x2F\x31\x01\x02", 5) + flags + std::string(2, '\0') +
                               exr_attribute("channels", "chlist", channels + '\0') +
                               exr_attribute("compression", "compression", "\3") +
                               exr_attribute("dataWindow", "box2i", data_window) +
                               exr_attribute("displayWindow", "box2i", window) + more + '\0';
    return find_metadata(AV_CODEC_ID_EXR, Bytes(header.begin(), header.end()));
  };
  using Options = std::vector<std::pair<std::string, std::string>>;
  const PictureMetadata plain =
      found(exr_channel("B", 1) + exr_channel("G", 1) + exr_channel("R", 1), window, 0, "");
  EXPECT_TRUE(plain.others.empty());
  EXPECT_EQ(plain.encoder_options, (Options{{"compression", "zip16"}, {"format", "half"}}));
  const PictureMetadata rich = found(exr_channel("R", 2) + exr_channel("Z", 2), std::string(16, '\2'), '\x10',
                                     exr_attribute("owner", "string", "me"));
  std::vector<std::string> descriptions;
  std::ranges::transform(rich.others, std::back_inserter(descriptions), &OtherMetadata::description);
  EXPECT_EQ(joined(descriptions),
            joined({"data of other channels (Z)", "header data (owner)", "data of other parts",
                    "data window (smaller or larger than the picture)"}));
  EXPECT_EQ(rich.encoder_options.back().second, "float");
  const Bytes exr = read_bytes(make("a.exr", "-f lavfi -i testsrc2=s=16x16 -frames:v 1 -pix_fmt gbrpf32le"));
  for (std::size_t i = 0; i < 400; ++i) {
    Bytes damaged = exr;
    damaged[i] ^= 0xFFU;
    EXPECT_LE(find_metadata(AV_CODEC_ID_EXR, damaged).others.size(), 5U);
    find_metadata(AV_CODEC_ID_EXR, BytesView(exr).first(i));
    find_metadata(AV_CODEC_ID_DPX, BytesView(exr).first(i));
  }
}

TEST_F(PictureMetadataTest, ExrKeepsHalfFloatsAndCompression) {
  const std::string source = make(
      "a.exr", "-f lavfi -i testsrc2=s=64x48 -frames:v 1 -pix_fmt gbrpf32le -format half -compression zip16");
  EXPECT_EQ(joined(transcode(source, path("b.exr")).warnings), "");
  EXPECT_LT(std::filesystem::file_size(path("b.exr")), 64 * 48 * 3 * 2U);
  expect_same_frames(read_clip(source).frames, read_clip(path("b.exr")).frames);
}

TEST_F(PictureMetadataTest, DpxKeepsItsTransferAndIsUpright) {
  Bytes dpx =
      read_bytes(make("a.dpx", "-f lavfi -i testsrc2=s=64x48 -frames:v 1 -update 1 -pix_fmt gbrp10be"));
  const auto upright = read_clip(path("a.dpx"));
  dpx.at(769) = 2;  // bottom to top
  dpx.at(801) = dpx.at(802) = 1;
  write_bytes(path("b.dpx"), dpx);
  const std::string warnings = joined(transcode(path("b.dpx"), path("c.dpx")).warnings);
  EXPECT_NE(warnings.find("the samples are rotated instead"), std::string::npos) << warnings;
  const Bytes copy = read_bytes(path("c.dpx"));
  EXPECT_EQ(copy.at(769), 0);
  EXPECT_EQ(copy.at(801), 1);
  EXPECT_EQ(copy.at(802), 1);
  const auto turned = read_clip(path("c.dpx"));
  EXPECT_EQ(std::memcmp(turned.frames[0].planes[0].row<std::byte>(0),
                        upright.frames[0].planes[0].row<std::byte>(47), 64 * 2),
            0);
}

TEST_F(PictureMetadataTest, TagsOfMapsAreKeptAndOtherPrivateOnesNamed) {
  ExifMaker tiff(false);
  tiff.put(2, 2);
  tiff.field(33550, 12, 3, 38);  // the size of a pixel, as doubles
  tiff.field(50839, 1, 1, 7);    // ImageJ's metadata
  tiff.put(0, 4);
  tiff.put(std::string(24, 'd'));
  PictureMetadata found = find_metadata(AV_CODEC_ID_TIFF, tiff.bytes());
  EXPECT_EQ(found.others.front().description,
            "data in TIFF tags (the channel colors (LUTs), display ranges and labels of ImageJ)");
  EXPECT_TRUE(contains(found.exif, std::string(24, 'd')));
  found.stored.width = 48;
  found.stored.height = 32;
  EXPECT_FALSE(stale_tags(found, 48, 32, true).map);
  EXPECT_FALSE(stale_tags(found, 48, 32, false).map);
  const StaleTags stale = stale_tags(found, 24, 32, true);
  EXPECT_TRUE(stale.map);
  EXPECT_FALSE(stale.stack);
  EXPECT_TRUE(without(stale, found.exif).empty());
}

TEST_F(PictureMetadataTest, AMakersNoteIsLostIntoAndOutOfTiffOnly) {
  const std::string source = make_picture("jpg", {.exif = make_exif(false, 1)});
  EXPECT_EQ(joined(transcode(source, path("copy.png")).warnings), "");
  EXPECT_EQ(joined(transcode(source, path("copy.tif")).warnings),
            joined({"the source's maker's note (in EXIF) is not kept: tiff can't hold it"}));
  EXPECT_EQ(find_metadata(AV_CODEC_ID_TIFF, make_exif(true, 1)).others.front().description,
            "maker's note (in EXIF)");
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
    Bytes whole = read_bytes(make_picture(extension, {block, make_profile(100), make_xmp(1)}));
    const AVCodecID codec = codec_of(extension);
    if (extension == "jpg") {
      const std::string photoshop("Photoshop 3.0\0", 14);
      whole = inserted(whole, kBehindSoi, jpeg_segment(0xED, photoshop + photoshop_resource(1, "a")));
    }
    for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 97) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      find_metadata(codec, cut);
      with_metadata(codec, cut, {block, {}, make_xmp(1)});
    }
    for (std::size_t at = 0; at < whole.size(); at += at < 500 ? 1 : 97) {
      for (const int value : {0x00, 0x7F, 0xFF, 0x80}) {
        Bytes changed = whole;
        changed[at] = static_cast<std::uint8_t>(value);
        EXPECT_LE(find_metadata(codec, changed).xmp.size(), whole.size());
        with_metadata(codec, changed, {block, {}, make_xmp(1)});
      }
    }
  }
}

TEST_F(PictureMetadataTest, RepeatedReferencesAreReadOnce) {
  constexpr std::uint16_t kDetails = 0x8769;
  constexpr std::uint32_t kFields = 5000;
  const auto directory = [](ExifMaker& maker, const auto& put_field) {
    maker.put(kFields, 2);
    for (std::uint32_t i = 0; i < kFields; ++i) {
      put_field(i);
    }
    maker.put(0, 4);
  };
  ExifMaker loop(false);  // each field refers to all of them
  directory(loop, [&](std::uint32_t) { loop.field(kDetails, 4, 1, 8); });
  EXPECT_LE(find_exif(AV_CODEC_ID_TIFF, loop.bytes()).size(), 2 * loop.bytes().size());

  ExifMaker overlap(false);  // each value is the whole block
  overlap.put(1, 2);
  overlap.field(kDetails, 4, 1, 26);
  overlap.put(0, 4);
  directory(overlap, [&](std::uint32_t i) {
    overlap.field(static_cast<std::uint16_t>(0x9000 + i), 7, 2 + 12 * kFields, 26);
  });
  EXPECT_LE(find_exif(AV_CODEC_ID_TIFF, overlap.bytes()).size(), 2 * overlap.bytes().size());
}

/// A block whose first directory refers to others of 65,535 entries each: to one repeatedly, or to as many as
/// it has entries, each of which begins one entry after the one before it.
Bytes make_overlapping_directories(bool one, std::uint16_t tag, std::uint16_t type) {
  constexpr std::uint32_t kPointers = 65000;
  constexpr std::uint32_t kEntries = 2 * 65535;
  constexpr std::uint32_t kBehind = 8 + 2 + 12 * kPointers + 4;
  constexpr std::uint32_t kCountInValue = 10;  // of an entry: its last two bytes
  ExifMaker maker(false);
  maker.put(kPointers, 2);
  for (std::uint32_t i = 0; i < kPointers; ++i) {
    maker.field(0x8769, 4, 1, kBehind + kCountInValue + (one ? 0 : 12 * i));
  }
  maker.put(0, 4);
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    maker.field(tag, type, 4, 0xFFFF0000);
  }
  return maker.bytes();
}

double seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST_F(PictureMetadataTest, DirectoriesThatOverlapTakeLinearTime) {
  constexpr std::uint16_t kMakerNote = 0x927C;
  constexpr std::uint16_t kNoType = 99;
  constexpr std::uint16_t kUndefined = 7;
  for (const Bytes& block : {make_overlapping_directories(true, kMakerNote, kUndefined),
                             make_overlapping_directories(true, kMakerNote, kNoType),
                             make_overlapping_directories(false, kMakerNote, kNoType),
                             make_overlapping_directories(false, 0x9000, kUndefined)}) {
    const double seconds = seconds_of([&] {
      find_metadata(AV_CODEC_ID_TIFF, block);
      with_metadata(AV_CODEC_ID_TIFF, make_exif(false, 1), {block, {}, {}, {}});
      updated_exif(block, 16, 16, true);
      has_maker_note(block);
    });
    EXPECT_LT(seconds, 1);
  }
}

TEST_F(PictureMetadataTest, FirstOfRepeatedTagsIsKept) {
  constexpr std::uint32_t kCount = 65535;
  ExifMaker maker(false);
  maker.put(kCount, 2);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    maker.field(0x0112, 3, 1, i == 0 ? 6 : 3);
  }
  maker.put(0, 4);
  const Bytes tiff = with_metadata(AV_CODEC_ID_TIFF, make_exif(false, 1), {maker.bytes(), {}, {}, {}});
  EXPECT_LT(tiff.size(), 2 * make_exif(false, 1).size());
  EXPECT_EQ(exif_orientation(tiff), 6);
}

}  // namespace
}  // namespace limpid::io
