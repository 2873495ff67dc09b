// SPDX-License-Identifier: MIT
// A module of another version, or built from other headers: its entry must not be called.
#include <cstdlib>

extern "C" void limpid_engine_module();
extern "C" void limpid_engine_module_v0_0_9_0123abcd();

void limpid_engine_module() { std::abort(); }
void limpid_engine_module_v0_0_9_0123abcd() { std::abort(); }
