# What ./run and ./check share. Sourced by bash; `root` is the repository.

# Debian packages that building tare takes.
build_packages=(g++ cmake ninja-build libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libexpected-dev libfast-float-dev
  libsimdjson-dev libpugixml-dev libyaml-cpp-dev libcpp-httplib-dev)
# And what the tests take beyond them.
check_packages=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libnlopt-dev valgrind clang-14
  libclang-rt-14-dev llvm-14 clang-format-14 clang-tidy-14 python3 python3-jsonschema prometheus)

# What ccache has of one clone serves another: paths below the root count by their place in it.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_ABSSTDERR=1

die() {
  printf '%s\n' "$*" >&2
  exit 2
}

# ensure_packages NAME PACKAGE...: installs what is missing as root, else names the line that does. Looks only when the
# lists changed since it last found everything.
ensure_packages() {
  local name=$1 stamp="$root/build/.packages-$1" package
  shift
  [[ $stamp -nt $root/tools/lib.sh ]] && return
  command -v dpkg-query >/dev/null || return 0 # not Debian: cmake says what it misses
  local missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] || missing+=("$package")
  done
  if ((${#missing[@]})); then
    ((EUID == 0)) || die "$name: these packages are missing; install them with
  sudo apt-get install -y --no-install-recommends ${missing[*]}"
    echo "$name: installing ${missing[*]}" >&2
    local log="$root/build/apt-$name.log"
    mkdir -p "$root/build"
    {
      apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
    } >"$log" 2>&1 </dev/null || {
      tail -20 "$log" >&2
      die "$name: apt-get failed ($log)"
    }
  fi
  mkdir -p "$root/build"
  touch "$stamp"
}

# quietly LOG COMMAND...: runs it with its output in LOG; on a terminal shows how far ninja is, once that takes a while.
# On failure prints what the compiler said.
quietly() {
  local log=$1 status=0
  shift
  if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then
    NINJA_STATUS='[%f/%t] ' "$@" </dev/null 2>&1 | tee "$log" | {
      local line shown=
      while IFS= read -r line; do
        [[ $line == \[*/*\]* && SECONDS -gt started ]] || continue
        printf '\r\033[Kbuilding tare %s' "${line%%]*}]" >&2
        shown=1
      done
      [[ -z $shown ]] || printf '\r\033[K' >&2
    }
    status=${PIPESTATUS[0]}
  else
    "$@" >"$log" 2>&1 </dev/null || status=$?
  fi
  ((status == 0)) && return
  grep -vE '^\[[0-9]+/[0-9]+\] |^ninja: (Entering|build stopped)' "$log" | head -100 >&2
  return "$status"
}
