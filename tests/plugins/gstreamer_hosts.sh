#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Denoises a clip by gst-launch-1.0 and by `limpid denoise`, and compares the results bit by bit.
# Usage: gstreamer_hosts.sh FOLDER_OF_PROGRAMS EMPTY_FOLDER
set -euo pipefail
programs=$1 folder=$2
cd "$folder"
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR
export GST_PLUGIN_PATH=$programs/gstreamer-1.0 GST_REGISTRY=$folder/registry
unset GST_PLUGIN_SYSTEM_PATH GST_REGISTRY_DISABLE

if ! gst-inspect-1.0 rawvideoparse >/dev/null 2>&1; then
  echo "skipped: there is no gst-launch-1.0 with rawvideoparse"
  exit 0
fi

# Usage: compare PIXEL_FORMAT GSTREAMER'S ITS_PIXEL_FORMAT "PROPERTIES" OPTION...
compare() {
  local pixel_format=$1 format=$2 own_pixel_format=$3
  read -ra properties <<<"$4"
  shift 4
  ffmpeg -v error -i noisy.y4m -pix_fmt "$pixel_format" -strict -1 -y in.y4m </dev/null
  ffmpeg -v error -i in.y4m -pix_fmt "$own_pixel_format" -f rawvideo -y in.raw </dev/null
  gst-launch-1.0 -q filesrc location=in.raw ! rawvideoparse width=96 height=60 format="$format" framerate=25/1 ! \
    limpiddenoise engine=cpu "${properties[@]}" ! filesink location=by_gstreamer.raw
  "$programs/limpid" denoise in.y4m -o by_limpid.y4m -y -q --engine cpu "$@"
  ffmpeg -v error -i by_limpid.y4m -pix_fmt "$own_pixel_format" -f rawvideo - </dev/null | cmp - by_gstreamer.raw
}
"$programs/limpid-samples" --size 96x60 --frames 6 --sigma 20 --noisy noisy.y4m
compare yuv420p i420 yuv420p ""
compare yuv420p10le p010-10le p010le "noise=20 strength=1.2 filter=bm3d profile=fast settings=search-window=9" \
  --sigma 20 --strength 1.2 --filter bm3d:profile=fast:search-window=9
