#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the Debian packages of the last commit in a fresh Debian, checks them with lintian, installs them in another system, runs README's
# commands for packages there, and removes them again.
# Usage: tests/packages.sh [SYSTEM]    Debian's name: bookworm (the default) or trixie. Requires root and debootstrap. Logs are kept in
# out/packages/SYSTEM, and the packages in out/packages/SYSTEM/made.
# LIMPID_CCACHE=FOLDER is ccache's folder. LIMPID_CUDA=ON also makes limpid-cuda, with this machine's /usr/local/cuda, for the GPUs of
# LIMPID_CUDA_ARCHITECTURES.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/fresh_root.sh

system=${1:-bookworm}
logs=$PWD/out/packages/$system
rm -rf "$logs"
mkdir -p "$logs"
folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-packages.XXXXXX")
chmod 755 "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT
maker=$folder/maker user=$folder/user

make_root "$system" "$user" >"$logs/root.log" 2>&1
in_root "$user" apt-get update -qq
if [[ -d ${LIMPID_ROOTS:-}/$system-maker ]]; then
  cp -a "$LIMPID_ROOTS/$system-maker" "$maker"
else
  cp -a "$user" "$maker"
fi
mkdir "$maker/limpid" "$user/limpid"
git archive HEAD | tee >(tar x -C "$maker/limpid") | tar x -C "$user/limpid"

export DEBIAN_FRONTEND=noninteractive LIMPID_CUDA_ARCHITECTURES=${LIMPID_CUDA_ARCHITECTURES:-}
install='apt-get install -qq -y --no-install-recommends'
tools=(build-essential lintian)
if [[ -n ${LIMPID_CCACHE:-} ]]; then
  tools+=(ccache)
  export LIMPID_CCACHE_USED=ON
fi
profiles=()
if [[ ${LIMPID_CUDA:-} == ON ]]; then
  profiles=(--build-profiles=pkg.limpid.cuda)
  mkdir -p "$maker/usr/local/cuda"
  cp -a "$(realpath /usr/local/cuda)/." "$maker/usr/local/cuda/"
fi
step build-tools "$maker" "$install ${tools[*]}; apt-get build-dep -qq -y --no-install-recommends /limpid"
mv "$maker/limpid" "$folder/source"
keep_root "$maker" "$system-maker"
mv "$folder/source" "$maker/limpid"
step build "$maker" "cd /limpid; LIMPID_CCACHE=${LIMPID_CCACHE_USED:-OFF} dpkg-buildpackage -us -uc ${profiles[*]}"
# Tags of all severities except experiments and classifications; debian/ explains each override. Two tags are suppressed.
# out-of-date-standards-version: the package follows the standards of Debian 12, and Debian 13 has later ones.
# appstream-metadata-validation-failed: there is no homepage for AppStream yet. Lintian of Debian 12 lacks this tag, and refuses its name.
suppressed=out-of-date-standards-version
[[ $system == bookworm ]] || suppressed+=,appstream-metadata-validation-failed
step lintian "$maker" "said=\$(lintian --allow-root --display-info --pedantic --suppress-tags $suppressed /*.changes); echo \"\$said\"; [[ -z \$said ]]"

mkdir "$logs/made"
cp "$maker"/*.deb "$maker"/*.dsc "$maker"/*.tar.* "$maker"/*.changes "$logs/made"
rm -f "$logs"/made/*-dbgsym_*
cp "$logs"/made/*.deb "$user/"

# The files on the disk, except the records of apt and dpkg.
# shellcheck disable=SC2016  # for the inner shell
what_is_there='find / -xdev -not -path "/proc*" -not -path "/ccache*" -not -path "/var/lib/dpkg*" -not -path "/var/lib/apt*" -not -path "/var/cache/*" -not -path "/var/log/*" -not -path "$HOME/.cache*" -not -path "/tmp/*" -not -path "/limpid/*" | sort'
# Further requirements of the commands, and the packages' dependencies: files that remain afterwards are Limpid's.
step dependencies "$user" "$install gcc libc6-dev pkg-config ffmpeg gstreamer1.0-tools gstreamer1.0-plugins-base man-db
  apt-get install -qq -y --no-install-recommends --download-only /*.deb"
step before "$user" "apt-get install -qq -y --no-install-recommends \$(apt-get install -s --no-install-recommends /*.deb | awk '\$1 == \"Inst\" && \$2 !~ /limpid/ { print \$2 }')
  $what_is_there"
lines=$(sed -n '/^## Packages$/,/^## Packages with/p' docs/install.md | sed -n 's/^    //p' | sed 's/.*dpkg-buildpackage.* && //')
step readme "$user" "cd /limpid; set -x; $lines"
step installed "$user" '
  cd /tmp
  man -w limpid-denoise
  test -e /usr/share/bash-completion/completions/limpid
  limpid --version
  limpid devices
  # The CUDA engine reports why it is not available here.
  if [[ $(dpkg-query --show --showformat "\${db:Status-Status}" limpid-cuda) == installed ]]; then
    limpid devices 2>&1 | grep "cuda.*driver"
  fi
  # Bit-exact with the program.
  ffmpeg -v error -i /limpid/samples/sample_noisy.mkv -frames:v 6 -pix_fmt yuv420p in.y4m
  limpid denoise in.y4m -o by_limpid.y4m -q --sigma 10
  frames() { ffmpeg -v error -i "$1" -f rawvideo -; }
  /limpid/denoise_y4m sigma=10 <in.y4m >by_library.y4m
  cmp <(frames by_limpid.y4m) <(frames by_library.y4m)
  test -e /usr/OFX/Plugins/Limpid.ofx.bundle/Contents/Linux-*/Limpid.ofx
  test -e /usr/share/applications/limpid.desktop -a -e /usr/share/icons/hicolor/scalable/apps/limpid.svg
  frames in.y4m >in.yuv
  gst-launch-1.0 -q filesrc location=in.yuv ! rawvideoparse width=480 height=270 format=i420 framerate=25/1 ! limpiddenoise noise=10 ! filesink location=by_gstreamer.yuv
  cmp <(frames by_limpid.y4m) by_gstreamer.yuv'
step removal "$user" "apt-get purge -qq -y \$(dpkg-query --show --showformat '\${Package} ' '*limpid*'); $what_is_there"
if ! diff <(sed -n '/^\//p' "$logs/before.log") <(sed -n '/^\//p' "$logs/removal.log") >"$logs/left.log"; then
  cat "$logs/left.log"
  echo "removal: FAILED: the files differ from before (<: gone, >: left)"
  exit 1
fi
echo "Logs: $logs"
