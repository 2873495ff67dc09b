/* SPDX-License-Identifier: MIT */
/* limpid.h: remove noise from video, from C.
 *
 * A denoiser takes frames and returns results in the same order:
 *
 *     limpid_denoiser* denoiser;
 *     limpid_format format = {sizeof format, 1920, 1080, LIMPID_YUV, 1, 1, LIMPID_UINT8, 8, 0};
 *     limpid_new(&denoiser, NULL);
 *     limpid_set(denoiser, "quality", "fast");
 *     limpid_start(denoiser, &format);
 *     for each frame:
 *       limpid_send(denoiser, &frame);
 *       while (limpid_receive(denoiser, &result) == LIMPID_OK) { use it; limpid_release(&result); }
 *     limpid_flush(denoiser), then limpid_receive() until LIMPID_END
 *     limpid_free(&denoiser);
 *
 * The program `limpid denoise` gives the same bits with the same settings.
 *
 * ERRORS. Functions that can fail return a limpid_status; values below 0 are errors. limpid_error() returns a
 * sentence about the error, which also goes to the log, if one is set. A failed call leaves the denoiser
 * unchanged. Exceptions are LIMPID_FAILED and LIMPID_NO_MEMORY of limpid_send(), limpid_receive() and
 * limpid_flush(): a frame may be lost, and limpid_reset() or limpid_start() starts a new stream. No C++
 * exception leaves the library.
 *
 * THREADS. A denoiser accepts one call at a time, on any thread. Different denoisers may be used on different
 * threads at once, even with one engine: they share its threads or its device. Functions without a denoiser
 * may be called on any thread at any time.
 *
 * STRUCTS. The caller sets `struct_size` to sizeof the struct, also in structs that a function fills. It
 * keeps programs compatible with later versions of the library. All other members may be 0.
 *
 * TEXTS are in UTF-8. The library does not change the environment, the signal handlers or the locale of the
 * process. It reads the environment variable LIMPID_ENGINE_PATH: more folders of engine modules.
 */
#ifndef LIMPID_H
#define LIMPID_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): this is C */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

/* The version of the library that this header belongs to; compare limpid_version(). */
#define LIMPID_VERSION "0.3.0"

/* Increases by one with each addition to this header:
 *   1  the first version
 *   2  limpid_estimate_noise()
 *   3  limpid_noise.area
 *   4  limpid_get_result_noise(), limpid_cancel(), LIMPID_FRAME_INIT, limpid_error(NULL), LIMPID_LEVEL_ONLY,
 *      limpid_stream_info.level_section and level_before
 */
#define LIMPID_API_VERSION 4

#if defined(_WIN32) && defined(LIMPID_BUILD) /* set by the build of the library itself */
#define LIMPID_API __declspec(dllexport)
#elif defined(_WIN32) && defined(LIMPID_STATIC) /* to be set by programs that link a static library */
#define LIMPID_API
#elif defined(_WIN32)
#define LIMPID_API __declspec(dllimport)
#elif defined(__GNUC__)
#define LIMPID_API __attribute__((visibility("default")))
#else
#define LIMPID_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum limpid_status {
  LIMPID_OK = 0,
  LIMPID_AGAIN = 1,         /* no result yet: send another frame, or flush */
  LIMPID_END = 2,           /* all results have been received, after limpid_flush() */
  LIMPID_FAILED = -1,       /* the engine is not available, or the device failed */
  LIMPID_BAD_ARGUMENT = -2, /* a null pointer, an unknown name, an illegal value */
  LIMPID_NO_MEMORY = -3,
  LIMPID_BAD_STATE = -4 /* a call out of order, such as limpid_send() after limpid_flush() */
} limpid_status;

/* The version of the loaded library. */
LIMPID_API const char* limpid_version(void); /* "0.3.0" */
LIMPID_API int32_t limpid_api_version(void); /* LIMPID_API_VERSION of the library */

/* ---- Formats and frames ---- */

typedef enum limpid_color_model { LIMPID_GRAY = 0, LIMPID_YUV = 1, LIMPID_RGB = 2 } limpid_color_model;
typedef enum limpid_sample_type {
  LIMPID_UINT8 = 0,
  LIMPID_UINT16 = 1,
  LIMPID_FLOAT32 = 2,
  LIMPID_FLOAT16 = 3 /* IEEE 754 binary16 */
} limpid_sample_type;

/* The format of frames. Sizes are 1 to 65535. The order of planes is Y, U, V or R, G, B, then alpha, which is
 * copied. */
typedef struct limpid_format {
  size_t struct_size;
  int32_t width; /* width of the first plane, in samples */
  int32_t height;
  int32_t color_model;    /* limpid_color_model */
  int32_t chroma_shift_x; /* YUV: planes U and V are width / 2^chroma_shift_x wide, rounded up; 0 to 2 */
  int32_t chroma_shift_y; /* and height / 2^chroma_shift_y high */
  int32_t sample_type;    /* limpid_sample_type; in the machine's byte order */
  int32_t bit_depth; /* UINT8: 8; UINT16: 8 to 16, in the low bits; floats: 32 or 16, values from 0 to 1 */
  int32_t has_alpha;
} limpid_format;

/* The memory of samples: of the host, or of a GPU, numbered as in the CUDA runtime. */
typedef enum limpid_memory { LIMPID_HOST = 0, LIMPID_CUDA = 1 } limpid_memory;

/* Row y of a plane begins at `data` + y * stride bytes. In host memory the stride may be negative, and rows
 * need no alignment. */
typedef struct limpid_plane {
  void* data;
  ptrdiff_t stride;      /* in bytes */
  int32_t sample_stride; /* from one sample to the next, in samples: 2 for U and V of NV12; 0 means 1 */
} limpid_plane;

typedef enum limpid_frame_flag {
  LIMPID_INTERLACED = 1, /* odd and even rows are fields of different times */
  LIMPID_BEGINS_ANEW =
      2, /* a discontinuity, such as a seek: the frame and the one before do not use each other */
  LIMPID_CONTEXT_ONLY = 4, /* the frame has no result; neighboring frames use it */
  LIMPID_LEVEL_ONLY =
      8 /* the frame has no result; only the noise level of later frames is measured with it */
} limpid_frame_flag;

typedef struct limpid_buffer limpid_buffer;

typedef struct limpid_frame {
  size_t struct_size;
  limpid_plane planes[4];
  int32_t memory;       /* limpid_memory */
  int32_t ordinal;      /* LIMPID_CUDA: the number of the GPU */
  int32_t padding_bits; /* unused low bits of each sample: 6 of P010; 0 in the library's memory */
  uint32_t flags;       /* limpid_frame_flag; other bits are refused */
  /* LIMPID_CUDA: a cudaEvent_t after which the samples are valid, kept until `release`. NULL: they are valid
   * after all work in the default stream of the device. */
  void* ready;
  int64_t pts; /* pts and user are copied to the result and not used otherwise */
  void* user;
  /* Called once for each frame that is sent, on any thread, as soon as the library no longer uses its memory;
   * also if the call fails, except for a wrong struct_size of the frame. It must not call the denoiser. May
   * be NULL for frames in host memory, which are copied before limpid_send() returns. */
  void (*release)(void* release_data);
  void* release_data;
  limpid_buffer* buffer; /* the library's memory, in frames that it returns; NULL in frames of the caller */
} limpid_frame;
/* The initial value of a limpid_frame: `limpid_frame frame = LIMPID_FRAME_INIT;` */
#define LIMPID_FRAME_INIT                                                                                \
  {                                                                                                      \
    sizeof(limpid_frame), {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}}, 0, 0, 0, 0, NULL, 0, \
        NULL, NULL, NULL, NULL                                                                           \
  }

/* Releases a frame of the library, which may outlive the denoiser. Ignores NULL and frames without `buffer`.
 */
LIMPID_API void limpid_release(limpid_frame* frame);

/* ---- Engines ---- */

/* The CPU with its threads, or a GPU. Several denoisers may share an engine. */
typedef struct limpid_engine limpid_engine;

/* name: "auto" or NULL, "cpu", "cuda" (the first GPU), "cuda:0", "cuda:0,1", "cuda:all". threads: of the CPU
 * engine, at most 1024; 0: one per processor of the process. The first limpid_start() of a denoiser opens the
 * engine and reports its errors. */
LIMPID_API limpid_status limpid_engine_new(limpid_engine** engine, const char* name, int32_t threads);
/* Denoisers of the engine stay usable. Accepts NULL; sets *engine to NULL. */
LIMPID_API void limpid_engine_free(limpid_engine** engine);

typedef struct limpid_engine_info {
  size_t struct_size;
  const char* name;        /* for limpid_engine_new() */
  const char* description; /* the processor or device, or the reason why it is not available */
  uint64_t memory_bytes;   /* 0: unknown */
  int32_t available;
} limpid_engine_info;

/* Calls `each` for the engines of this machine, best first, including those that are not available. Texts are
 * valid during the call. */
LIMPID_API limpid_status limpid_list_engines(void (*each)(void* data, const limpid_engine_info* engine),
                                             void* data);

/* ---- Filters and their parameters ---- */

typedef struct limpid_filter_info {
  size_t struct_size;
  const char* name;            /* for the setting "filter" */
  const char* help;            /* title and purpose, in a line */
  const char* const* profiles; /* for the setting "profile", from fastest to best */
  int32_t profile_count;       /* 0: no profiles */
  const char* default_profile; /* NULL: no profiles */
  int32_t parameter_count;
  int32_t is_experimental; /* 0: every filter is for daily use */
} limpid_filter_info;

typedef enum limpid_kind { LIMPID_INTEGER = 0, LIMPID_NUMBER = 1, LIMPID_NAME = 2 } limpid_kind;

typedef struct limpid_parameter_info {
  size_t struct_size;
  const char* name;          /* as a setting: "search-window" */
  int32_t kind;              /* limpid_kind */
  const char* help;          /* a noun phrase, in a line */
  const char* range;         /* legal values as text: "odd, 1 to 129"; names as a list: "dct, haar" */
  const char* default_value; /* in the default profile; NULL: follows from the noise or other parameters */
} limpid_parameter_info;

/* Filters and parameters are numbered from 0. Texts stay valid while the library is loaded. */
LIMPID_API int32_t limpid_filter_count(void);
LIMPID_API limpid_status limpid_get_filter(int32_t filter, limpid_filter_info* info);
LIMPID_API limpid_status limpid_get_parameter(int32_t filter, int32_t parameter, limpid_parameter_info* info);

/* ---- Denoisers ---- */

typedef struct limpid_denoiser limpid_denoiser;

/* engine: NULL for an own engine, which the settings "engine" and "threads" select. Sets *denoiser
 * to NULL if it fails. */
LIMPID_API limpid_status limpid_new(limpid_denoiser** denoiser, limpid_engine* engine);
/* Drops all frames. Accepts NULL; sets *denoiser to NULL. */
LIMPID_API void limpid_free(limpid_denoiser** denoiser);

/* The error of the last failed call; "" without one. Valid until the next call. NULL: the last failed call
 * without a denoiser on this thread, such as limpid_new() or limpid_measure(). */
LIMPID_API const char* limpid_error(const limpid_denoiser* denoiser);

typedef enum limpid_log_level { LIMPID_LOG_WARNING = 1, LIMPID_LOG_ERROR = 2 } limpid_log_level;
/* Receives warnings (settings that cannot be applied fully) and errors (the texts of limpid_error()) as
 * sentences, during calls of the denoiser, on their thread. It must not call the denoiser. NULL: no log. */
typedef void (*limpid_log)(void* data, limpid_log_level level, const char* sentence);
LIMPID_API limpid_status limpid_set_log(limpid_denoiser* denoiser, limpid_log log, void* data);

/* Sets an option of the command line by its name without dashes. `limpid denoise --help-all` and
 * `limpid filters NAME` list them:
 *
 * - filter, and each parameter of the filter (limpid_get_parameter()): reach, delay, steps, ...; the filter
 * may contain parameters: "vbm4d:reach=4:step=3"
 * - quality: "fast", "good", "high" or "best"; profile: names of the filter (limpid_filter_info)
 * - noise: "auto"; a standard deviation in 8-bit code values, "10", or one per plane, "10,5,5"; a profile of
 *   `limpid noise`, as a file name, "camera.json", or as text, which begins with '{'
 * - sigma: another name of the setting noise
 * - strength: "0" to "10", "light", "medium", "strong"; two of these for luma and chroma: "1,0.5"
 * - mix: share of the noisy frame in the result, "0" to "1"
 * - planes: "all", "luma" or "chroma"
 * - repair: "off", "pixels", "rows", "dust" or "all": defects to repair before filtering; not with live
 * - fields: "auto" (frames that show combing in many places, or in some places if they are flagged as
 *   interlaced), "progressive" (none) or "interlaced" (all) are filtered by field
 * - engine, threads: for denoisers with an own engine
 * - live: "1" or "0"; "1": results do not wait for later frames, as in the program's windows. The noise is
 *   estimated without lookahead, and filters along motion have the delay 0, unless another is set
 *
 * - settings: a settings file of the window or of the command line ("look.json"), or its text, which begins
 *   with '{'. It sets filter, noise, strength, mix and fields; settings that are set later override it
 *
 * The value NULL restores the default. noise, strength, mix and planes apply to the frames that are sent
 * afterwards, other settings from the next limpid_start(), which checks that they are compatible. */
LIMPID_API limpid_status limpid_set(limpid_denoiser* denoiser, const char* name, const char* value);
LIMPID_API limpid_status limpid_set_int(limpid_denoiser* denoiser, const char* name, int32_t value);
LIMPID_API limpid_status limpid_set_float(limpid_denoiser* denoiser, const char* name, double value);

/* Starts a stream of frames of `format` with the current settings. Drops the previous stream. */
LIMPID_API limpid_status limpid_start(limpid_denoiser* denoiser, const limpid_format* format);

/* A value of limpid_stream_info.reach_before: results depend on all earlier frames of the stream (filter
 * recursive). Twelve frames of context give results of equal quality, which are not bit-exact. */
#define LIMPID_UNBOUNDED INT32_MAX

typedef struct limpid_stream_info {
  size_t struct_size;
  /* The numbers of frames before and after a frame that its result depends on. With a given noise level, any
   * segment of a stream that is sent with that many context frames is bit-exact with the whole stream, unless
   * reach_before is LIMPID_UNBOUNDED. */
  int32_t reach_before;
  int32_t reach_after;
  int32_t latency;       /* later frames that must be sent before the result of a frame is available */
  int32_t concurrency;   /* frames filtered at once; latency + concurrency frames keep the engine busy */
  int32_t memory;        /* limpid_memory of frames that the engine reads, besides LIMPID_HOST */
  int32_t ordinal;       /* number of the GPU */
  int32_t result_memory; /* limpid_memory of results (limpid_send_to()) */
  int32_t result_ordinal;
  const char* engine; /* texts stay valid until the next limpid_start() */
  const char* engine_description;
  const char* filter;
  /* With an estimated noise level, a stream that begins at frame number i of a video, a multiple of
   * level_section, has the results of the whole video from frame i + level_before on, if the frames before
   * are LIMPID_LEVEL_ONLY or, reach_before of them, LIMPID_CONTEXT_ONLY. 1 and 0 with a given level. 0 and 0
   * if levels depend on all earlier frames (setting live). */
  int32_t level_section;
  int32_t level_before;
} limpid_stream_info;
LIMPID_API limpid_status limpid_get_stream(limpid_denoiser* denoiser, limpid_stream_info* info);

/* Allocates a frame of the stream's format in the memory that the engine reads fastest. It is sent without a
 * copy, and must not be changed afterwards. Release it with limpid_release(). */
LIMPID_API limpid_status limpid_allocate(limpid_denoiser* denoiser, limpid_frame* frame);

/* Sends the next frame and does not wait for its result. Frames in the caller's host memory are copied before
 * the call returns; frames with a `buffer` (limpid_allocate(), limpid_receive()) and frames in device memory
 * are not copied. Receive results between calls: they stay in memory until then. */
LIMPID_API limpid_status limpid_send(limpid_denoiser* denoiser, const limpid_frame* frame);
/* As limpid_send(), and writes the result to `result`, in device memory of the stream's result_memory. Its
 * release is called when the result is released or dropped, or the call fails. The result is written after
 * the event `ready` of `frame`. All frames with results in a stream must be sent by one of the two functions.
 */
LIMPID_API limpid_status limpid_send_to(limpid_denoiser* denoiser, const limpid_frame* frame,
                                        const limpid_frame* result);

/* Waits for the next result and returns it with pts, user and LIMPID_INTERLACED of its frame, or returns
 * LIMPID_AGAIN or LIMPID_END. The result is in memory of the library (or of limpid_send_to()); release it
 * with limpid_release(). */
LIMPID_API limpid_status limpid_receive(limpid_denoiser* denoiser, limpid_frame* result);
/* As limpid_receive(), and copies the result to the caller's planes in host memory, with their padding_bits.
 */
LIMPID_API limpid_status limpid_receive_into(limpid_denoiser* denoiser, limpid_frame* result);
/* Ends a limpid_receive() in progress early, without a result. May be called on any thread during that call.
 * limpid_reset() or limpid_start() must follow. Since version 4. */
LIMPID_API limpid_status limpid_cancel(limpid_denoiser* denoiser);

/* Ends the stream: all results can be received, and no frame can be sent. */
LIMPID_API limpid_status limpid_flush(limpid_denoiser* denoiser);
/* Drops all frames and restarts the stream. Keeps its memory and tables. */
LIMPID_API limpid_status limpid_reset(limpid_denoiser* denoiser);

typedef struct limpid_noise {
  size_t struct_size;
  float sigma[3];      /* noise level of each plane, estimated or given, in 8-bit code values */
  const char* profile; /* JSON text for the setting "noise"; valid until the next call */
  /* x, y, width and height of the only part of the picture that has noise, in samples of the first plane. The
   * rest passes through unchanged. 0, 0, 0, 0: the whole picture has noise. It is "area" of the profile, by
   * which it is set. Since version 3. */
  int32_t area[4];
} limpid_noise;
/* The noise of the last frame that the filter received; LIMPID_AGAIN before the first. */
LIMPID_API limpid_status limpid_get_noise(limpid_denoiser* denoiser, limpid_noise* noise);
/* The noise of the frame whose result was received last; LIMPID_AGAIN before the first. Since version 4. */
LIMPID_API limpid_status limpid_get_result_noise(limpid_denoiser* denoiser, limpid_noise* noise);
/* Estimates the noise of the longest scene of `count` consecutive frames, as `limpid noise` does with 16. The
 * engine reads the frames only during the call; `release` is not called. The current stream is not affected.
 */
LIMPID_API limpid_status limpid_estimate_noise(limpid_denoiser* denoiser, const limpid_format* format,
                                               const limpid_frame* const* frames, int32_t count,
                                               limpid_noise* noise);

/* ---- Metrics ---- */

typedef struct limpid_quality {
  size_t struct_size;
  double psnr[3]; /* of each color plane, in dB; infinite for equal planes */
  double ssim[3];
} limpid_quality;
/* Compares two frames in host memory. */
LIMPID_API limpid_status limpid_measure(const limpid_format* format, const limpid_frame* reference,
                                        const limpid_frame* test, limpid_quality* quality);

#ifdef __cplusplus
}
#endif

#endif
