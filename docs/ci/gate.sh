#!/bin/sh
# Runs the gates of all phases for an adapter, in parts, and puts the parts together.
#
#     docs/ci/gate.sh 'node my-adapter.js' [PARTS] [DIR]
#
# STANDIN names the program (default: standin, in the PATH); PHASE a phase (default: all). The exit code is that of the
# whole: 0 the gates hold, 1 one does not, 2 misuse, 3 something could not be checked.
set -eu

adapter=${1:?"name the adapter's command: gate.sh 'node my-adapter.js' [PARTS] [DIR]"}
parts=${2:-2}
out=${3:-standin-gate}
standin=${STANDIN:-standin}
phase=${PHASE:-all}

case $parts in
'' | 0* | *[!0-9]*)
    echo "gate.sh: PARTS is '$parts'; write a whole number from 1: gate.sh 'node my-adapter.js' 4" >&2
    exit 2
    ;;
esac
if ! mkdir -p -- "$out"; then
    echo "gate.sh: DIR '$out' can't be made; name a folder that can be written: gate.sh 'node my-adapter.js' 4 out" >&2
    exit 2
fi

# The reports are the arguments from here on: so a DIR may have spaces.
set --
part=1
while [ "$part" -le "$parts" ]; do
    # What an earlier run has left is none of this one's.
    rm -rf -- "$out/part-$part"
    # A part whose cells fail is told of by the whole.
    code=0
    "$standin" gate --phase "$phase" --adapter "$adapter" --partition "$part/$parts" --out "$out/part-$part" \
        > "$out/part-$part.txt" 2>&1 || code=$?
    if [ ! -f "$out/part-$part/report.json" ]; then
        cat -- "$out/part-$part.txt" >&2
        exit "$code"
    fi
    rm -- "$out/part-$part.txt"
    set -- "$@" "$out/part-$part/report.json"
    part=$((part + 1))
done

code=0
"$standin" report merge "$@" --out "$out" || code=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$out/report.md" ]; then
    cat -- "$out/report.md" >> "$GITHUB_STEP_SUMMARY"
fi
exit "$code"
