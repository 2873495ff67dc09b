#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tries the program for Windows by Wine, as a user would: results that must equal those of a program for Linux, names, pipes, interrupts, a
# full disk, --resume, and the window on a display in memory. Requires wine64, ffmpeg, Xvfb, xdotool and ImageMagick.
# Usage: tests/windows_program.sh FOLDER_WITH_limpid.exe LIMPID_FOR_LINUX FOLDER    FOLDER: for results, with screenshots
set -euo pipefail
shopt -s inherit_errexit
windows=$(readlink -f "$1")
linux=$(readlink -f "$2")
sample=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../samples/sample_noisy.mkv")
mkdir -p "$3"
cd "$3"
export WINEDEBUG=-all LC_ALL=C.UTF-8
unset DISPLAY
limpid() { wine "$windows/limpid.exe" "$@"; }
start() { exec wine "$windows/limpid.exe" "$@"; }  # with &: $! is the program. Wine makes Ctrl-C of SIGINT
frames() { ffmpeg -v error -i "$1" -map 0:v -f framemd5 - | sed '/^#/d'; }
passed() { echo "passed: $*"; }
failed() { echo "FAILED: $*"; exit 1; }

limpid --version
limpid filters >filters.txt
limpid devices >devices.txt
passed "version, filters, devices"

for format in yuv420p yuv422p10le yuv444p gbrp gray16le; do
  ffmpeg -v error -y -f lavfi -i testsrc2=s=192x112:r=25:d=0.4 -vf noise=alls=12:allf=t,format=$format -c:v ffv1 "in-$format.mkv"
  for settings in "--filter vbm4d --quality fast" "--filter recursive --sigma 8"; do
    rm -f windows.mkv  # a run that crashes leaves none
    # shellcheck disable=SC2086  # words
    limpid denoise "in-$format.mkv" -o windows.mkv -y -q -c ffv1 $settings
    # shellcheck disable=SC2086
    "$linux" denoise "in-$format.mkv" -o linux.mkv -y -q -c ffv1 $settings
    diff <(frames windows.mkv) <(frames linux.mkv) || failed "$format $settings differs from Linux"
  done
done
passed "FFV1 of five formats, two filters: as on Linux"

name="Ünïcode 日本 🎬 & 100% 'quoted'"
cp "$sample" "$name.mkv"
limpid denoise "$name.mkv" -q --filter bilateral -c ffv1
[[ -s "$name-denoised.mkv" ]] || failed "the name of the output"
limpid noise "$name.mkv" --json >noise.json; grep -q "sigma" noise.json || failed "noise"
mkdir -p "folder/$name"
limpid denoise "$name.mkv" -o "folder\\$name\\out.mkv" -q --filter bilateral
limpid measure "$name.mkv" "$name-denoised.mkv" >measured.txt || failed "measure"
passed "names with any characters, backslashes, noise, measure"

long=$(printf 'folder-of-a-long-name-%.0s' {1..9})
mkdir -p "$long/$long"
limpid denoise "$sample" -o "$long/$long/out.mkv" -q --filter bilateral
[[ -s $long/$long/out.mkv ]] || failed "a long path"
passed "a path of $(($(wc -c <<<"$PWD/$long/$long/out.mkv") + 2)) characters"

ffmpeg -v error -i "$sample" -f yuv4mpegpipe - | limpid denoise - -o - -q --filter bilateral --sigma 10 -f yuv4mpegpipe >pipe.y4m
ffmpeg -v error -i "$sample" -f yuv4mpegpipe - | "$linux" denoise - -o - -q --filter bilateral --sigma 10 -f yuv4mpegpipe >linux.y4m
cmp pipe.y4m linux.y4m
passed "pipes"

! limpid denoise "$sample" -o "$name-denoised.mkv" -n -q 2>/dev/null || true
cp "$name-denoised.mkv" kept.mkv
! limpid denoise "$sample" -o kept.mkv -q </dev/null 2>errors.txt || failed "an existing file is overwritten"
grep -q 'exists' errors.txt || failed "no reason"
limpid denoise "$sample" -o kept.mkv -y -q --filter bilateral --frames 3
passed "an existing file is kept, and replaced with -y"

ffmpeg -v error -y -f lavfi -i testsrc2=s=640x360:r=25:d=60 -vf noise=alls=12:allf=t -c:v libx264 -preset ultrafast long.mkv
start denoise long.mkv -o interrupted.mkv -y --filter bm3d 2>interrupt.txt &
process=$!
for _ in $(seq 100); do compgen -G '.limpid-*' >/dev/null && break; sleep 0.2; done
sleep 5
kill -INT "$process"
wait "$process" && code=0 || code=$?
[[ $code -eq 130 ]] || failed "an interrupted run ends with $code"
[[ -s interrupted.partial.mkv && ! -e interrupted.mkv ]] || failed "no partial output"
frames interrupted.partial.mkv | tail -n 1 | grep -q . || failed "the partial output is not playable"
passed "an interrupt leaves interrupted.partial.mkv with $(frames interrupted.partial.mkv | wc -l) frames"
start denoise long.mkv -o interrupted.mkv -y -q --filter bm3d &
process=$!
for _ in $(seq 100); do compgen -G '.limpid-*' >/dev/null && break; sleep 0.2; done
kill -INT "$process"; sleep 0.2; kill -INT "$process"
wait "$process" && code=0 || code=$?
[[ $code -eq 130 && -z $(compgen -G '.limpid-*') ]] || failed "two interrupts: code $code, files $(compgen -G '.limpid-*')"
passed "two interrupts end it at once, without temporary files"

resumable() { "$1" denoise long.mkv -o "$2" --resume --segment-frames 40 -y -q --filter bilateral --frames 120 -c libx264; }
packets() { ffmpeg -v error -i "$1" -map 0:v -c copy -f framemd5 - | sed '/^#/d'; }
resumable start resumed.mkv &
process=$!
for _ in $(seq 300); do compgen -G 'resumed.mkv.limpid-job/done/*' >/dev/null && break; sleep 0.1; done
kill -KILL "$process"
wait "$process" || true
[[ ! -e resumed.mkv && -n $(compgen -G 'resumed.mkv.limpid-job/done/*') ]] || failed "no finished segment before the kill"
resumable limpid resumed.mkv
resumable limpid whole.mkv
[[ $(packets resumed.mkv | wc -l) -eq 120 ]] || failed "--resume"
diff <(packets resumed.mkv) <(packets whole.mkv) || failed "a resumed run has other packets"
[[ -z $(find . -maxdepth 1 -name '*.limpid-job') ]] || failed "--resume leaves a folder"
passed "--resume after a kill, with the packets of a whole run"

if mkdir -p disk && mount -t tmpfs -o size=3m tmpfs disk 2>/dev/null; then
  ! limpid denoise long.mkv -o disk/out.mkv -y -q --filter bilateral -c ffv1 2>full.txt || failed "a full disk is no failure"
  cat full.txt
  grep -qiE 'space|full' full.txt || failed "no reason for the full disk"
  umount disk
  passed "a full disk (without a partial output, for which Wine reserves no space)"
fi

for codec in libx264 libx265 libsvtav1 libvpx-vp9 prores_ks; do
  limpid denoise "$sample" -o "$codec.mkv" -q -c "$codec" --filter bilateral --frames 4 || failed "$codec"
done
limpid denoise "$sample" -o grain.mkv -q -c libaom-av1 -e cpu-used=8 --grain keep --filter bilateral --frames 8 || failed "film grain"
passed "encoders, film grain of libaom"

limpid benchmark "$sample" --filter bilateral | tail -n 2
limpid compare "$sample" --filters bilateral,recursive --frames 4 --sheet sheet.png >/dev/null
[[ -s sheet.png ]] || failed "compare"
! limpid webcam 2>webcam.txt || failed "webcam"
grep -q 'Windows' webcam.txt || failed "no reason for webcam"
passed "benchmark, compare, a sentence for webcam"

wineserver -k || true  # the desktop of the commands above has no display
xvfb-run -a -n $((RANDOM % 10000 + 100)) -s '-screen 0 1280x900x24' bash -euc '
  shown() { for _ in $(seq 120); do xdotool search --name " - limpid" >/dev/null 2>&1 && break; sleep 1; done; sleep 8; }
  wine "$1/limpid.exe" preview "$2" --filter recursive 2>preview.txt & window=$!
  shown
  import -window root preview-1.png
  xdotool mousemove 400 300 key Tab; sleep 4
  import -window root preview-2.png
  xdotool key q
  wait $window
  wine "$1/limpidw.exe" "Z:$(pwd | tr / "\\\\")\\$3.mkv" & window=$!
  shown; import -window root preview-3.png; xdotool key q; wait $window' bash "$windows" "$sample" "$name"
for picture in preview-{1,2,3}.png; do
  [[ $(identify -format %k "$picture") -gt 1000 ]] || failed "$picture shows no video"
done
! cmp -s preview-1.png preview-2.png || failed "the key TAB shows no panel"
passed "preview and limpidw; look at $PWD/preview-*.png"
