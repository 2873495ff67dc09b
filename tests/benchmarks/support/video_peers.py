#!/usr/bin/env python3
"""The quality and the time of V-BM3D in a VapourSynth plug-in beside those of limpid, on the same clips.

    tests/benchmarks/support/video_peers.py --clips FOLDER       FOLDER/SIGMA/CLIP/noisy.y4m, gray, each with its truth.y4m

    --settings LIST     of the plug-in, separated by commas: "profile=np:radius=3" [three profiles]
    --filters LIST      of limpid, likewise: "vbm4d:profile=fast" [the profiles of vbm4d]
    --scales LIST       the plug-in's sigma is so many times the noise's; the best counts [1.6,1.8]
    --timed CLIP        its times are told [the first]
    --limpid FILE       the program [build/release/bin/limpid]
    --json FILE         the figures as tests/benchmarks/support/results.py keeps them

PSNR is of luma, by the mean squared error of all frames of a clip, in dB, and its mean over the clips. Times are of both
steps, on one thread, of a frame of the timed clip; limpid's hold the reading and writing of files. Needs numpy,
VapourSynth from R80 on, and the plug-in vapoursynth-bm3d (V-BM3D: VBasic, VFinal and VAggregate).
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile
import time

import numpy
import vapoursynth

SETTINGS = "profile=fast:radius=1,profile=lc:radius=2,profile=np:radius=3"
FILTERS = "vbm4d:profile=fast,vbm4d:profile=lc,vbm4d:profile=np,vbm4d:profile=high"


def read(file):
    """The luma of a gray Y4M file, [frame][row][column]."""
    with open(file, "rb") as stream:
        words = stream.readline().split()
        width, height = (next(int(w[1:]) for w in words if w[:1] == letter) for letter in (b"W", b"H"))
        frames = []
        while stream.readline():
            frames.append(numpy.frombuffer(stream.read(width * height), numpy.uint8).reshape(height, width))
    return numpy.stack(frames)


def of_text(text):
    return {key: int(value) if value.isdigit() else value for key, value in (item.split("=") for item in text.split(":"))}


def filtered(noisy, sigma, settings):
    """What the plug-in makes of the frames, and its seconds per frame."""
    core = vapoursynth.core
    core.num_threads = 1
    count, height, width = noisy.shape
    blank = core.std.BlankClip(width=width, height=height, length=count, format=vapoursynth.GRAYS, keep=True)

    def fill(n, f):
        frame = f.copy()
        numpy.asarray(frame[0])[:] = noisy[n].astype(numpy.float32) / 255
        return frame

    source = blank.std.ModifyFrame(blank, fill)
    basic = source.bm3d.VBasic(sigma=[sigma], matrix=100, **settings).bm3d.VAggregate(radius=settings["radius"], sample=1)
    result = source.bm3d.VFinal(basic, sigma=[sigma], matrix=100, **settings)
    result = result.bm3d.VAggregate(radius=settings["radius"], sample=1)
    begin = time.perf_counter()
    frames = [numpy.clip(numpy.rint(numpy.asarray(frame[0]) * 255), 0, 255) for frame in result.frames()]
    return numpy.stack(frames), (time.perf_counter() - begin) / count


def by_limpid(limpid, clip, sigma, text, out):
    name, *options = text.split(":")
    words = [word for option in options for word in ("--" + option).split("=")]
    begin = time.perf_counter()
    subprocess.run([limpid, "denoise", clip / "noisy.y4m", "-o", out, "-y", "--log-level", "error", "--sigma", sigma,
                    "--threads", "1", "--filter", name, *words], check=True)
    frames = read(out)
    return frames, (time.perf_counter() - begin) / len(frames)


def psnr(frames, truth):
    return 10 * math.log10(255**2 / numpy.mean((frames - truth.astype(numpy.float64)) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=pathlib.Path, required=True)
    parser.add_argument("--settings", default=SETTINGS)
    parser.add_argument("--filters", default=FILTERS)
    parser.add_argument("--scales", default="1.6,1.8")
    parser.add_argument("--timed")
    parser.add_argument("--limpid", default="build/release/bin/limpid")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    output = {}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.y4m"
        for level in sorted((p for p in arguments.clips.iterdir() if p.is_dir()), key=lambda p: float(p.name)):
            clips = sorted(level.iterdir())
            truths = {clip: read(clip / "truth.y4m") for clip in clips}
            timed = arguments.timed or clips[0].name
            rows = []

            def add(program, settings, denoise):
                """`denoise` gives a clip's frames and seconds."""
                row, psnrs, ms = {"program": program, "settings": settings}, [], 0
                for clip in clips:
                    frames, seconds = denoise(clip)
                    psnrs.append(psnr(frames, truths[clip]))
                    row[clip.name] = round(psnrs[-1], 2)
                    if clip.name == timed:
                        ms = round(1000 * seconds, 1)
                row.update({"mean": round(sum(psnrs) / len(psnrs), 2), "ms": ms})
                return row

            for text in arguments.settings.split(","):
                tried = [add("vapoursynth-bm3d", f"{text}:sigma={scale}x",
                             lambda clip, scale=scale: filtered(read(clip / "noisy.y4m"), float(level.name) * float(scale),
                                                                of_text(text)))
                         for scale in arguments.scales.split(",")]
                rows.append(max(tried, key=lambda row: row["mean"]))
                print(level.name, rows[-1], flush=True)
            for text in arguments.filters.split(","):
                rows.append(add("limpid", text, lambda clip, text=text: by_limpid(arguments.limpid, clip, level.name, text, out)))
                print(level.name, rows[-1], flush=True)
            output[f"sigma {level.name}"] = rows
    if arguments.json:
        arguments.json.write_text(json.dumps(output, indent=1) + "\n")


if __name__ == "__main__":
    main()
