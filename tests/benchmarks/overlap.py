#!/usr/bin/env python3
"""How near the chain of decoding, denoising and encoding comes to its slowest stage alone.

    tests/benchmarks/overlap.py --make FOLDER              clips to measure with: noisy, 1080p and 2160p, H.264 and HEVC
    tests/benchmarks/overlap.py CLIP... [-- OPTION...]     the table; options of limpid benchmark, such as --engine cuda:0

    --limpid FILE       the program [build/release/bin/limpid]
    --encoders LIST     encoders with their presets [null,libx264:ultrafast,libx264:veryfast]
    --frames N          frames of each measurement; short clips are repeated [600]
    --json FILE         all figures of limpid benchmark

"of slowest" is the chain's rate as a share of its slowest stage's alone. Where stages share processors no chain gets
that far: "of possible" is its share of what the processors allow, by the CPU time that a frame takes in the stages
alone. Needs Python 3, and ffmpeg for the clips alone. Run nothing else meanwhile.
"""
import argparse
import json
import pathlib
import subprocess
import sys

SIZES = {"1080p": ("1920x1080", "8M"), "2160p": ("3840x2160", "24M")}
CODECS = {"h264": ["libx264", "-preset", "fast"],
          "hevc": ["libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"]}


def make_clips(folder, seconds):
    folder.mkdir(parents=True, exist_ok=True)
    for size, (pixels, rate) in SIZES.items():
        for codec, encoder in CODECS.items():
            clip = folder / f"{size}_{codec}.mkv"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
                            f"mandelbrot=s={pixels}:r=30:end_scale=0.02,trim=duration={seconds},noise=alls=8:allf=t",
                            "-pix_fmt", "yuv420p", "-c:v", *encoder, "-b:v", rate, "-maxrate", rate, "-bufsize", rate,
                            clip], check=True)
            print(clip)


def measure(options, clip, encoder):
    codec, _, preset = encoder.partition(":")
    command = [options.limpid, "benchmark", clip, "--loop", "--frames", str(options.frames), "--json", *options.passed]
    if codec != "null":
        command += ["-c", codec]
    if preset:
        command += ["--preset", preset]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=pathlib.Path)
    parser.add_argument("--make", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--limpid", type=pathlib.Path, default=pathlib.Path("build/release/bin/limpid"))
    parser.add_argument("--encoders", default="null,libx264:ultrafast,libx264:veryfast")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    options.passed = arguments[split + 1:]
    if options.make:
        make_clips(options.make, options.seconds)
    elif not options.clips:
        parser.error("name the clips, or --make FOLDER")

    row = "{:<22} {:<20} {:>8} {:>8} {:>8} {:>8} {:>11} {:>12}".format
    if options.clips:
        print(row("clip", "encoder", "decode", "denoise", "encode", "chain", "of slowest", "of possible"))
    results = []
    for clip in options.clips:
        for encoder in options.encoders.split(","):
            result = measure(options, clip, encoder)
            results.append({"encoder": encoder, **result})
            rates = [f"{result['alone'][stage]['fps']:.1f}" if stage in result["alone"] else "-"
                     for stage in ("decode", "denoise", "encode")]
            chain = result["chain"]
            print(row(clip.name, encoder, *rates, f"{chain['fps']:.1f}", f"{100 * chain['of_slowest']:.1f} %",
                      f"{100 * chain['of_possible']:.1f} %"), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
