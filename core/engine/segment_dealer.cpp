// SPDX-License-Identifier: MIT
#include "core/engine/segment_dealer.h"

#include <algorithm>

namespace limpid {

SegmentDealer::SegmentDealer(std::size_t workers, Reach reach, std::int64_t ahead)
    : reach_(reach),
      ahead_(std::max<std::int64_t>({ahead, reach.before + reach.after, 1})),
      shares_(workers) {
  reset();
}

void SegmentDealer::reset() {
  count_ = 0;
  ended_ = false;
  shares_.assign(shares_.size(), Share());
  shares_.front().end = kOpen;
}

// The end of the share's frames with results, as far as it is known.
std::int64_t SegmentDealer::end_of(const Share& share) const {
  return ended_ ? std::min(share.end, count_) : share.end;
}

// The end of the share's frames, including the context after them.
std::int64_t SegmentDealer::end_of_context(const Share& share) const {
  const std::int64_t end = share.end == kOpen ? kOpen : share.end + reach_.after;
  return ended_ ? std::min(end, count_) : end;
}

bool SegmentDealer::is_done(const Share& share) const {
  return share.begin >= end_of(share) || share.next >= end_of_context(share);
}

// The number of frames with results of a finished stream that have not been dealt.
std::int64_t SegmentDealer::left_of(const Share& share) const {
  return is_done(share) ? 0 : end_of(share) - std::max(share.next, share.begin);
}

// Gives an idle worker frames of another share. While the stream continues, these are the frames far ahead in
// the open share; all others are being processed. Later it is half of another share's remaining frames, if
// that is worth the context that both workers then need.
void SegmentDealer::take_over(Share& idle) {
  const std::int64_t context = reach_.before + reach_.after;
  const auto left = [this](const Share& share) { return left_of(share); };
  Share& from =
      ended_ ? *std::ranges::max_element(shares_, {}, left) : *std::ranges::find(shares_, kOpen, &Share::end);
  if (ended_ && left_of(from) <= 2 * context + 1) {
    return;
  }
  // A share begins with context frames, which take about half as long as frames with results. While the
  // stream continues, shares end at the frames received so far, so that no worker waits for its first frame,
  // unless most of them would be context.
  const std::int64_t least = std::min(std::max<std::int64_t>(2 * context, 1), ahead_);
  const std::int64_t kept =
      ended_ ? (left_of(from) + context / 2) / 2 : std::clamp(count_ - from.next, least, ahead_);
  const std::int64_t begin = std::max(from.next, from.begin) + kept;
  idle = {.begin = begin,
          .end = from.end,
          .next = std::max<std::int64_t>(begin - reach_.before, 0),
          .begins = true};
  from.end = begin;
}

std::optional<SegmentDealer::Dealt> SegmentDealer::next(std::size_t worker) {
  Share& share = shares_[worker];
  if (is_done(share)) {
    take_over(share);
  }
  if (is_done(share) || share.next >= count_) {
    return std::nullopt;
  }
  const Dealt dealt{.frame = share.next,
                    .wanted = share.next >= share.begin && share.next < share.end,
                    .begins = share.begins};
  ++share.next;
  share.begins = false;
  return dealt;
}

bool SegmentDealer::has_had_the_last(std::size_t worker) const {
  const Share& share = shares_[worker];
  return ended_ && !share.begins && share.next == count_;
}

std::int64_t SegmentDealer::first_needed() const {
  std::int64_t first = count_;
  for (const Share& share : shares_) {
    if (!is_done(share)) {
      first = std::min(first, share.next);
    }
  }
  return first;
}

}  // namespace limpid
