#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Starts the window under Weston, without a display, in a fresh Debian 13 (SDL of Debian 12 needs a seat), and checks its title, its size and
# that a picture is shown. The screenshots are in out/wayland.
# Usage: tests/wayland.sh    Requires root, debootstrap, and the packages that tests/packages.sh trixie has made. LIMPID_ROOTS: see
# tests/fresh_root.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
made=$PWD/out/packages/trixie/made
if ! compgen -G "$made/limpid_*.deb" >/dev/null; then
  echo "$0: no packages in $made; run tests/packages.sh trixie first" >&2
  exit 2
fi
source tests/fresh_root.sh

logs=$PWD/out/wayland
rm -rf "$logs"
mkdir -p "$logs"
folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-wayland.XXXXXX")
trap 'rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
make_root trixie "$root" >"$logs/root.log" 2>&1
cp "$made"/limpid_*.deb "$made"/liblimpid0_*.deb samples/sample_noisy.mkv "$root/"
step install "$root" 'apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends weston libgl1-mesa-dri fonts-dejavu-core /*.deb'

# The shell "desktop" leaves the size to the window, "kiosk" sets it to the output's.
for shell in desktop kiosk; do
  # shellcheck disable=SC2016  # for the inner shell
  step "$shell" "$root" "shell=$shell"'
    export XDG_RUNTIME_DIR=/tmp/runtime HOME=/root WAYLAND_DISPLAY=limpid
    mkdir -m 700 $XDG_RUNTIME_DIR
    cd /tmp
    weston --backend=headless --renderer=gl --width=1280 --height=800 --socket=$WAYLAND_DISPLAY --shell=$shell-shell.so --debug &
    sleep 5
    WAYLAND_DEBUG=client SDL_VIDEODRIVER=wayland limpid preview /sample_noisy.mkv --filter bilateral --no-audio --log-level debug >log 2>&1 &
    limpid=$!
    sleep 10
    weston-screenshooter
    kill -INT $limpid
    wait $limpid || [[ $? -eq 130 ]]
    mv wayland-screenshot*.png /$shell.png
    cat log
    grep -q "set_title(\"sample_noisy.mkv - limpid\")" log
    grep -q " frames shown" log
    [[ $shell == desktop ]] || grep -q "xdg_toplevel.*configure(1280, 800" log
    # Noise needs many bytes: a window without a picture has few.
    [[ $(stat -c %s /$shell.png) -gt 300000 ]]'
  cp "$root/$shell.png" "$logs/"
done
echo "Screenshots: $logs"
