#!/usr/bin/env bash
# Prints the path of a pinned tool, which it builds into .cache/bin when it is not there. The name of the file carries
# the versions of the tool and of Go, so a new pin builds anew.
set -euo pipefail
cd "$(dirname "$0")/.."

name=${1:?usage: tool.sh golangci-lint|gofumpt|deadcode|govulncheck|indexdb|goreleaser}
dir=internal/tools
case $name in
  golangci-lint) module=github.com/golangci/golangci-lint/v2 package=$module/cmd/golangci-lint ;;
  gofumpt) module=mvdan.cc/gofumpt package=$module ;;
  deadcode) module=golang.org/x/tools package=$module/cmd/deadcode ;;
  govulncheck) module=golang.org/x/vuln package=$module/cmd/govulncheck ;;
  indexdb) module=golang.org/x/vulndb package=$module/cmd/indexdb ;;
  goreleaser) module=github.com/goreleaser/goreleaser/v2 package=$module dir=internal/tools/release ;;
  *) echo "tool.sh: no tool named $name" >&2; exit 2 ;;
esac

version=$(go -C "$dir" list -m -f '{{.Version}}' "$module")
path=$PWD/.cache/bin/$name-$version-$(go env GOVERSION)
if [ ! -x "$path" ]; then
  echo "building $name $version" >&2
  mkdir -p .cache/bin
  # cgo is off so that the tools build without a C compiler.
  CGO_ENABLED=0 go -C "$dir" build -o "$path.new" "$package"
  mv "$path.new" "$path"
fi
echo "$path"
