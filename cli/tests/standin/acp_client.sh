# A client of agents as a command: starts the agent $1, sends the prompt $2, prints the answer.
folder=$(mktemp -d)
mkfifo "$folder/in" "$folder/out"
$1 <"$folder/in" >"$folder/out" &
exec 3>"$folder/in" 4<"$folder/out"

say() { printf '%s\n' "$1" >&3; }
text() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }

say '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}'
read -r line <&4
say '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"'"$PWD"'","mcpServers":[]}}'
while read -r line <&4; do
    case $line in *'"id":1,'*) break ;; esac
done
session=$(text sessionId)
say '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"'"$session"'","prompt":[{"type":"text","text":"'"$2"'"}]}}'
while read -r line <&4; do
    case $line in
    *'"id":2,'*) break ;;
    *agent_message_chunk*) text text ;;
    esac
done
echo
rm -r "$folder"
case $line in *'"error"'*)
    echo "the agent refuses: $(text message)" >&2
    exit 1
    ;;
esac
