# Outlives the recorder by a moment: makes the folder of a sandbox, waits until the recorder is gone, however it
# went, then ends what was started in the sandbox and deletes the folder. Its stdin is a pipe that the recorder
# alone holds open, so the end of the pipe is the end of the recorder.
#
# $1 is the folder to make it in. On stdin: `watch N` and `forget N`, where N is a process group.

# What ends the recorder must not end its guardian; a terminal tells everyone.
trap '' HUP INT QUIT PIPE TERM
PATH=$PATH:/usr/bin:/bin
umask 077

# Who makes the folder may delete it: no other one is ever deleted.
folder=$(mktemp -d "$1/standin-XXXXXX") || exit 1
home=$(cd "$folder" && pwd -P)/home
printf '%s' "$folder"
exec >/dev/null 2>&1

groups=
while read -r word group; do
    others=
    for known in $groups; do
        [ "$known" = "$group" ] || others="$others $known"
    done
    groups=$others
    [ "$word" = watch ] && groups="$groups $group"
done

for group in $groups; do
    kill -s KILL -- "-$group"
done

# A process may have left its group. It is known by its home, which no other process has. While it is looked for it
# may have children, so this is done until there is nobody.
strays() {
    if [ -r /proc/self/environ ]; then
        grep -lsxzF "HOME=$home" /proc/[0-9]*/environ | tr -dc '0-9\n'
    else
        ps -axwwE -o pid= -o command= | home=$home awk '
            index($0 " ", " HOME=" ENVIRON["home"] " ") { print $1 }'
    fi
}
left=100
while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    found=$(strays)
    [ -n "$found" ] || break
    kill -s KILL $found
done

# A dying process may still write, and an agent may have taken rights away.
left=5
while [ "$left" -gt 0 ] && ! rm -rf "$folder"; do
    left=$((left - 1))
    chmod -R u+rwX "$folder"
    sleep 1
done
