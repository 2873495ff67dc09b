#pragma once

namespace limpid::io {

/// From now on the X server's complaints about single requests end the process no more, as Xlib has it do
/// otherwise: they come late, when the window that they are about may be gone. SDL's wake-up calls, which
/// take a connection of their own, are overtaken by the window's end now and then.
void survive_x11_errors();

}  // namespace limpid::io
