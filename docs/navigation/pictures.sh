#!/usr/bin/env bash
# Draws the pictures of this folder with `shoal` from the path, or the program that SHOAL names. Needs ImageMagick.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture SCENE SECONDS OVERLAY: the last picture of a run.
picture() {
  "${SHOAL:-shoal}" render site.toml --scene "$1" --seconds "$2" --fps 1 --size 480x360 --overlay "$3" --out "$work/$1"
  convert "$(ls "$work/$1"/*.png | tail -1)" -quality 80 "$1.jpg"
}

picture radial 12 fields,vectors
picture swirl 8 vectors
picture harmonic 7 fields,vectors
picture navigate 5 ways,vectors
picture equals 20 vectors
picture leaders 22 vectors
