#!/bin/sh
# A docker without machines: see docker.rs.
place='@place@'
printf '%s\n' "$*" >>"$place/journal"
if [ -e "$place/down" ]; then
  echo 'Cannot connect to the Docker daemon. Is the docker daemon running?' >&2
  exit 1
fi
cd "$place/containers" || exit 1
[ "$1" = container ] && shift
verb=$1
[ $# -gt 0 ] && shift

field() { sed -n "s/^$2=//p" "$1"; }

write() { # name image auto runs labels
  printf 'image=%s\nauto=%s\nruns=%s\nlabels=%s\n' "$2" "$3" "$4" "$5" >"$place/new-$$"
}

case $verb in
run | create)
  name='' auto='' detached='' labels=''
  while [ $# -gt 0 ]; do
    case $1 in
    --rm) auto=1 ;;
    -d | --detach) detached=1 ;;
    -dit | -itd | -di | -dt) detached=1 ;;
    --name) name=$2 && shift ;;
    --name=*) name=${1#*=} ;;
    -l | --label) labels="$labels $2 " && shift ;;
    --label=*) labels="$labels ${1#*=} " ;;
    -i | -t | -it | -ti | --init | --privileged | --read-only | --interactive | --tty | -P) ;;
    --*=*) ;;
    -*) shift ;;
    *) break ;;
    esac
    shift
  done
  image=$1
  [ -n "$image" ] || { echo 'docker: an image is missing' >&2; exit 125; }
  [ -n "$name" ] || name=c$$
  [ -n "$detached" ] || { [ "$verb" = run ] && [ -n "$auto" ] && exit 0; }
  write "$name" "$image" "$auto" "$detached" "$labels"
  # A link is made only where there is none of that name.
  if ! ln "$place/new-$$" "$name" 2>/dev/null; then
    rm -f "$place/new-$$"
    echo "docker: the container name \"/$name\" is already in use" >&2
    exit 125
  fi
  rm -f "$place/new-$$"
  # It runs, and whoever has begun it never hears of it.
  if [ -e "$place/hold" ]; then
    printf '%s\n' "$name" >"$place/told"
    read -r _ <"$place/hold"
    exit 1
  fi
  echo "$name"
  ;;
stop | kill | rm)
  force='' bad=0
  while [ $# -gt 0 ]; do
    case $1 in
    -f | --force | -fv | -vf) force=1 ;;
    -v | --volumes) ;;
    -t | --time | -s | --signal) shift ;;
    -*) ;;
    *) break ;;
    esac
    shift
  done
  if [ -e "$place/keeps" ]; then
    echo "Error response from daemon: removal of container $1 is already in progress" >&2
    exit 1
  fi
  for name in "$@"; do
    if [ ! -f "$name" ]; then
      echo "Error: No such container: $name" >&2
      bad=1
    elif [ "$verb" = rm ] && [ -z "$force" ] && [ "$(field "$name" runs)" = 1 ]; then
      echo "Error: container $name is running: stop it or force removal" >&2
      bad=1
    elif [ "$verb" = rm ] || [ "$(field "$name" auto)" = 1 ]; then
      rm -f "$name" && echo "$name"
    else
      write "$name" "$(field "$name" image)" '' '' "$(field "$name" labels)"
      mv "$place/new-$$" "$name" && echo "$name"
    fi
  done
  exit $bad
  ;;
ps | ls | list)
  all='' named='' labelled=''
  while [ $# -gt 0 ]; do
    filter=''
    case $1 in
    -a | --all | -aq | -qa) all=1 ;;
    -f | --filter) filter=$2 && shift ;;
    --filter=*) filter=${1#*=} ;;
    --format) shift ;;
    esac
    case $filter in
    name=*) named=${filter#name=} ;;
    label=*) labelled=${filter#label=} ;;
    esac
    shift
  done
  for name in *; do
    [ -f "$name" ] || continue
    [ -n "$all" ] || [ "$(field "$name" runs)" = 1 ] || continue
    if [ -n "$named" ]; then
      printf '%s\n' "$name" | grep -q -e "${named#/}" || continue
    fi
    if [ -n "$labelled" ]; then
      case "$(field "$name" labels)" in
      *" $labelled "* | *" $labelled="*) ;;
      *) continue ;;
      esac
    fi
    echo "$name"
  done
  ;;
version | info) echo 'a docker without machines' ;;
*)
  echo "this docker knows run, create, stop, kill, rm and ps, and not '$verb'" >&2
  exit 1
  ;;
esac
