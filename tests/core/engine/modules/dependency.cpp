// SPDX-License-Identifier: MIT
int answer_of_a_library();

int answer_of_a_library() { return 42; }
