// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::oracle {

/// One plane of samples in 8-bit code values, row-major.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<double> samples;
  double at(int x, int y) const { return samples[y * width + x]; }
  double& at(int x, int y) { return samples[y * width + x]; }
};

/// The top left corner of a patch.
struct Position {
  int x = 0;
  int y = 0;
};

/// Positions of similar patches, the reference patch first.
using Group = std::vector<Position>;

/// BM3D from its definition ([Dabov 2007] with the choices of docs/algorithms.md), in double precision and
/// the simplest possible code: the reference for the engines.

/// Parameters of the comparison of patches.
struct Search {
  bool whole_code_values = false;  ///< the guide is made of 8-bit samples (smoothed ones are rounded again)
  double noise = 0;                ///< mean squared difference expected from the guide's noise
};

/// The groups of all reference patches, matched on `guide`.
std::vector<Group> find_groups(const Picture& guide, const Bm3dStep& step, const Search& search = {});

/// The guide of the first step's statistical matching: smoothed by [1 6 1] / 8 in both directions.
Picture smoothed(const Picture& guide);

/// The variances of the coefficients [k v + u] of a step's 2D transform of `noise`.
std::vector<double> coefficient_variances(const PlaneNoise& noise, const Bm3dStep& step);

/// Step 1: hard thresholding of the 3D spectra of `groups`. A group's brightness is that of its reference
/// patch in `brightness`, if that is given.
Picture hard_threshold(const Picture& noisy, const std::vector<Group>& groups, const Bm3dStep& step,
                       double lambda, const PlaneNoise& noise, const Picture* brightness = nullptr);

/// Step 2: empirical Wiener filtering, with `basic` the result of step 1.
Picture wiener(const Picture& noisy, const Picture& basic, const std::vector<Group>& groups,
               const Bm3dStep& step, const PlaneNoise& noise, const Picture* brightness = nullptr);

/// Both steps (or the first one only) on a whole frame, as Denoiser::send and receive of a bm3d denoiser.
Frame denoise(const Frame& frame, const Bm3dParameters& parameters, const NoiseModel& noise);

// Shared with temporal filters.

/// The values that matching compares, row-major, and the code values they represent.
std::vector<std::int64_t> matching_samples(const Picture& guide, const Search& search);
Picture matched_brightness(const Picture& guide, const Search& search);

/// 0, p, 2 p, ... and always the last position.
std::vector<int> reference_positions(int size, const Bm3dStep& step);

/// The mean of the luma samples that each chroma sample covers, those inside the picture.
Picture shrunk(const Picture& luma, const FrameFormat& format, int width, int height);

/// The factor of the noise's variance after subsampling and smoothing of a guide.
double left_of(const NoiseShape& noise, int shift_x, int shift_y, bool smoothed);

/// The standard deviation of the noise at a mean brightness, relative to the plane's.
double curve_at(const NoiseShape& noise, double mean);

/// R, G, B to Y, U, V: (R + G + B) / 3, (R - B) / 2, (R - 2G + B) / 4; the inverse; and their noise.
std::vector<Picture> to_opponent(const std::vector<Picture>& rgb);
std::vector<Picture> from_opponent(const std::vector<Picture>& yuv);
std::vector<PlaneNoise> opponent_noise(const NoiseModel& noise);

Picture field_of(const Picture& picture, int parity);
void insert_field(const Picture& field, int parity, Picture& picture);

void copy_plane(const Frame& from, const Frame& to, int plane);

/// The samples of a plane of `frame` in 8-bit code values.
Picture to_picture(const Frame& frame, int plane);

/// Stores code values as samples of `frame`, rounded and clamped if they are integers.
void store(const Picture& picture, const Frame& frame, int plane);

}  // namespace limpid::oracle
