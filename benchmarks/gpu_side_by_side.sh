#!/usr/bin/env bash
# Trains several networks side by side on one GPU, from a prepared folder (see gpu_prepare.py).
#
#   bash benchmarks/gpu_side_by_side.sh PREPARED OUT SECONDS METHOD[:NAME=VALUE,...] ...
#
# Under the CUDA MPS daemon the trainings share the card instead of taking turns. Each is stopped
# after SECONDS. OUT/results.tar.gz holds the runs and their logs, as each method ends.
set -u
prepared=$1 out=$2 seconds=$3
shift 3
export PYTHONPATH=src PYTHONUNBUFFERED=1 OMP_NUM_THREADS=2
nvidia-cuda-mps-control -d
mkdir -p "$out"
work=$(mktemp -d)
pack() { tar --exclude=checkpoint.safetensors -czf "$out/results.tar.gz" -C "$work" results runs; }
for job in "$@"; do
  method=${job%%:*}
  settings=()
  if [ "$method" != "$job" ]; then
    IFS=, read -ra given <<< "${job#*:}"
    for one in "${given[@]}"; do settings+=(--set "$one"); done
  fi
  python3 benchmarks/gpu_train.py "$method" --prepared "$prepared" --out "$work" \
    --max-seconds "$seconds" "${settings[@]}" > "$work/$method.log" 2>&1 &
done
for job in $(jobs -p); do wait "$job"; pack; done
tail -n 5 "$work"/*.log
pack
for bundle in ${KEEP:-}; do  # split in pieces that travel
  [ -d "$work/$bundle-0.bundle" ] && tar -cf - -C "$work" "$bundle-0.bundle" | split -b 15m - "$out/$bundle.tar."
done
tar -czf "$out/logs.tar.gz" -C "$work" $(cd "$work" && ls *.log)
echo quit | nvidia-cuda-mps-control
