# A server of tools: each line in and out is one JSON text. Its first argument is its name. It writes down what it is
# asked, what is in its environment, and with which words it was started, beside itself.
here=${0%/*}
export -p > "$here/$1.env"
printf '%s\n' "$0 $*" > "$here/$1.words"
echo "begun with $CANARY_A$CANARY_B" >&2
answers() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
says() { answers '"result":{"content":[{"type":"text","text":"'"$1"'"}]'"$2"'}'; }
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$here/$1.asked"
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      answers '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"probe","version":"1"}}' ;;
    *'"notifications/'*) ;;
    *'"tools/list"'*)
      answers '"result":{"tools":[{"name":"speaks","inputSchema":{"type":"object"}},{"name":"counts","inputSchema":{"type":"object"}},{"name":"complains","inputSchema":{"type":"object"}},{"name":"leaves","inputSchema":{"type":"object"}}]}' ;;
    *'"resources/read"'*'"probe://notes"'*)
      answers '"result":{"contents":[{"uri":"probe://notes","mimeType":"text/plain","text":"the notes of heron"}]}' ;;
    *'"tools/call"'*'"speaks"'*)
      # What it is told of: the last word of its arguments.
      to=${line##*\"to\":}; to=${to#*\"}; to=${to%%\"*}
      case $line in *'"to"'*) ;; *) to=nobody ;; esac
      answers '"result":{"content":[{"type":"text","text":"listen"},{"type":"text","text":"'"$to"' has heard"}]}' ;;
    *'"tools/call"'*'"counts"'*) value=$CANARY_A$CANARY_B; says "the key has ${#value} letters" ;;
    *'"tools/call"'*'"complains"'*) says "wrong key: $CANARY_A$CANARY_B" ',"isError":true' ;;
    *'"tools/call"'*'"leaves"'*) exit 3 ;;
    *) answers '"error":{"code":-32602,"message":"there is none"}' ;;
  esac
done
