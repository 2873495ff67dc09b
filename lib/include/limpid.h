/* limpid.h: remove noise from video, from C.
 *
 * A denoiser takes frames and gives results, in the order in which the frames came:
 *
 *     limpid_denoiser* denoiser;
 *     limpid_format format = {sizeof format, 1920, 1080, LIMPID_YUV, 1, 1, LIMPID_UINT8, 8, 0};
 *     limpid_new(&denoiser, NULL);
 *     limpid_set(denoiser, "profile", "fast");
 *     limpid_start(denoiser, &format);
 *     for each frame:
 *       limpid_send(denoiser, &frame);
 *       while (limpid_receive(denoiser, &result) == LIMPID_OK) { use it; limpid_release(&result); }
 *     limpid_flush(denoiser), and receive as above until LIMPID_END
 *     limpid_free(&denoiser);
 *
 * Results have the same bits as those of the program `limpid denoise` with the same settings.
 *
 * ERRORS. All that can fail returns a limpid_status; what is below 0 is an error. limpid_error() tells in one
 * sentence what was wrong, as does the log, if one is set. After an error the denoiser is as it was before
 * the call, but for LIMPID_FAILED and LIMPID_NO_MEMORY of limpid_send(), limpid_receive() and limpid_flush(),
 * after which a frame may be lost; limpid_reset() or limpid_start() begin anew. No C++ exception leaves the
 * library.
 *
 * THREADS. One call at a time with a denoiser, on any thread. Different denoisers may be used on different
 * threads at once, those of one engine too: they share its threads or its device. The functions without a
 * denoiser may be called on any thread at any time.
 *
 * STRUCTS. `struct_size` is sizeof of the struct, which the caller sets, for those that it gets back too. So
 * programs and later versions of the library fit together. Everything else may be 0.
 *
 * TEXTS are in UTF-8. The library changes nothing of the process: no environment, no signals, no locale. It
 * reads the environment variable LIMPID_ENGINE_PATH, further folders of engine modules.
 */
#ifndef LIMPID_H
#define LIMPID_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): this is C */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

/* The version of the library that this header is of, as of limpid_version(). */
#define LIMPID_VERSION "0.2.0"

/* Only grows, by one with everything that is added to this header; what was added:
 *   1  all
 *   2  limpid_estimate_noise()
 */
#define LIMPID_API_VERSION 2

#if defined(__GNUC__)
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
  LIMPID_FAILED = -1,       /* an engine that can't run, a device that broke down */
  LIMPID_BAD_ARGUMENT = -2, /* null, an unknown name, an illegal value: could never work */
  LIMPID_NO_MEMORY = -3,
  LIMPID_BAD_STATE = -4 /* a call out of turn, such as sending after limpid_flush() */
} limpid_status;

/* Versions of the library that is running. */
LIMPID_API const char* limpid_version(void); /* "0.2.0" */
LIMPID_API int32_t limpid_api_version(void); /* its LIMPID_API_VERSION */

/* ---- Formats and frames ---- */

typedef enum limpid_color_model { LIMPID_GRAY = 0, LIMPID_YUV = 1, LIMPID_RGB = 2 } limpid_color_model;
typedef enum limpid_sample_type {
  LIMPID_UINT8 = 0,
  LIMPID_UINT16 = 1,
  LIMPID_FLOAT32 = 2
} limpid_sample_type;

/* What samples are. Sizes are 1 to 65535. Planes are in the order Y, U, V or R, G, B; alpha, if there is,
 * comes last and is passed through. */
typedef struct limpid_format {
  size_t struct_size;
  int32_t width; /* of the first plane, in samples */
  int32_t height;
  int32_t color_model;    /* limpid_color_model */
  int32_t chroma_shift_x; /* YUV: planes U and V are width / 2^chroma_shift_x wide, rounded up; 0 to 2 */
  int32_t chroma_shift_y; /* and height / 2^chroma_shift_y high */
  int32_t sample_type;    /* limpid_sample_type; in the machine's byte order */
  int32_t bit_depth;      /* 8 of UINT8; 8 to 16 of UINT16, the low bits; 32 of FLOAT32, 0 to 1 */
  int32_t has_alpha;
} limpid_format;

/* Whose memory samples are in: the host's, or that of a GPU, which has the number of CUDA's runtime. */
typedef enum limpid_memory { LIMPID_HOST = 0, LIMPID_CUDA = 1 } limpid_memory;

/* Row y of a plane begins y * stride bytes behind `data`. In host memory the stride may be negative, and rows
 * may begin anywhere. */
typedef struct limpid_plane {
  void* data;
  ptrdiff_t stride;      /* in bytes */
  int32_t sample_stride; /* from one sample to the next, in samples: 2 for U and V of NV12; 0 means 1 */
} limpid_plane;

typedef enum limpid_frame_flag {
  LIMPID_INTERLACED = 1,  /* odd and even rows are fields of different instants, and filtered apart */
  LIMPID_BEGINS_ANEW = 2, /* as behind a seek: neither it nor the frame before helps the other */
  LIMPID_CONTEXT_ONLY = 4 /* no result is wanted: it is there for the frames around it */
} limpid_frame_flag;

typedef struct limpid_buffer limpid_buffer;

typedef struct limpid_frame {
  size_t struct_size;
  limpid_plane planes[4];
  int32_t memory;       /* limpid_memory */
  int32_t ordinal;      /* of LIMPID_CUDA: the number of the GPU */
  int32_t padding_bits; /* unused low bits of each sample: 6 of P010; 0 in the library's memory */
  uint32_t flags;       /* of limpid_frame_flag */
  /* Of LIMPID_CUDA: a cudaEvent_t after which the samples are there, kept until `release`; or NULL: after all
   * that the device's default stream has been given. */
  void* ready;
  int64_t pts; /* these two come back with the result; the library doesn't look at them */
  void* user;
  /* May be NULL in frames in host memory, which are copied before limpid_send() returns. Called once for each
   * frame that is sent, also if the call fails, unless the frame's own struct_size is wrong; on any thread,
   * as soon as the library no longer needs its memory. It mustn't call the denoiser. */
  void (*release)(void* release_data);
  void* release_data;
  limpid_buffer* buffer; /* memory of the library's, of frames that it gives; NULL in the caller's own */
} limpid_frame;

/* Gives back a frame that the library gave. It may outlive the denoiser. Frames without `buffer`, and NULL,
 * are left as they are. */
LIMPID_API void limpid_release(limpid_frame* frame);

/* ---- Engines ---- */

/* A place to compute: the CPU with its threads, a GPU. Several denoisers may share one. */
typedef struct limpid_engine limpid_engine;

/* name: "auto" or NULL, "cpu", "cuda:0", "cuda:0,1", "cuda:all". threads: of the CPU engine, 1024 at most; 0:
 * one for each processor that the process may use. The engine is opened when a denoiser first starts on it,
 * which tells what is wrong with it. */
LIMPID_API limpid_status limpid_engine_new(limpid_engine** engine, const char* name, int32_t threads);
/* Denoisers that have it go on. */
LIMPID_API void limpid_engine_free(limpid_engine** engine);

typedef struct limpid_engine_info {
  size_t struct_size;
  const char* name;        /* for limpid_engine_new() */
  const char* description; /* the processor or device, or why it can't run */
  uint64_t memory_bytes;   /* 0 if not known */
  int32_t available;
} limpid_engine_info;

/* Calls `each` for the engines of this machine, best first, those that can't run too. Texts are there during
 * the call. */
LIMPID_API limpid_status limpid_list_engines(void (*each)(void* data, const limpid_engine_info* engine),
                                             void* data);

/* ---- Filters and their parameters ---- */

typedef struct limpid_filter_info {
  size_t struct_size;
  const char* name;            /* for the setting "filter" */
  const char* help;            /* what it is for, in a line */
  const char* const* profiles; /* for the setting "profile", from quickest to best */
  int32_t profile_count;       /* 0: it has none */
  const char* default_profile; /* NULL if it has none */
  int32_t parameter_count;
} limpid_filter_info;

typedef enum limpid_kind { LIMPID_INTEGER = 0, LIMPID_NUMBER = 1, LIMPID_NAME = 2 } limpid_kind;

typedef struct limpid_parameter_info {
  size_t struct_size;
  const char* name;          /* as a setting: "search-window" */
  int32_t kind;              /* limpid_kind */
  const char* help;          /* what it does, in a line */
  const char* range;         /* legal values, for a person: "odd, 1 to 129"; of names a list, "dct, haar" */
  const char* default_value; /* in the default profile; NULL: it follows from the noise or from others */
} limpid_parameter_info;

/* Filters and parameters are numbered from 0. Texts stay as long as the library is loaded. */
LIMPID_API int32_t limpid_filter_count(void);
LIMPID_API limpid_status limpid_get_filter(int32_t filter, limpid_filter_info* info);
LIMPID_API limpid_status limpid_get_parameter(int32_t filter, int32_t parameter, limpid_parameter_info* info);

/* ---- Denoisers ---- */

typedef struct limpid_denoiser limpid_denoiser;

/* engine: NULL for one of its own, which the settings "engine" and "threads" choose. On failure, of memory
 * only, *denoiser is NULL. */
LIMPID_API limpid_status limpid_new(limpid_denoiser** denoiser, limpid_engine* engine);
/* Drops what is under way. *denoiser may be NULL, and is then. */
LIMPID_API void limpid_free(limpid_denoiser** denoiser);

/* What was wrong with the last call that failed; "" if none has. Stays until the next call. */
LIMPID_API const char* limpid_error(const limpid_denoiser* denoiser);

typedef enum limpid_log_level { LIMPID_LOG_WARNING = 1, LIMPID_LOG_ERROR = 2 } limpid_log_level;
/* Is told in sentences what won't be filtered as asked (warnings) and what limpid_error() tells (errors),
 * during calls with the denoiser, on their thread. It mustn't call the denoiser. NULL: nobody is told. */
typedef void (*limpid_log)(void* data, limpid_log_level level, const char* sentence);
LIMPID_API limpid_status limpid_set_log(limpid_denoiser* denoiser, limpid_log log, void* data);

/* Sets an option of the command line, by its name without dashes; `limpid denoise --help` tells them all:
 *
 * - filter, profile, and each parameter of the filter (limpid_get_parameter()): reach, delay, steps, ...
 * - noise: "auto"; a deviation in 8-bit code values, "10", or one for each plane, "10,5,5"; the name of a
 *   profile that `limpid noise` has saved, "camera.json", or its text, which begins with '{'
 * - sigma: the same setting under its other name
 * - strength: "0" to "10", "light", "medium", "strong"
 * - planes: "all", "luma" or "chroma"
 * - fields: "auto" (frames that are flagged as interlaced, and combed ones), "progressive" (none) or
 *   "interlaced" (all) are filtered by field
 * - engine, threads: of denoisers with an engine of their own
 * - live: "1" or "0"; as in the program's windows, each frame's result comes without later frames: the noise
 *   is found without looking ahead, and filters along motion have the delay 0, and what profiles have for
 *   that, unless another is set
 *
 * NULL as a value unsets it. Noise, strength and planes hold for the frames that are sent from now on, the
 * others from the next limpid_start() on, which checks whether they fit together. */
LIMPID_API limpid_status limpid_set(limpid_denoiser* denoiser, const char* name, const char* value);
LIMPID_API limpid_status limpid_set_int(limpid_denoiser* denoiser, const char* name, int32_t value);
LIMPID_API limpid_status limpid_set_float(limpid_denoiser* denoiser, const char* name, double value);

/* Begins a stream of frames of `format` with the settings as they are; drops the one that was under way. */
LIMPID_API limpid_status limpid_start(limpid_denoiser* denoiser, const limpid_format* format);

typedef struct limpid_stream_info {
  size_t struct_size;
  /* How many frames before and after its own a result depends on. Any segment of a stream that is sent with
   * so many frames of context gives the same bits as the whole, if the noise is given. */
  int32_t reach_before;
  int32_t reach_after;
  int32_t latency;       /* later frames that must be sent before a frame's result can come */
  int32_t concurrency;   /* frames worked on at once; with latency + concurrency under way it is busy */
  int32_t memory;        /* limpid_memory that frames may be in besides LIMPID_HOST, or that */
  int32_t ordinal;       /* the number of the GPU */
  int32_t result_memory; /* the same of results (limpid_send_to()) */
  int32_t result_ordinal;
  const char* engine; /* these stay until the next limpid_start() */
  const char* engine_description;
  const char* filter;
} limpid_stream_info;
LIMPID_API limpid_status limpid_get_stream(limpid_denoiser* denoiser, limpid_stream_info* info);

/* A frame of the stream's format in memory that the engine reads fastest, to be filled and sent without a
 * copy. It must not be changed once it has been sent. Give it back by limpid_release(). */
LIMPID_API limpid_status limpid_allocate(limpid_denoiser* denoiser, limpid_frame* frame);

/* Sends the next frame. Frames in the caller's host memory are copied before this returns; those with a
 * `buffer` (limpid_allocate(), limpid_receive()) and those in device memory are not. Doesn't wait for the
 * result. Receive results in between: those that nobody fetches stay in memory. */
LIMPID_API limpid_status limpid_send(limpid_denoiser* denoiser, const limpid_frame* frame);
/* The same, with device memory of the stream's result_memory for the result to be written to, in `result`,
 * whose release is called when the result is given back or dropped, or the call fails. It is written after
 * what `frame` waits for (`ready`). All frames of a stream that want results must be sent in one of the two
 * ways. */
LIMPID_API limpid_status limpid_send_to(limpid_denoiser* denoiser, const limpid_frame* frame,
                                        const limpid_frame* result);

/* The next result, with pts, user and LIMPID_INTERLACED of its frame, in memory of the library's (or of
 * limpid_send_to()), which limpid_release() gives back; or LIMPID_AGAIN or LIMPID_END. Waits while it is
 * computed. */
LIMPID_API limpid_status limpid_receive(limpid_denoiser* denoiser, limpid_frame* result);
/* The same, copied into the caller's planes in host memory; `padding_bits` count, too. */
LIMPID_API limpid_status limpid_receive_into(limpid_denoiser* denoiser, limpid_frame* result);

/* No more frames will be sent; all results can be received. */
LIMPID_API limpid_status limpid_flush(limpid_denoiser* denoiser);
/* Drops the frames that are under way and begins the stream anew, with its memory and tables. */
LIMPID_API limpid_status limpid_reset(limpid_denoiser* denoiser);

typedef struct limpid_noise {
  size_t struct_size;
  float sigma[3];      /* of each plane, found or given, in 8-bit code values */
  const char* profile; /* a JSON text, for the setting "noise"; stays until the next call */
} limpid_noise;
/* The noise of the frame that was last given to the filter. LIMPID_AGAIN if none was yet. */
LIMPID_API limpid_status limpid_get_noise(limpid_denoiser* denoiser, limpid_noise* noise);
/* The noise of `count` frames that follow each other, as `limpid noise` finds it, which takes 16: that of
 * their longest scene. They are looked at by the denoiser's engine, during the call alone, and `release`
 * isn't called. The stream that is under way, if there is one, goes on as if nothing had been asked. */
LIMPID_API limpid_status limpid_estimate_noise(limpid_denoiser* denoiser, const limpid_format* format,
                                               const limpid_frame* const* frames, int32_t count,
                                               limpid_noise* noise);

/* ---- Metrics ---- */

typedef struct limpid_quality {
  size_t struct_size;
  double psnr[3]; /* of each colour plane, in dB; infinite if they are equal */
  double ssim[3];
} limpid_quality;
/* How alike two frames in host memory are. */
LIMPID_API limpid_status limpid_measure(const limpid_format* format, const limpid_frame* reference,
                                        const limpid_frame* test, limpid_quality* quality);

#ifdef __cplusplus
}
#endif

#endif
