#!/usr/bin/env bash
# Puts the outside programs that test/interop drives into .tools/: grpcurl, a Python environment with grpcio, and an agent of the
# Agent Client Protocol that can be pointed at any OpenAI-compatible endpoint.
# Where one is there already in the wanted version, it is left alone. Needs the network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

grpcurl_version=v1.9.3
requirements=(grpcio==1.76.0 grpcio-tools==1.76.0 grpcio-reflection==1.76.0)
acp_agent=@qwen-code/qwen-code@0.15.10
tools="$PWD/.tools"
mkdir -p "$tools/bin"

stamp="$tools/grpcurl.version"
if [[ -x "$tools/bin/grpcurl" && -f "$stamp" && "$(<"$stamp")" == "$grpcurl_version" ]]; then
  echo "grpcurl $grpcurl_version is there"
elif command -v go >/dev/null; then
  GOBIN="$tools/bin" go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@$grpcurl_version"
  echo "$grpcurl_version" >"$stamp"
  echo "grpcurl $grpcurl_version built"
else
  echo "grpcurl: Go is not installed, so it cannot be built" >&2
fi

go_plugins=(google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.5 google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.3.0)
stamp="$tools/go.plugins"
if [[ -x "$tools/bin/protoc-gen-go" && -f "$stamp" && "$(<"$stamp")" == "${go_plugins[*]}" ]]; then
  echo "${go_plugins[*]} are there"
elif command -v go >/dev/null; then
  for plugin in "${go_plugins[@]}"; do GOBIN="$tools/bin" go install "$plugin"; done
  # What the Go client imports is compiled once, here.
  (cd examples/clients/go && go build google.golang.org/grpc google.golang.org/grpc/credentials/insecure)
  echo "${go_plugins[*]}" >"$stamp"
  echo "${go_plugins[*]} built"
else
  echo "protoc-gen-go: Go is not installed, so it cannot be built" >&2
fi

stamp="$tools/venv.requirements"
if [[ -x "$tools/venv/bin/python" && -f "$stamp" && "$(<"$stamp")" == "${requirements[*]}" ]]; then
  echo "${requirements[*]} are there"
elif command -v python3 >/dev/null; then
  rm -rf "$tools/venv"
  python3 -m venv "$tools/venv"
  "$tools/venv/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]}"
  echo "${requirements[*]}" >"$stamp"
  echo "${requirements[*]} installed"
else
  echo "python: python3 is not installed" >&2
fi

stamp="$tools/acp.version"
if [[ -e "$tools/acp/node_modules/.bin/qwen" && -f "$stamp" && "$(<"$stamp")" == "$acp_agent" ]]; then
  echo "$acp_agent is there"
else
  rm -rf "$tools/acp"
  mkdir -p "$tools/acp"
  npm install --prefix "$tools/acp" --no-fund --no-audit --no-save --loglevel=error "$acp_agent"
  echo "$acp_agent" >"$stamp"
  echo "$acp_agent installed"
fi
