#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the seeds of the fuzz targets: a small valid input of each kind, below FOLDER/TARGET.
# Usage: tests/fuzz/seeds.sh FOLDER
set -euo pipefail
rm -rf "$1"
mkdir -p "$1"/{job_files,library,picture_metadata,y4m}
cd "$1"

# A number of 64 bits, in x86's byte order.
number() {
  local value=$1 i
  for ((i = 0; i < 8; ++i)); do
    printf "\\x$(printf %02x $((value >> (8 * i) & 255)))"
  done
}

# -- job_files: the first byte selects the file.
profile='{"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 10.5, "curve": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], "repetition": 0.4}, "U": {"sigma": 5, "strength": 1.1}, "V": {"sigma": 5}}}'
file() { printf "\\x$1"; cat; }
file 00 >job_files/plan <<END
{"limpid_plan": 3, "program": "0.2.0", "settings": {"filter": {"name": "bilateral", "profile": null, "parameters": {"radius": 3}}, "noise": {"given": $profile, "strength": 1.0, "planes": "all"}, "frames": 0, "reader": {"start": null, "end": 2.5, "input_format": null, "input_option": ["a=b"], "no_audio": false}, "writer": {"codec": "ffv1", "container": "matroska", "encoder_option": ["level=3"]}, "encoder_threads": 2, "fields": "auto"}, "inputs": [{"path": "a.mp4", "bytes": 57575, "fingerprint": "86b2cffaa6b96a74", "frames": 50, "decoder_threads": 3, "decoded_on_gpu": false, "still_picture": false, "joined": true}], "segments": [[0, 0, 25], [0, 25, 25]]}
END
file 01 >job_files/segment <<END
{"position": 0, "seek": 1.5, "before": 1, "frames": 2, "after": 0, "checks": "00eaef270408aea3b7d2c8f41d2f1dd3793e5cb52e1616d2", "levels": [[0, {"numbers": [$(printf "1.5, %.0s" {1..509})1.5], "area": null}]], "repair": "rows", "mix": 0.25, "fields": [false, true, false]}
END
file 02 >job_files/done <<END
{"file": "00000-a.packets", "bytes": 132995, "frames": 2, "hash": "c43604030395b167", "hashes": "f6ee8254b6609a1e43270133218a82df", "reordering": 0, "engine": "cpu", "worker": "a", "seconds": 0.11}
END
file 03 >job_files/claim <<<'{"worker": "a-1", "process": 1, "space": "b"}'
file 04 >job_files/profile <<<"$profile"
file 05 >job_files/noise <<<"10,5.5,5"
file 06 >job_files/grain <<END
filmgrn1
E 0 9223372036854775807 1 7391 1
	p 1 7 1 9 0 1 128 192 256 128 192 256
	sY 2 0 80 255 140
	sCb 1 0 40
	sCr 1 0 40
	cY -1 1 -5 9
	cCb -1 1 -5 9 30
	cCr -1 1 -5 9 -30
END
parameters='ffv1 yuv420p 128x96 1/12800 1:1 2 2 2 0 1 1 -99 3 little'
{
  printf '\x07limpid packets 1\n'
  number ${#parameters}
  printf %s "$parameters"
  number 4
  printf abcd
  for value in 1 0 0 512 1 16 1; do number "$value"; done
  printf 0123456789abcdef
  number 1
  number 8
  printf 01234567
  number 0
  number 1
  number 0
} >job_files/packets

# -- picture_metadata: the first byte selects the codecs. EXIF: orientation, and a directory of its own with a time.
exif() {
  printf 'II*\0\x08\0\0\0\x02\0'
  printf '\x12\x01\x03\0\x01\0\0\0\x06\0\0\0'
  printf '\x69\x87\x04\0\x01\0\0\0\x26\0\0\0\0\0\0\0'
  printf '\x01\0\x03\x90\x02\0\x14\0\0\0\x38\0\0\0\0\0\0\0'
  printf '2026:01:02 03:04:05\0'
}
exif_size=$(exif | wc -c)
xmp='<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>'
big() { printf "\\x$(printf %02x $(($2 >> 24 & 255)))\\x$(printf %02x $(($2 >> 16 & 255)))\\x$(printf %02x $(($2 >> 8 & 255)))\\x$(printf %02x $(($2 & 255)))" | tail -c "$1"; }
little() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 24 & 255)))"; }
jpeg_xmp="http://ns.adobe.com/xap/1.0/"
{
  printf '\x10\xff\xd8\xff\xe1'
  big 2 $((exif_size + 8))
  printf 'Exif\0\0'
  exif
  printf '\xff\xe1'
  big 2 $((${#xmp} + ${#jpeg_xmp} + 3))
  printf '%s\0%s' "$jpeg_xmp" "$xmp"
  printf '\xff\xc0\0\x0b\x08\0\x10\0\x10\x01\x01\x11\0\xff\xda\0\x08\x01\x01\0\0\x3f\0\0\xff\xd9'
} >picture_metadata/jpeg
{
  printf '\x11\x89PNG\r\n\x1a\n'
  big 4 13
  printf 'IHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0\0\0\0\0'
  big 4 "$exif_size"
  printf eXIf
  exif
  printf '\0\0\0\0'
  big 4 $((${#xmp} + 22))
  printf 'iTXtXML:com.adobe.xmp\0\0\0\0\0%s\0\0\0\0' "$xmp"
  printf '\0\0\0\x01IDAT\0\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82'
} >picture_metadata/png
{
  printf '\x12'
  exif
} >picture_metadata/tiff
{
  printf '\x13RIFF'
  little $((exif_size + ${#xmp} + 38))
  printf 'WEBPVP8X\x0a\0\0\0\x0c\0\0\0\x0f\0\0\x0f\0\0EXIF'
  little "$exif_size"
  exif
  printf 'XMP '
  little ${#xmp}
  printf %s "$xmp"
} >picture_metadata/webp

# -- y4m
frame() { head -c "$1" /dev/zero; }
{ printf 'YUV4MPEG2 W4 H4 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\nFRAME\n'; frame 24; printf 'FRAME\n'; frame 24; } >y4m/420
{ printf 'YUV4MPEG2 W2 H2 F30000:1001 It A4:3 C422p10\nFRAME\n'; frame 16; } >y4m/422p10
{ printf 'YUV4MPEG2 W3 H1 Cmono\nFRAME Ix\n'; frame 3; } >y4m/mono

# -- library: any bytes are calls.
for length in 40 200 1000; do
  printf 'limpid %s' {1..400} | head -c "$length" >"library/$length"
done
