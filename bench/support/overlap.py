#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rate of decoding, denoising and encoding together, relative to the slowest stage alone.

    bench/support/overlap.py --make FOLDER              makes clips for measurements: noisy, 1080p and 2160p, H.264 and HEVC
    bench/support/overlap.py CLIP... [-- OPTION...]     the table; options of limpid benchmark, such as --engine cuda:0

    --limpid FILE       the program [build/release/bin/limpid]
    --encoders LIST     encoders with their presets [null,libx264:ultrafast,libx264:veryfast]
    --profiles LIST     of the filter; default is limpid's own [fast]
    --frames N          frames of each measurement [600]
    --rounds N          measurements of each chain; shows the one with the median share, and all shares [1]
    --json FILE         all figures of limpid benchmark, of all rounds

The clips are raw streams of 64 frames, the number that limpid benchmark keeps for timing a stage alone, so that each
stage has equal work alone and in the chain. They are concatenated to one stream of N frames, since a restart would empty
the decoder. Other clips must have N frames.

"of slowest" is the ratio of the chain's rate to that of its slowest stage alone. Stages that share processors cannot
reach 1: "of possible" is the ratio to the rate that the processors allow, by the CPU time of a frame in the stages alone.
"CPU ms" is that time, of the stages alone and in the chain: if it grows, stages slow each other down, like threads that
share a core. "busy" is the chain's share of all processors' time. Requires Python 3, and ffmpeg to make the clips. Do not
run other programs at the same time.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

FRAMES_OF_CLIP = 64
SIZES = {"1080p": ("1920x1080", "8M"), "2160p": ("3840x2160", "24M")}
CODECS = {"h264": ["libx264", "-preset", "fast"],
          "hevc": ["libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"]}


def make_clips(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for size, (pixels, rate) in SIZES.items():
        # One moving picture, so that all frames are about equally hard to code.
        source = (f"mandelbrot=s={pixels}:r=30:start_scale=0.02,trim=end_frame=1,loop=-1:1,setpts=N/30/TB,"
                  "scroll=horizontal=0.004:vertical=0.003,noise=alls=8:allf=t,format=yuv420p")
        for codec, encoder in CODECS.items():
            clip = folder / f"{size}.{codec}"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", source, "-frames:v", str(FRAMES_OF_CLIP),
                            "-c:v", *encoder, "-b:v", rate, "-maxrate", rate, "-bufsize", rate, clip], check=True)
            print(clip)


def repeated(clip, frames, folder):
    if clip.suffix not in {f".{codec}" for codec in CODECS}:
        return clip
    joined = pathlib.Path(folder) / clip.name
    with joined.open("wb") as out:
        for _ in range(-(-frames // FRAMES_OF_CLIP)):
            with clip.open("rb") as one:
                shutil.copyfileobj(one, out)
    return joined


def measure(options, clip, profile, encoder):
    codec, _, preset = encoder.partition(":")
    command = [options.limpid, "benchmark", clip, "--frames", str(options.frames), "--json", *options.passed]
    if profile != "default":
        command += ["--profile", profile]
    if codec != "null":
        command += ["-c", codec]
    if preset:
        command += ["--preset", preset]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def share(result):
    return result["chain"]["of_slowest"]


def row_of(result):
    alone, chain = result["alone"], result["chain"]
    rates = [f"{alone[stage]['fps']:.1f}" if stage in alone else "-" for stage in ("decode", "denoise", "encode")]
    return [*rates, f"{chain['fps']:.1f}", f"{100 * chain['of_slowest']:.1f} %", f"{100 * chain['of_possible']:.1f} %",
            f"{sum(stage['cpu_ms'] for stage in alone.values()):.2f}", f"{chain['cpu_ms']:.2f}",
            f"{chain['fps'] * chain['cpu_ms'] / 10 / result['processors']:.0f} %"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=pathlib.Path)
    parser.add_argument("--make", type=pathlib.Path)
    parser.add_argument("--limpid", type=pathlib.Path, default=pathlib.Path("build/release/bin/limpid"))
    parser.add_argument("--encoders", default="null,libx264:ultrafast,libx264:veryfast")
    parser.add_argument("--profiles", default="fast")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    options.passed = arguments[split + 1:]
    if options.make:
        make_clips(options.make)
    elif not options.clips:
        parser.error("name the clips, or --make FOLDER")

    row = "{:<12} {:<8} {:<18} {:>7} {:>7} {:>7} {:>7} {:>10} {:>11} {:>13} {:>7} {:>5}".format
    if options.clips:
        print(row("clip", "profile", "encoder", "decode", "denoise", "encode", "chain", "of slowest", "of possible",
                  "CPU ms alone", "chain", "busy"))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for clip in options.clips:
            source = repeated(clip, options.frames, folder)
            for profile in options.profiles.split(","):
                for encoder in options.encoders.split(","):
                    rounds = [measure(options, source, profile, encoder) for _ in range(options.rounds)]
                    rounds.sort(key=share)
                    results += [{"encoder": encoder, "profile": profile, **result} for result in rounds]
                    others = [f"{100 * share(result):.1f}" for result in rounds] if len(rounds) > 1 else []
                    print(row(clip.name, profile, encoder, *row_of(rounds[len(rounds) // 2])), *others, flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
