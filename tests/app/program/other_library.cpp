// SPDX-License-Identifier: MIT
// A liblimpid of another build, as far as the program examines it.
#include "limpid.h"

const char* limpid_version() { return "0.0.1"; }
