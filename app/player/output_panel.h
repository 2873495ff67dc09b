// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Draws the heading of a group of controls.
void draw_heading(const char* text);
/// Draws a button with the effect of a key.
void ask_by_key(ControlItems& items, ControlRequests& requests, const char* name, const char* label,
                bool chosen, const char* key, const char* tooltip);

/// The lower part of the panel, while it is drawn: view, two settings, and what to take along.
class OutputPanel {
 public:
  OutputPanel(const ControlState& state, ControlItems& items, ControlRequests& requests)
      : state_(state), items_(items), requests_(requests) {}

  void draw();

 private:
  void ask(const char* name, const char* label, bool chosen, const char* key, const char* tooltip) {
    ask_by_key(items_, requests_, name, label, chosen, key, tooltip);
  }
  void draw_camera();
  void draw_view();
  void draw_pair();
  void draw_files();
  void draw_passage();

  const ControlState& state_;
  ControlItems& items_;
  ControlRequests& requests_;
};

}  // namespace limpid::app
