// SPDX-License-Identifier: MIT
#include "cpu/recursive/plane_merger.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/base/parallel.h"
#include "core/bm3d/transforms.h"

namespace limpid::cpu {
namespace {

constexpr int kMergedBandRows = 32;  // their sums stay in a core's second-level cache

// Copies whole rows of sums.
void copy_rows(const AlignedVector<float>& from, std::size_t first, std::size_t count,
               AlignedVector<float>& to) {
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count, to.begin());
}

}  // namespace

void PatchGrid::place(int size, int spacing) {
  if (size == size_ && spacing == spacing_) {
    return;
  }
  size_ = size;
  spacing_ = spacing;
  positions_.clear();
  const int last = size - recursive::kPatch;
  for (int position = 0; position < last; position += spacing) {
    positions_.push_back(position);
  }
  positions_.push_back(last);

  const std::vector<double> window = kaiser_window(recursive::kPatch, double{recursive::kKaiserBeta});
  std::vector<double> sums(static_cast<std::size_t>(size));
  for (const int position : positions_) {
    for (int i = 0; i < recursive::kPatch; ++i) {
      // The window is the outer product of a line with itself.
      sums[position + i] += std::sqrt(window[i * recursive::kPatch + i]);
    }
  }
  inverse_weights_.resize(sums.size());
  std::transform(sums.begin(), sums.end(), inverse_weights_.begin(),
                 [](double sum) { return static_cast<float>(1 / sum); });
}

void PlaneMerger::Sums::resize(std::size_t size) {
  for (AlignedVector<float>* each : {&estimates, &weights, &merged}) {
    each->resize(size);
  }
}

void PlaneMerger::place(int width, int height, int spacing) {
  columns_.place(width, spacing);
  rows_.place(height, spacing);
  width_ = width;
  height_ = height;
  pitch_ = static_cast<std::size_t>(width + 15) / 16 * 16;
  bands_.clear();
  const std::vector<int>& ys = rows_.positions();
  for (int row = 0; row < rows_.count(); ++row) {
    if (bands_.empty() || ys[row] / kMergedBandRows != bands_.back().top / kMergedBandRows) {
      bands_.push_back({row, row, ys[row], 0});
    }
    bands_.back().last_row = row;
    bands_.back().bottom = ys[row] + recursive::kPatch;
  }
  for (std::vector<Sums>* all : {&heads_, &tails_}) {
    all->resize(bands_.size());
    for (Sums& sums : *all) {
      sums.resize(offset(recursive::kPatch));
    }
  }
  gains_.resize(static_cast<std::size_t>(rows_.count()) * columns_.count());
  unknown_.resize(gains_.size());
}

void PlaneMerger::run(const PatchStep& step, const PrepareRow& prepare, PaddedPlane& estimate,
                      PaddedPlane* merged) {
  const Target target = {&estimate, merged};
  const int count = static_cast<int>(bands_.size());
  for_each_index(count, 1, [&](int band) { run_band(band, step, prepare, target); });
  for_each_index(count - 1, 1, [&](int band) { join_bands(band + 1, target); });
}

void PlaneMerger::run_band(int number, const PatchStep& step, const PrepareRow& prepare,
                           const Target& target) {
  const Band& band = bands_[number];
  Scratch& scratch = scratch_.local();
  Sums& sums = scratch.sums;
  const std::size_t size = offset(kMergedBandRows + recursive::kPatch);
  sums.resize(size);
  scratch.states.resize(static_cast<std::size_t>(columns_.count()));
  scratch.factors.resize(scratch.states.size());
  std::fill_n(sums.estimates.begin(), size, 0.0F);
  std::fill_n(sums.weights.begin(), size, 0.0F);
  if (target.merged != nullptr) {
    std::fill_n(sums.merged.begin(), size, 0.0F);
  }
  for (int row = band.first_row; row <= band.last_row; ++row) {
    const int y = rows_.positions()[row];
    prepare(y, columns_.positions(), scratch.states, scratch.factors);
    const std::size_t first = static_cast<std::size_t>(row) * columns_.count();
    const std::size_t begin = offset(y - band.top);
    filter_patch_row(step,
                     {y,
                      columns_.positions(),
                      scratch.states,
                      scratch.factors,
                      {gains_.data() + first, scratch.states.size()},
                      {unknown_.data() + first, scratch.states.size()}},
                     {sums.estimates.data() + begin, sums.weights.data() + begin,
                      target.merged != nullptr ? sums.merged.data() + begin : nullptr,
                      static_cast<std::ptrdiff_t>(pitch_)});
  }

  const bool is_last = static_cast<std::size_t>(number) + 1 == bands_.size();
  const int own_top = number == 0 ? band.top : bands_[number - 1].bottom;
  const int own_bottom = is_last ? band.bottom : bands_[number + 1].top;
  for (int y = own_top; y < own_bottom; ++y) {
    finish(y, sums, y - band.top, target);
  }
  const auto keep = [&](int top, int bottom, Sums& kept) {
    const std::size_t first = offset(top - band.top);
    const std::size_t length = offset(bottom - top);
    copy_rows(sums.estimates, first, length, kept.estimates);
    copy_rows(sums.weights, first, length, kept.weights);
    copy_rows(sums.merged, first, length, kept.merged);
  };
  keep(band.top, own_top, heads_[number]);
  keep(own_bottom, band.bottom, tails_[number]);
}

void PlaneMerger::join_bands(int number, const Target& target) {
  const int top = bands_[number].top;
  const int bottom = bands_[number - 1].bottom;
  Sums& head = heads_[number];
  const Sums& tail = tails_[number - 1];
  const auto add = [&](AlignedVector<float>& to, const AlignedVector<float>& other) {
    for (std::size_t i = 0; i < offset(bottom - top); ++i) {
      to[i] += other[i];
    }
  };
  add(head.estimates, tail.estimates);
  add(head.weights, tail.weights);
  add(head.merged, tail.merged);
  for (int y = top; y < bottom; ++y) {
    finish(y, head, y - top, target);
  }
}

void PlaneMerger::finish(int y, const Sums& sums, int row_of_sums, const Target& target) const {
  const std::size_t first = offset(row_of_sums);
  divide_row(sums.estimates.data() + first, sums.weights.data() + first, width_, target.estimate->row(y));
  target.estimate->pad_row(y);
  if (target.merged != nullptr) {
    multiply_row(sums.merged.data() + first, columns_.inverse_weights().data(), rows_.inverse_weights()[y],
                 width_, target.merged->row(y));
    target.merged->pad_row(y);
  }
}

float PlaneMerger::unknown_share() const {
  const int unknown = std::accumulate(unknown_.begin(), unknown_.end(), 0);
  return static_cast<float>(unknown) / static_cast<float>(unknown_.size());
}

void PlaneMerger::average_gains(int columns, int rows, std::vector<float>& cells) const {
  const auto cell_of = [](int position, int count) {
    return std::min((position + recursive::kPatch / 2) / recursive::kPatch, count - 1);
  };
  cells.assign(static_cast<std::size_t>(columns) * rows, 0.0F);
  std::vector<int> counts(cells.size());
  for (int row = 0; row < rows_.count(); ++row) {
    const int first = cell_of(rows_.positions()[row], rows) * columns;
    for (int column = 0; column < columns_.count(); ++column) {
      const int cell = first + cell_of(columns_.positions()[column], columns);
      cells[cell] += gains_[static_cast<std::size_t>(row) * columns_.count() + column];
      ++counts[cell];
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] /= static_cast<float>(counts[i]);
  }
}

}  // namespace limpid::cpu
