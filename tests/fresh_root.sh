# SPDX-License-Identifier: MIT
# For scripts that test the last commit in a fresh Debian base system in a temporary folder. Ends them without root or debootstrap. Uses
# this machine's mirror and proxies. LIMPID_CCACHE=FOLDER is mounted as ccache's folder. LIMPID_ROOTS=FOLDER keeps base systems, with
# packages for building, for later runs.

umask 022  # archives keep permissions
for need in debootstrap unshare; do
  command -v "$need" >/dev/null || { echo "$0: needs $need" >&2; exit 2; }
done
if [[ $(id -u) -ne 0 ]]; then
  echo "$0: requires root" >&2
  exit 2
fi
if [[ -n $(git status --porcelain) ]]; then
  echo "Note: what is not committed is not tested."
fi

mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null | awk '$1 == "Debian" { print $2; exit }')
mirror=${mirror:-http://deb.debian.org/debian/}

# Usage: make_root SYSTEM FOLDER    SYSTEM is Debian's name, such as bookworm
make_root() {
  if [[ -n ${LIMPID_ROOTS:-} && -d $LIMPID_ROOTS/$1 ]]; then
    cp -a "$LIMPID_ROOTS/$1" "$2"
  else
    debootstrap --variant=minbase "$1" "$2" "$mirror"
    # A root need not survive a crash: dpkg does not wait for the disk.
    echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/unsafe-io"
    keep_root "$2" "$1"
  fi
  copy_settings "$2"
}

# Usage: keep_root FOLDER NAME    keeps a root for later runs, if they were requested
keep_root() {
  if [[ -n ${LIMPID_ROOTS:-} && ! -d $LIMPID_ROOTS/$2 ]]; then
    local copy=$LIMPID_ROOTS/.$2.$$
    mkdir -p "$LIMPID_ROOTS"
    cp -a "$1" "$copy"
    # An interrupted copy never has the name. Another run may have kept the root meanwhile.
    mv -T "$copy" "$LIMPID_ROOTS/$2" 2>/dev/null || rm -rf --one-file-system "$copy"
  fi
}

# The proxies, certificates and timeouts with which this machine's apt accesses the mirror.
copy_settings() {
  local root=$1
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|Check-|Max-)' >"$root/etc/apt/apt.conf.d/99machine" || true
  cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
  if [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then
    mkdir -p "$root/etc/ssl/certs"
    cp --dereference /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  fi
}

# Runs a command in a root, with mounts and processes that are removed when it ends. $shown_folder, if it is set, is a folder of this machine
# that the command can read. It must not be mounted outside: rm would remove its files with the root.
in_root() {
  local root=$1
  shift
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --pid --fork --propagation private bash -euc '
    root=$1; cache=$2; shown=$3; shift 3
    unset TMPDIR  # is a folder of this machine
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"  # Wine counts processors there
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    if [[ -n $cache ]]; then
      mkdir -p "$root/ccache"
      mount --bind "$cache" "$root/ccache"
      export CCACHE_DIR=/ccache
    fi
    if [[ -n $shown ]]; then
      mkdir -p "$root$shown"
      mount --bind "$(readlink -f "$shown")" "$root$shown"
      mount -o remount,bind,ro "$root$shown"
    fi
    exec chroot "$root" "$@"' in_root "$root" "${LIMPID_CCACHE:-}" "${shown_folder:-}" "$@" </dev/null
}

# Runs a command in a root, with its output in $logs/NAME.log, and prints how it ended. Ends the script if it failed.
# Usage: step NAME ROOT COMMAND
step() {
  local start=$SECONDS
  if in_root "$2" bash -euo pipefail -c "$3" >"$logs/$1.log" 2>&1; then
    echo "$1: ok, $((SECONDS - start)) s"
  else
    tail -n 20 "$logs/$1.log"
    echo "$1: FAILED (all of it: $logs/$1.log)"
    exit 1
  fi
}
