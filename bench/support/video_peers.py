#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quality and time of temporal filters in VapourSynth plug-ins and in limpid, on the same clips.

    bench/support/video_peers.py --clips FOLDER       FOLDER/SIGMA/CLIP/noisy.y4m, gray, each with its truth.y4m

    --plugin NAME       bm3d: V-BM3D of vapoursynth-bm3d, on the CPU; vszipcu: V-BM3D, DFTTest and NLMeans on the GPU [bm3d]
    --settings LIST     of the plug-in, separated by commas: "profile=np:radius=3" [some of each]
    --filters LIST      of limpid, separated by commas: "vbm4d:profile=fast" [the profiles of vbm4d]; "" for none
    --scales LIST       factors of the noise's sigma for V-BM3D's sigma, of its variance for DFTTest's, and of its sigma for
                        NLMeans' h; the best counts [some for each]
    --timed CLIP        clip whose times are shown [the first]
    --limpid FILE       the program [build/release/bin/limpid]
    --json FILE         the figures as bench/support/results.py keeps them

PSNR is of luma, by the mean squared error of all frames of a clip, in dB, and its mean over the clips. Times are per
frame of the timed clip, for both steps, on one thread if no GPU is used; limpid's include reading and writing files.
Requires numpy, VapourSynth from R80 on, and the plug-in.
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

from ffmpeg_peers import read

SETTINGS = {
    "bm3d": "profile=fast:radius=1,profile=lc:radius=2,profile=np:radius=3",
    "vszipcu": "filter=BM3Dv2:radius=2:block_step=8,filter=BM3Dv2:radius=2:block_step=4,filter=BM3Dv2:radius=4:block_step=8,"
               "filter=DFTTest:tbsize=5,filter=NLMeans:d=2:a=6:s=3",
}
SCALES = {"bm3d": "1.6,1.8", "BM3Dv2": "1.33,1.6", "DFTTest": "2,3,4", "NLMeans": "0.4,0.6,0.9"}
FILTERS = "vbm4d:profile=fast,vbm4d:profile=lc,vbm4d:profile=np,vbm4d:profile=high"


def of_text(text):
    return {key: int(value) if value.isdigit() else value for key, value in (item.split("=") for item in text.split(":"))}


def vapoursynth_bm3d(source, sigma, scale, settings):
    chosen = {"sigma": [scale * sigma], "matrix": 100, **settings}
    sums = {"radius": settings["radius"], "sample": 1}
    basic = source.bm3d.VBasic(**chosen).bm3d.VAggregate(**sums)
    return source.bm3d.VFinal(basic, **chosen).bm3d.VAggregate(**sums)


def vszipcu(source, sigma, scale, settings):
    name = settings["filter"]
    rest = {key: value for key, value in settings.items() if key != "filter"}
    if name == "DFTTest":
        return source.vszipcu.DFTTest(sigma=scale * sigma**2, num_streams=4, **rest)
    if name == "NLMeans":
        return source.vszipcu.NLMeans(h=scale * sigma, num_streams=4, **rest)
    chosen = {"sigma": [scale * sigma], "fast_fused": True, **rest}
    return source.vszipcu.BM3Dv2(ref=source.vszipcu.BM3Dv2(**chosen), **chosen)


PLUGINS = {"bm3d": vapoursynth_bm3d, "vszipcu": vszipcu}


def filtered(noisy, plugin, sigma, scale, settings):
    """The plug-in's results, and its seconds per frame."""
    core = vapoursynth.core
    if plugin == "bm3d":
        core.num_threads = 1
    count, height, width = noisy.shape
    blank = core.std.BlankClip(width=width, height=height, length=count, format=vapoursynth.GRAYS, keep=True)

    def fill(n, f):
        frame = f.copy()
        numpy.asarray(frame[0])[:] = noisy[n].astype(numpy.float32) / 255
        return frame

    result = PLUGINS[plugin](blank.std.ModifyFrame(blank, fill), sigma, scale, settings)
    begin = time.perf_counter()
    frames = [numpy.clip(numpy.rint(numpy.asarray(frame[0]) * 255), 0, 255) for frame in result.frames()]
    return numpy.stack(frames), (time.perf_counter() - begin) / count


def by_limpid(limpid, clip, sigma, text, out):
    begin = time.perf_counter()
    subprocess.run([limpid, "denoise", clip / "noisy.y4m", "-o", out, "-y", "--log-level", "error", "--sigma", sigma,
                    "--threads", "1", "--filter", text], check=True)
    frames = read(out)
    return frames, (time.perf_counter() - begin) / len(frames)


def psnr(frames, truth):
    return 10 * math.log10(255**2 / numpy.mean((frames - truth.astype(numpy.float64)) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=pathlib.Path, required=True)
    parser.add_argument("--plugin", choices=PLUGINS, default="bm3d")
    parser.add_argument("--settings")
    parser.add_argument("--filters", default=FILTERS)
    parser.add_argument("--scales")
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

            for text in (arguments.settings or SETTINGS[arguments.plugin]).split(","):
                settings = of_text(text)
                scales = arguments.scales or SCALES[settings.get("filter", arguments.plugin)]
                tried = [add(f"vapoursynth-{arguments.plugin}", f"{text}:scale={scale}",
                             lambda clip, scale=scale: filtered(read(clip / "noisy.y4m"), arguments.plugin, float(level.name),
                                                                float(scale), settings))
                         for scale in scales.split(",")]
                rows.append(max(tried, key=lambda row: row["mean"]))
                print(level.name, rows[-1], [row["mean"] for row in tried], flush=True)
            for text in filter(None, arguments.filters.split(",")):
                rows.append(add("limpid", text, lambda clip, text=text: by_limpid(arguments.limpid, clip, level.name, text, out)))
                print(level.name, rows[-1], flush=True)
            output[f"sigma {level.name}"] = rows
    if arguments.json:
        arguments.json.write_text(json.dumps(output, indent=1) + "\n")


if __name__ == "__main__":
    main()
