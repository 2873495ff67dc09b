#include "app/view.h"

#include <gtest/gtest.h>

#include "app/osd.h"
#include "app/time_options.h"

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
  view.pan(40, 0);
  EXPECT_NEAR(view.picture_column(340, kWindow), column, 1);
  const View::Placement placement = view.place(kWindow);
  EXPECT_EQ(placement.target.width, 4 * placement.source.width);
  EXPECT_LE(placement.target.x, 0);
  EXPECT_GE(placement.target.x + placement.target.width, kWindow.width);
  EXPECT_LT(placement.source.width, 204) << "only what is seen is drawn";
  view.pan(1e6, 1e6);
  EXPECT_GT(view.place(kWindow).source.width, 0) << "it never leaves the window";
}

TEST(ViewTest, SmallPicturesAreInTheMiddle) {
  View view({10, 20}, 1);
  view.set_zoom(8, 0, 0, kWindow);
  EXPECT_EQ(view.place(kWindow).target, (io::Rectangle{360, 220, 80, 160}));
}

TEST(ViewTest, ZoomsAreStepsOfTwo) {
  View view({10, 10}, 1);
  EXPECT_EQ(view.next_zoom(true), 1);
  EXPECT_EQ(view.next_zoom(false), 0);
  view.set_zoom(8, 0, 0, kWindow);
  EXPECT_EQ(view.next_zoom(true), 8);
  EXPECT_EQ(view.next_zoom(false), 4);
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
  EXPECT_EQ(all.find("profile"), std::string::npos) << "of a filter without";
}

}  // namespace
}  // namespace limpid::app
