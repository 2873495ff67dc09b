#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quality and time of FFmpeg's denoising filters and of limpid, on the same clips.

    bench/support/ffmpeg_peers.py --clips FOLDER      FOLDER/SIGMA/CLIP/noisy.y4m, gray, each with its truth.y4m

    --settings LIST     filters of FFmpeg, separated by blanks [hqdn3d and nlmeans at several strengths; the best of each is kept]
    --filters LIST      filters of limpid, separated by commas [vbm4d:profile=fast,vbm4d]
    --timed CLIP        clip whose times are kept [the first]
    --limpid FILE       program [build/release/bin/limpid]
    --json FILE         writes the figures in the form of bench/results

PSNR is of luma, from the mean squared error of all frames of a clip, in dB, and its mean over the clips. Two more means over
the clips are of what PSNR hardly shows. Ghosting is the share, in percent, of what has changed since the frame before that is
missing in the result, by regression of the error: the frame before is still seen, or moving edges are blurred. Texture is the
share of the truth's highest octave (each sample's difference from the mean of its 2x2 samples) that the result keeps, in
percent, in the quarter of 16x16 blocks that have most of it: the projection on the truth, so that noise does not count. Times
are processor time per frame of the whole program on one thread, including reading and writing files. Requires ffmpeg, numpy
and limpid.
"""
import argparse
import json
import math
import pathlib
import resource
import subprocess
import tempfile

import numpy

# nlmeans: s is its strength, p the side of a patch and r the side of the search window.
SETTINGS = ("hqdn3d=32 hqdn3d=40 hqdn3d=50 "
            "nlmeans=s=14:p=7:r=15 nlmeans=s=16:p=7:r=15 nlmeans=s=18:p=7:r=15 nlmeans=s=20:p=7:r=15")


def run(command):
    """Runs a program and returns its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_ffmpeg(noisy, out, settings):
    return run(["ffmpeg", "-v", "error", "-y", "-threads", "1", "-filter_threads", "1", "-i", noisy, "-vf", settings, "-pix_fmt",
                "gray", "-strict", "-1", out])


def by_limpid(limpid, noisy, out, sigma, text):
    return run([limpid, "denoise", noisy, "-o", out, "-y", "--log-level", "error", "--sigma", sigma, "--threads", "1", "--engine",
                "cpu", "--filter", text])


def read(file):
    """The luma of a gray Y4M file, [frame][row][column]."""
    with open(file, "rb") as stream:
        words = stream.readline().split()
        width, height = (next(int(w[1:]) for w in words if w[:1] == letter) for letter in (b"W", b"H"))
        frames = []
        while stream.readline():
            frames.append(numpy.frombuffer(stream.read(width * height), numpy.uint8).reshape(height, width))
    return numpy.stack(frames)


def in_blocks(frames):
    """The frames cut to whole blocks of 16x16."""
    return frames[:, :frames.shape[1] // 16 * 16, :frames.shape[2] // 16 * 16].astype(numpy.float32)


def ghosting(result, truth):
    error, change = (result - truth)[1:], truth[:-1] - truth[1:]
    return 100 * float(numpy.sum(error * change) / numpy.sum(change**2))


def texture(result, truth):
    def octave(frames):
        count, height, width = frames.shape
        pairs = frames.reshape(count, height // 2, 2, width // 2, 2)
        return (pairs - pairs.mean(axis=(2, 4), keepdims=True)).reshape(count, height // 16, 16, width // 16, 16)

    kept, whole = (numpy.sum(octave(frames) * octave(truth), axis=(2, 4)) for frames in (result, truth))
    textured = whole >= numpy.quantile(whole, 0.75)
    return 100 * float(kept[textured].sum() / whole[textured].sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=pathlib.Path, required=True)
    parser.add_argument("--settings", default=SETTINGS)
    parser.add_argument("--filters", default="vbm4d:profile=fast,vbm4d")
    parser.add_argument("--timed")
    parser.add_argument("--limpid", default="build/release/bin/limpid")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    output = {}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.y4m"

        for level in sorted((p for p in arguments.clips.iterdir() if p.is_dir()), key=lambda p: float(p.name)):
            clips = sorted(level.iterdir())
            timed = arguments.timed or clips[0].name

            def row(program, settings, denoise):
                figures, rows = {"program": program, "settings": settings}, []
                for clip in clips:
                    seconds = denoise(clip / "noisy.y4m")
                    files = (out if denoise is not no_filter else clip / "noisy.y4m", clip / "truth.y4m")
                    result, truth = (in_blocks(read(file)) for file in files)
                    psnr = 10 * math.log10(255**2 / float(numpy.mean((result - truth) ** 2)))
                    rows.append((psnr, ghosting(result, truth), texture(result, truth)))
                    figures[clip.name] = round(psnr, 2)
                    if clip.name == timed and denoise is not no_filter:
                        figures["ms"] = round(1000 * seconds / len(truth), 1)
                for name, values in zip(("mean", "ghosting", "texture"), zip(*rows)):
                    figures[name] = round(sum(values) / len(values), 2 if name == "mean" else 1)
                print(level.name, figures, flush=True)
                return figures

            def no_filter(_noisy):
                return 0

            rows = [row("none", "", no_filter)]
            best = {}
            for settings in arguments.settings.split():
                figures = row("ffmpeg", settings, lambda noisy, settings=settings: by_ffmpeg(noisy, out, settings))
                name = settings.split("=")[0]
                if name not in best or figures["mean"] > best[name]["mean"]:
                    best[name] = figures
            rows += best.values()
            for text in arguments.filters.split(","):
                rows.append(row("limpid", text, lambda noisy, text=text: by_limpid(arguments.limpid, noisy, out, level.name, text)))
            output[f"sigma {level.name}"] = rows
    if arguments.json:
        arguments.json.write_text(json.dumps(output, indent=1) + "\n")


if __name__ == "__main__":
    main()
