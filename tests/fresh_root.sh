# SPDX-License-Identifier: MIT
# For scripts that test the last commit in a fresh Debian base system in a temporary folder. Ends them without root or debootstrap. Uses
# this machine's mirror and proxies. LIMPID_CCACHE=FOLDER is mounted as ccache's folder.

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
  debootstrap --variant=minbase "$1" "$2" "$mirror" && copy_settings "$2"
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

# Runs a command in a root, with mounts and processes that are removed when it ends.
in_root() {
  local root=$1
  shift
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --pid --fork --propagation private bash -euc '
    root=$1; cache=$2; shift 2
    unset TMPDIR  # is a folder of this machine
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    if [[ -n $cache ]]; then
      mkdir -p "$root/ccache"
      mount --bind "$cache" "$root/ccache"
      export CCACHE_DIR=/ccache
    fi
    exec chroot "$root" "$@"' in_root "$root" "${LIMPID_CCACHE:-}" "$@" </dev/null
}
