#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the encodings "small" and "high" on denoised clips, for EncoderTraits::high_quality and the sizes in the window.

Usage: bench/encodings.py LIMPID CLIP... > bench/encodings.json
Each clip gets noise of sigma 10 and is denoised without loss. For each encoder and option: the mean PSNR of all samples to the
frames before encoding, what the encoder costs against the truth, both in the encoder's format, and bits per pixel.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ENCODERS = {
    "libx264": ("mkv", [[], ["-crf", "16"], ["-crf", "14"], ["-crf", "12"]]),
    "libx265": ("mkv", [[], ["-crf", "16"], ["-crf", "14"], ["-crf", "12"]]),
    "libsvtav1": ("mkv", [[], ["-crf", "20"], ["-crf", "14"], ["-crf", "10"]]),
    "libaom-av1": ("mkv", [["-cpu-used", "6"], ["-cpu-used", "6", "-crf", "16"], ["-cpu-used", "6", "-crf", "12"],
                           ["-cpu-used", "6", "-crf", "8"]]),
    "libvpx-vp9": ("webm", [[], ["-crf", "18", "-b:v", "0"], ["-crf", "14", "-b:v", "0"], ["-crf", "10", "-b:v", "0"]]),
    "mpeg2video": ("mkv", [["-q:v", "2"], ["-q:v", "1", "-qmin", "1"]]),
    "ffv1": ("mkv", [[]]),
    "prores_ks": ("mkv", [["-profile:v", "standard"], ["-profile:v", "hq"]]),
}
PIXELS = {"prores_ks": "yuv422p10"}  # others: yuv420p


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True)


def ffmpeg(*words):
    return run("ffmpeg", "-hide_banner", "-nostdin", "-y", *words)


def psnr(first, second, pixels):
    log = ffmpeg("-i", first, "-i", second, "-lavfi", f"[0:v]format={pixels}[a];[1:v]format={pixels}[b];[a][b]psnr",
                 "-f", "null", "-").stderr
    return float(re.search(r"average:(inf|[\d.]+)", log).group(1))


def frames(clip):
    return int(run("ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", clip).stdout)


def prepare(limpid, clip, folder, pixels):
    """The truth of a clip, and its denoised version."""
    truth, noisy, denoised = (os.path.join(folder, name) for name in ("truth.mkv", "noisy.mkv", "denoised.mkv"))
    ffmpeg("-i", clip, "-vf", f"scale=256:144,format={pixels}", "-frames:v", "12", "-an", "-c:v", "ffv1", truth)
    ffmpeg("-i", truth, "-vf", "noise=alls=22:allf=t", "-c:v", "ffv1", noisy)
    run(limpid, "denoise", noisy, "-o", denoised, "-c", "ffv1", "--quality", "fast", "-q", "-y")
    return truth, denoised


def main():
    limpid, clips = sys.argv[1], sys.argv[2:]
    sums = {}
    for clip in clips:
        for encoder, (ending, choices) in ENCODERS.items():
            pixels = PIXELS.get(encoder, "yuv420p")
            with tempfile.TemporaryDirectory() as folder:
                truth, denoised = prepare(limpid, clip, folder, pixels)
                before = psnr(denoised, truth, pixels)
                for options in choices:
                    output = os.path.join(folder, "out." + ending)
                    ffmpeg("-i", denoised, "-c:v", encoder, *options, output)
                    kept = psnr(output, denoised, pixels)
                    bits = 8 * os.path.getsize(output) / (256 * 144 * frames(truth))
                    row = sums.setdefault(encoder + " " + " ".join(options), [])
                    row.append((min(kept, 100), before - psnr(output, truth, pixels), bits))
    print(json.dumps({name: {"psnr_to_shown": round(sum(r[0] for r in rows) / len(rows), 2),
                             "cost_to_truth": round(sum(r[1] for r in rows) / len(rows), 3),
                             "most_cost": round(max(r[1] for r in rows), 3),
                             "bits_per_pixel": round(sum(r[2] for r in rows) / len(rows), 3)}
                      for name, rows in sums.items()}, indent=1))


if __name__ == "__main__":
    main()
