/* SPDX-License-Identifier: MIT */
/* Denoises a y4m stream: denoise_y4m [SETTING=VALUE]... <noisy.y4m >clean.y4m
 * Settings are the options of `limpid denoise` without dashes: profile=fast sigma=12 */
#include <limpid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static limpid_denoiser* denoiser;

static void check(limpid_status status) {
  if (status < 0) {
    fprintf(stderr, "%s\n", limpid_error(denoiser));
    exit(1);
  }
}

/* "YUV4MPEG2 W480 H270 F25:1 C420p10": width, height, subsampling and depth. */
static limpid_format read_header(char* line) {
  limpid_format format = {sizeof format, 0, 0, LIMPID_YUV, 1, 1, LIMPID_UINT8, 8, 0};
  for (char* word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    if (word[0] == 'W') {
      format.width = atoi(word + 1);
    } else if (word[0] == 'H') {
      format.height = atoi(word + 1);
    } else if (word[0] == 'C') {
      format.color_model = strncmp(word, "Cmono", 5) == 0 ? LIMPID_GRAY : LIMPID_YUV;
      format.chroma_shift_x = strncmp(word, "C420", 4) == 0 || strncmp(word, "C422", 4) == 0;
      format.chroma_shift_y = strncmp(word, "C420", 4) == 0;
      if (strlen(word) > 5 && word[4] == 'p' && atoi(word + 5) > 8) {
        format.sample_type = LIMPID_UINT16;
        format.bit_depth = atoi(word + 5);
      }
    }
  }
  return format;
}

/* Receives what there is, in the order of the frames. */
static void write_results(limpid_frame* result, const void* samples, size_t bytes) {
  limpid_status status;
  while ((status = limpid_receive_into(denoiser, result)) == LIMPID_OK) {
    fwrite("FRAME\n", 1, 6, stdout);
    fwrite(samples, 1, bytes, stdout);
  }
  check(status);
}

int main(int argc, char** argv) {
#ifdef _WIN32 /* would convert the ends of lines */
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  char line[256];
  if (fgets(line, sizeof line, stdin) == NULL || strncmp(line, "YUV4MPEG2 ", 10) != 0) {
    fprintf(stderr, "the input is no y4m stream\n");
    return 1;
  }
  fputs(line, stdout);
  const limpid_format format = read_header(line);

  check(limpid_new(&denoiser, NULL));
  for (int i = 1; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    if (value != NULL) {
      *value++ = '\0';
    }
    check(limpid_set(denoiser, argv[i], value));
  }
  check(limpid_start(denoiser, &format));

  /* Planes lie one behind the other, without gaps. */
  limpid_frame frame = LIMPID_FRAME_INIT;
  limpid_frame result = LIMPID_FRAME_INIT;
  const size_t sample = format.sample_type == LIMPID_UINT16 ? 2 : 1;
  size_t begins[4] = {0};
  for (int p = 0; p < 3; ++p) {
    const int chroma = p > 0;
    const size_t width =
        (size_t)((format.width + chroma * format.chroma_shift_x) >> (chroma * format.chroma_shift_x));
    const size_t height =
        (size_t)((format.height + chroma * format.chroma_shift_y) >> (chroma * format.chroma_shift_y));
    const int missing = chroma && format.color_model == LIMPID_GRAY;
    frame.planes[p].stride = result.planes[p].stride = (ptrdiff_t)(width * sample);
    begins[p + 1] = begins[p] + (missing ? 0 : width * height * sample);
  }
  const size_t bytes = begins[3];
  char* in = malloc(bytes);
  char* out = malloc(bytes);
  for (int p = 0; p < 3; ++p) {
    frame.planes[p].data = in + begins[p];
    result.planes[p].data = out + begins[p];
  }

  while (fgets(line, sizeof line, stdin) != NULL && fread(in, 1, bytes, stdin) == bytes) {
    check(limpid_send(denoiser, &frame));
    write_results(&result, out, bytes);
  }
  check(limpid_flush(denoiser));
  write_results(&result, out, bytes);

  limpid_free(&denoiser);
  free(in);
  free(out);
  return 0;
}
