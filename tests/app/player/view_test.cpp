// SPDX-License-Identifier: MIT
#include "app/player/view.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/console/text.h"
#include "app/player/controls.h"
#include "app/player/measurements.h"
#include "app/player/osd.h"
#include "app/player/properties.h"
#include "io/screen/control_layer.h"

namespace limpid::app {
namespace {

constexpr io::Size kWindow{800, 600};

TEST(ViewTest, TheWholePictureFitsWithItsAspect) {
  const View::Placement wide = View({400, 100}, 1).place(kWindow);
  EXPECT_EQ(wide.source, (io::Rectangle{0, 0, 400, 100}));
  EXPECT_EQ(wide.target, (io::Rectangle{0, 200, 800, 200}));
  EXPECT_FALSE(wide.smooth) << "exactly twice as large";
  EXPECT_EQ(View({720, 576}, 16.0 / 15).place(kWindow).target, (io::Rectangle{0, 0, 800, 600}));
  EXPECT_EQ(View({300, 200}, 0.5).place(kWindow).target, (io::Rectangle{175, 0, 450, 600}))
      << "narrow pixels make the picture taller, not narrower";
  EXPECT_TRUE(View({1920, 1080}, 1).place(kWindow).smooth);
}

TEST(ViewTest, ZoomKeepsWhatIsUnderThePointerAndPanMovesIt) {
  View view({1000, 1000}, 1);
  const int column = view.picture_column(300, kWindow);
  view.set_zoom(4, 300, 200, kWindow);
  EXPECT_NEAR(view.picture_column(300, kWindow), column, 1);
  view.pan(40, 0, kWindow);
  EXPECT_NEAR(view.picture_column(340, kWindow), column, 1);
  const View::Placement placement = view.place(kWindow);
  EXPECT_EQ(placement.target.width, 4 * placement.source.width);
  EXPECT_LE(placement.target.x, 0);
  EXPECT_GE(placement.target.x + placement.target.width, kWindow.width);
  EXPECT_LT(placement.source.width, 204) << "only what is seen is drawn";
  view.pan(1e6, 1e6, kWindow);
  EXPECT_EQ(view.place(kWindow).target.x, 0) << "nothing is beside it";
  view.set_zoom(8, 2000, 2000, kWindow);
  EXPECT_EQ(view.place(kWindow).target.x + view.place(kWindow).target.width, kWindow.width);
}

TEST(ViewTest, AMirroredPictureHasItsPlacesExchanged) {
  View view({100, 50}, 1);
  const io::Size window{200, 100};
  view.mirror();
  EXPECT_EQ(view.to_picture({10, 20}, window).x, 95);
  EXPECT_EQ(view.to_window({95, 10}, window).x, 10);
  view.set_zoom(4, 50, 50, window);
  EXPECT_EQ(view.to_picture({50, 50}, window).x, 75) << "the pixel below the pointer stays";
  view.mirror();
  EXPECT_EQ(view.to_picture({150, 50}, window).x, 75) << "it has changed sides";
}

TEST(ViewTest, SmallPicturesAreInTheMiddle) {
  View view({10, 20}, 1);
  view.set_zoom(8, 0, 0, kWindow);
  EXPECT_EQ(view.place(kWindow).target, (io::Rectangle{360, 220, 80, 160}));
}

TEST(ViewTest, ZoomsAreStepsOfTwoBeyondWhatFits) {
  const io::Size window{800, 600};
  View large({1600, 1200}, 1);
  EXPECT_EQ(large.next_zoom(true, window), 1);
  EXPECT_EQ(large.next_zoom(false, window), 0);
  large.set_zoom(8, 0, 0, window);
  EXPECT_EQ(large.next_zoom(true, window), 8);
  EXPECT_EQ(large.next_zoom(false, window), 4);
  View small({400, 300}, 1);
  EXPECT_EQ(small.next_zoom(true, window), 4) << "2:1 fits already";
  small.set_zoom(4, 0, 0, window);
  EXPECT_EQ(small.next_zoom(false, window), 0);
  EXPECT_EQ(View({10, 10}, 1).next_zoom(true, window), 0) << "no zoom is larger";
}

TEST(SplitLineTest, FollowsThePointerOnceItMoves) {
  SplitLine line(0.8);
  EXPECT_FALSE(line.point(100, 1000)) << "the window has opened under it";
  EXPECT_EQ(line.column(1000), 800);
  EXPECT_FALSE(line.point(101, 1000));
  EXPECT_TRUE(line.point(300, 1000));
  EXPECT_EQ(line.column(1000), 300);
  line.forget_pointer();  // full screen
  EXPECT_FALSE(line.point(300, 4000)) << "of the small window";
  EXPECT_EQ(line.column(4000), 1200);
}

TEST(SplitLineTest, StaysWhereItWasSeenWhenThePointerLeaves) {
  SplitLine line(0.5);
  line.point(500, 1000);
  line.point(700, 1000);
  line.point(960, 1000);
  EXPECT_EQ(line.column(1000), 960);
  line.point(999, 1000);
  EXPECT_LT(line.column(1000), 995) << "either side can always be seen";
  line.leave();
  EXPECT_EQ(line.column(1000), 700);
  EXPECT_GT(SplitLine(0).column(1000), 5);
  EXPECT_EQ(SplitLine(0).column(1), 0);
}

TEST(SplitLineTest, IsDraggedAnywhereInTheWholePictureAndByItselfInACloseUp) {
  SplitLine line(0.5);
  line.set_locked(true);
  line.point(100, 1000);
  line.point(200, 1000);
  EXPECT_EQ(line.column(1000), 500) << "locked";
  EXPECT_TRUE(line.drag(200, 300, 1000, false, false));
  EXPECT_EQ(line.column(1000), 300);
  line.release();
  EXPECT_FALSE(line.drag(600, 700, 1000, false, true)) << "the picture";
  EXPECT_FALSE(line.drag(300, 310, 1000, false, true)) << "as long as the button is held";
  line.release();
  EXPECT_TRUE(line.drag(310, 350, 1000, false, true));
  EXPECT_EQ(line.column(1000), 350);
  line.release();
  line.set_locked(false);
  EXPECT_TRUE(line.drag(340, 600, 1000, true, true)) << "a finger";
  line.release();
  EXPECT_FALSE(line.drag(600, 650, 1000, false, true)) << "the pointer is always at a line that follows it";
  line.center();
  EXPECT_EQ(line.column(1000), 500);
  line.point(700, 1000);
  line.point(800, 1000);
  EXPECT_EQ(line.column(1000), 500);
}

TEST(ViewTest, FindsThePartOfThePictureBetweenTwoPlaces) {
  View view({200, 100}, 1);
  const io::Size window{400, 400};  // the picture in the rows 100 to 300
  EXPECT_EQ(view.picture_part(20, 120, 220, 200, window), (io::Rectangle{10, 10, 100, 40}));
  EXPECT_EQ(view.picture_part(220, 200, 20, 120, window), (io::Rectangle{10, 10, 100, 40}));
  EXPECT_EQ(view.picture_part(-50, 0, 500, 399, window), (io::Rectangle{0, 0, 200, 100}));
  view.set_zoom(4, 200, 200, window);
  EXPECT_EQ(view.picture_part(200, 200, 240, 280, window), (io::Rectangle{100, 50, 10, 20}));
}

TEST(OsdTest, TellsNoRatesWhereNothingRuns) {
  Statistics statistics;
  statistics.position = 0.48;
  statistics.duration = 0.42;
  statistics.runs = false;
  statistics.loads = {{"denoise", 0}};
  std::string all;
  for (const std::string& line : to_lines(statistics)) {
    all += line + "\n";
  }
  EXPECT_EQ(all.find("fps"), std::string::npos) << all;
  EXPECT_EQ(all.find("load"), std::string::npos) << all;
  EXPECT_NE(all.find("0:00.480 / 0:00.480"), std::string::npos) << all;
  EXPECT_EQ(to_lines(statistics, Detail::kLeast).size(), 1U);
  EXPECT_LT(to_lines(statistics, Detail::kFew).size(), 4U);
}

TEST(OsdTest, LettersAreLargerOnLargeScreensAndSmallerInSmallWindows) {
  EXPECT_EQ(text_size({1280, 720}, 1, 1), 16);
  EXPECT_EQ(text_size({1920, 1080}, 2, 1), 32) << "of a fine screen";
  EXPECT_EQ(text_size({3840, 2160}, 1, 1), 31) << "looked at from afar";
  EXPECT_EQ(text_size({3840, 2160}, 2, 1), 32);
  EXPECT_EQ(text_size({320, 240}, 1, 1), 12);
  EXPECT_EQ(text_size({1280, 160}, 1, 1), 10);
  EXPECT_EQ(text_size({50, 50}, 1, 1), 9) << "below which nothing can be read";
  EXPECT_EQ(text_size({1280, 720}, 1, 1.5), 24);
  EXPECT_EQ(text_size({3840, 2160}, 1, 0.5), 15);
  EXPECT_EQ(text_size({320, 240}, 1, 2), 25) << "as is asked for";
}

/// A frame of ImGui without a window.
class ImGuiFrame {
 public:
  ImGuiFrame() {
    ImGui::CreateContext();
    ImGuiIO& settings = ImGui::GetIO();
    settings.IniFilename = nullptr;
    settings.DisplaySize = {1280, 720};
    settings.Fonts->AddFontFromFileTTF(io::Fonts().find().path.c_str(), 16);
    settings.Fonts->Build();
    ImGui::NewFrame();
  }
  ImGuiFrame(const ImGuiFrame&) = delete;
  ImGuiFrame& operator=(const ImGuiFrame&) = delete;
  ImGuiFrame(ImGuiFrame&&) = delete;
  ImGuiFrame& operator=(ImGuiFrame&&) = delete;
  ~ImGuiFrame() {
    ImGui::EndFrame();
    ImGui::DestroyContext();
  }
};

TEST(TextBoxTest, WrapsLinesWhereTheBoxEnds) {
  const ImGuiFrame frame;
  constexpr int kLine = 20;
  const std::string words = "5 s back, forward; with Shift, or PGDN PGUP: 60 s";
  const io::Size wide = TextBox({words}, kLine, 2000).size();
  const io::Size narrow = TextBox({words}, kLine, wide.width / 2).size();
  EXPECT_LE(narrow.width, wide.width / 2);
  EXPECT_GE(narrow.height, wide.height + kLine * 3 / 4);
  const io::Size name = TextBox({std::string(200, 'x')}, kLine, 150).size();
  EXPECT_LE(name.width, 150) << "one word";
  EXPECT_GT(name.height, 5 * kLine);
  EXPECT_GT(TextBox({"a", "", "b"}, kLine, 150).size().height, TextBox({"a", "b"}, kLine, 150).size().height);
  EXPECT_GT(TextBox({"a"}, kLine, 1).size().height, 0);
}

TEST(TextBoxTest, TheSecondColumnIsBehindTheWidestKey) {
  const ImGuiFrame frame;
  const int keys = TextBox({"WWWWWW"}, 20, 1000).size().width;
  const int actions = TextBox({"action"}, 20, 1000).size().width;
  EXPECT_GE(TextBox({"iii\taction", "WWWWWW\taction"}, 20, 1000).size().width, keys + actions);
  EXPECT_EQ(TextBox({"iii\taction", "WWWWWW\taction"}, 20, 1000).size(),
            TextBox({"WWWWWW\taction", "WWWWWW\taction"}, 20, 1000).size());
}

TEST(OsdTest, StatisticsLeaveThePictureToBeSeen) {
  const ImGuiFrame frame;
  Statistics statistics;
  statistics.source = "a film with a name of some length.mkv";
  statistics.format = "1920x1080 YUV 4:2:0 8 bit  BT.709 limited range";
  statistics.engine = "cpu, a processor with a name of some length, 16 threads";
  statistics.state = "playing";
  statistics.filter = "bm3d";
  statistics.planes = {"Y", "U", "V"};
  statistics.loads = {{"decode", 0.1}, {"denoise", 0.5}, {"convert", 0.1}, {"present", 0.1}};
  const auto box = [&](io::Size window) {
    return statistics_box(statistics, text_size(window, 1, 1), window).size();
  };
  const auto text = [&](Detail detail, io::Size window) {
    const int line = text_size(window, 1, 1);
    return TextBox(to_lines(statistics, detail), line, window.width).size().height;
  };
  EXPECT_EQ(box({1280, 720}).height, text(Detail::kAll, {1280, 720}));
  const auto is_a_quarter = [&](io::Size window) {
    const io::Size seen = box(window);
    return 4 * seen.width * seen.height <= window.width * window.height;
  };
  for (const io::Size window : {io::Size{1280, 720}, {640, 480}, {480, 320}, {320, 480}, {1280, 200}}) {
    EXPECT_TRUE(is_a_quarter(window)) << window.width << "x" << window.height;
    EXPECT_LE(box(window).width, window.width);
  }
  EXPECT_GT(box({480, 320}).height, text_size({480, 320}, 1, 1)) << "not only the least";
}

std::string first_word(std::string_view line) { return std::string(line.substr(0, line.find(' '))); }

TEST(KeyTableTest, EachKeyHasOneActionThatExists) {
  std::set<std::string_view> seen;
  for (const KeyGroup& group : key_groups()) {
    EXPECT_FALSE(group.help.empty()) << keys_text(group);
    for (const KeyBinding& binding : group.keys) {
      EXPECT_TRUE(seen.insert(binding.key).second) << binding.key;
      const std::string verb = first_word(binding.line);
      if (find_window_command(verb) == nullptr) {
        EXPECT_NE(find_property(first_word(binding.line.substr(verb.size() + 1))), nullptr) << binding.line;
      }
    }
  }
}

TEST(KeyTableTest, TooltipsNameTheKeysOfTheirControl) {
  EXPECT_EQ(tooltip_of("undo"), "Undo the last change of a setting. Keys: Ctrl+Z");
  EXPECT_EQ(tooltip_of("gain"), "Gain of the difference. Keys: g, G");
  EXPECT_EQ(keys_of("set view noisy"), "1");
  EXPECT_EQ(keys_of("add strength 0.1"), "Shift+UP");
}

// Keys in texts come from the table, so that no text names a key that does something else.
TEST(KeyTableTest, NoTextRepeatsAKey) {
  const std::regex by_hand("(Keys?: |; )([A-Z][a-zA-Z+]*|[a-z+-]|[A-Z])(:| cancels| and )");
  for (const auto& entry : std::filesystem::directory_iterator(LIMPID_SOURCE_DIR "/app/player")) {
    std::ifstream file(entry.path());
    const std::string source(std::istreambuf_iterator<char>(file), {});
    std::smatch found;
    EXPECT_FALSE(std::regex_search(source, found, by_hand)) << entry.path() << ": " << found.str();
  }
}

TEST(KeyTableTest, TheDocumentationListsAllKeys) {
  std::ifstream file(std::string(LIMPID_SOURCE_DIR) + "/docs/window.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const KeyGroup& group : key_groups()) {
    std::string keys = keys_text(group);
    if (const std::size_t bar = keys.find('|'); bar != std::string::npos) {
      keys.insert(bar, 1, '\\');
    }
    const std::string row = "| `" + keys + "` | " + std::string(group.help) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(ResultLabelTest, SaysWhetherTheResultIsADraftAndWhenTheFinalComes) {
  PlayedFrame frame;
  frame.settings.filter = {.name = "vbm4d", .profile = "np", .parameters = {}};
  frame.used = frame.settings;
  frame.used.filter = {.name = "bilateral", .profile = std::nullopt, .parameters = {}};
  EXPECT_EQ(result_label(frame, {}), "denoised, draft (bilateral)");
  EXPECT_EQ(result_label(frame, {.is_live = false, .is_late = false, .final_in = 11.2}),
            "denoised, draft (bilateral), final in 12 s");
  EXPECT_EQ(result_label(frame, {.is_live = false, .is_late = false, .final_in = 0}),
            "denoised, draft (bilateral), final to come");
  EXPECT_EQ(result_label(frame, {.is_live = false, .is_late = true, .final_in = {}}), "computing")
      << "other settings were requested";
  EXPECT_EQ(result_label(frame, {.is_live = false, .is_late = true, .final_in = 3}), "computing, 3 s");
  EXPECT_EQ(result_label(frame, {.is_live = true, .is_late = false, .final_in = {}}), "denoised (bilateral)")
      << "a camera has no final";
  frame.used = frame.settings;
  EXPECT_EQ(result_label(frame, {}), "denoised, draft (vbm4d np)") << "no later frames";
  EXPECT_EQ(result_label(frame, {.is_live = true, .is_late = false, .final_in = {}}), "denoised");
  frame.used.looks_ahead = true;
  EXPECT_EQ(result_label(frame, {}), "denoised, final");
  frame.used = {};
  frame.used.filter = {.name = "bilateral", .profile = std::nullopt, .parameters = {}};
  frame.is_refined = true;
  EXPECT_EQ(result_label(frame, {}), "denoised, final");
  frame.is_refined = false;
  frame.settings = frame.used;
  EXPECT_EQ(result_label(frame, {}), "denoised, final") << "bilateral was chosen, and needs no frames";
  frame.is_waiting = true;
  EXPECT_EQ(result_label(frame, {}), "computing");
}

TEST(ControlsTest, AnOpenPanelAndItsBarTakeTheirOwnSpace) {
  Controls controls(true);
  EXPECT_EQ(controls.stage({1280, 720}, 1), (io::Size{1280, 720}));
  controls.open_panel(true);
  EXPECT_EQ(controls.stage({1280, 720}, 1), (io::Size{944, 666}));
  EXPECT_EQ(controls.stage({1920, 1080}, 2), (io::Size{1248, 972}));
  EXPECT_EQ(controls.stage({640, 360}, 1), (io::Size{304, 306}));
  EXPECT_EQ(controls.stage({540, 960}, 1), (io::Size{540, 453})) << "the panel is below";
}

TEST(ControlItemsTest, NumbersAreTypedWithAPointOrAComma) {
  EXPECT_EQ(parse_number("1,7"), 1.7);
  EXPECT_EQ(parse_number(" 2.5"), 2.5);
  EXPECT_EQ(parse_number("40 %"), 40);
  EXPECT_EQ(parse_number("strong"), std::nullopt);
  EXPECT_EQ(parse_number(""), std::nullopt);
}

TEST(SettingsHistoryTest, ChangesOfOneGestureAreOneStep) {
  const auto settings = [](float mix) {
    PlayerSettings result;
    result.noise.mix = mix;
    return result;
  };
  SettingsHistory history;
  EXPECT_FALSE(history.undo(settings(0)));
  history.add(settings(0), 0);
  history.add(settings(0.1F), 7);
  history.add(settings(0.2F), 7);
  history.add(settings(0.3F), 8);
  EXPECT_EQ(history.undo(settings(0.4F)), settings(0.3F));
  EXPECT_EQ(history.undo(settings(0.3F)), settings(0.1F));
  EXPECT_EQ(history.redo(settings(0.1F)), settings(0.3F));
  EXPECT_EQ(history.undo(settings(0.3F)), settings(0.1F));
  EXPECT_EQ(history.undo(settings(0.1F)), settings(0));
  EXPECT_FALSE(history.undo(settings(0)));
  history.add(settings(0), 0);
  EXPECT_FALSE(history.redo(settings(1))) << "another change";
}

TEST(OsdTest, TheKeysFitIntoTheWindow) {
  const ImGuiFrame frame;
  const std::vector<std::string> lines = key_help_lines(key_groups());
  for (const io::Size window : {io::Size{1280, 720}, {640, 480}, {360, 640}, {640, 260}}) {
    const int line = text_size(window, 1, 1);
    const io::Size box = help_box(lines, line, window).size();
    EXPECT_LE(box.width, window.width) << window.width << "x" << window.height;
    EXPECT_LE(box.height, window.height) << window.width << "x" << window.height;
  }
  const int least = help_box(lines, 20, {10'000, 10'000}).size().height;
  EXPECT_EQ(help_box(lines, 20, {10'000, least + 20}).size().height, least) << "no smaller than need be";
}

TEST(OsdTest, TellsTimesAndFigures) {
  EXPECT_EQ(time_text(62.3456), "1:02.346");
  EXPECT_EQ(time_text(3600, false), "1:00:00");
  EXPECT_EQ(time_text(59.9996), "1:00.000");
  Statistics statistics;
  statistics.dropped = 17;
  statistics.planes = {"Y", "U", "V"};
  statistics.level = {{12.5F, 6, 3}};
  statistics.estimated = true;
  statistics.loads = {{"denoise", 0.5}};
  std::string all;
  for (const std::string& line : to_lines(statistics)) {
    all += line + "\n";
  }
  EXPECT_NE(all.find("dropped 17"), std::string::npos);
  EXPECT_NE(all.find("sigma  Y 12.5  U 6.0  V 3.0   (estimated)"), std::string::npos) << all;
  EXPECT_NE(all.find("denoise 50%"), std::string::npos);
  statistics.noise_shape = "smooth in Y";
  EXPECT_EQ(to_lines(statistics, Detail::kFew)[2], "sigma  Y 12.5  U 6.0  V 3.0   (estimated, smooth in Y)");
  EXPECT_EQ(all.find("profile"), std::string::npos) << "of a filter without";
}

}  // namespace
}  // namespace limpid::app
