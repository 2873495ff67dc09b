# SPDX-License-Identifier: MIT
"""Runs limpid on damaged copies of small clips of about 20 formats. Called by damaged.sh.

Every run must end within a minute with exit code 0, 1 or 2. A run with --strict whose exit code is 0 must have all frames, unless
ffmpeg and ffprobe do not show the loss either (no error of demuxer or decoder, no declared length or number of frames, no gap in the times).
"""

import collections
import json
import pathlib
import random
import subprocess
import sys

FRAMES = 36
RATE = 25
PICTURES = f"testsrc2=s=64x48:r={RATE},noise=alls=6"
# The file's name and the arguments of ffmpeg that make it.
FORMATS = [
    ("ffv1.mkv", "-c:v ffv1 -g 6"),
    ("vp8.webm", "-c:v libvpx -g 6"),
    ("h264.mkv", "-c:v libx264 -g 12"),
    ("h264.mp4", "-c:v libx264 -g 12 -movflags +faststart"),
    ("fragments.mp4", "-c:v mpeg4 -g 6 -movflags +frag_keyframe+empty_moov"),
    ("mpeg4.mov", "-c:v mpeg4 -g 6"),
    ("mjpeg.avi", "-c:v mjpeg -q:v 3"),
    ("h264.ts", "-c:v libx264 -g 12"),
    ("mpeg2.ts", "-c:v mpeg2video -g 12 -q:v 3"),
    ("mpeg2.mpg", "-c:v mpeg2video -g 12 -q:v 3"),
    ("flv1.flv", "-c:v flv -g 12"),
    ("wmv2.wmv", "-c:v wmv2 -g 12"),
    ("mpeg2.mxf", "-c:v mpeg2video -g 12 -q:v 3"),
    ("ffv1.nut", "-c:v ffv1 -g 6"),
    ("theora.ogv", "-c:v libtheora -q:v 7 -g 12"),
    ("vp8.ivf", "-c:v libvpx -g 6"),
    ("a.gif", ""),
    ("a.apng", ""),
    ("a.y4m", "-pix_fmt yuv420p"),
    ("h264.h264", "-c:v libx264 -g 12"),
    ("jpegls.mkv", "-c:v jpegls"),
]
# ffprobe computes the durations of these from their data.
WITHOUT_LENGTH = (".ts", ".mpg", ".h264", ".gif", ".apng", ".ogv", ".y4m")


def run(command, seconds=60):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)


def make_clips(folder):
    for name, codec in FORMATS:
        command = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", PICTURES, "-frames:v", str(FRAMES)]
        result = run([*command, *codec.split(), str(folder / name)])
        if result.returncode != 0:
            print(f"not tested: {name}: {result.stderr.strip().splitlines()[-1]}")


def mutate(data, randomness):
    """A damaged copy and the kind of its damage."""
    n = len(data)
    begin = int(n * randomness.uniform(0.15, 0.9))
    end = min(n, begin + max(16, int(n * randomness.uniform(0.02, 0.25))))
    kind = randomness.choice(
        ["zeros", "noise", "cut out", "truncated", "tail of zeros", "doubled", "bits", "header", "swapped", "inserted"]
    )
    if kind == "zeros":
        return kind, data[:begin] + bytes(end - begin) + data[end:]
    if kind == "noise":
        return kind, data[:begin] + randomness.randbytes(end - begin) + data[end:]
    if kind == "cut out":
        return kind, data[:begin] + data[end:]
    if kind == "truncated":
        return kind, data[:begin]
    if kind == "tail of zeros":
        return kind, data[:begin] + bytes(n - begin)
    if kind == "doubled":
        return kind, data[:end] + data[begin:]
    if kind == "swapped":
        middle = (begin + end) // 2
        return kind, data[:begin] + data[middle:end] + data[begin:middle] + data[end:]
    if kind == "inserted":
        return kind, data[:begin] + randomness.randbytes(100) + data[begin:]
    damaged = bytearray(data)
    first, last = (0, min(n, 400)) if kind == "header" else (0, n)
    for _ in range(randomness.randint(1, 12)):
        at = randomness.randrange(first, last)
        damaged[at] ^= 1 << randomness.randrange(8)
    return kind, bytes(damaged)


def frames_of(report):
    return report["frames"] if "frames" in report else report["files"][0]["frames"]


def visible_loss(file, frames):
    """The sign of the loss that ffmpeg or ffprobe shows; empty if there is none."""
    errors = run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(file), "-map", "0:v:0", "-f", "null", "-"]).stderr.strip()
    if errors:
        return "an error: " + errors.splitlines()[0][:150]
    probe = json.loads(
        run(
            ["ffprobe", "-v", "quiet", "-of", "json", "-select_streams", "v:0", "-show_entries", "packet=pts_time,dts_time:format=duration:stream=nb_frames", str(file)]
        ).stdout
        or "{}"
    )
    times = [float(p.get("dts_time", p.get("pts_time", "nan"))) for p in probe.get("packets", [])]
    times = [t for t in times if t == t]
    steps = [b - a for a, b in zip(times, times[1:])]
    if any(step > 2.5 / RATE for step in steps) and not file.suffix == ".h264":
        return f"a gap of {max(steps):.2f} s"
    duration = float(probe.get("format", {}).get("duration", 0))
    if times and file.suffix not in WITHOUT_LENGTH and duration - (max(times) - min(times)) > 0.2 + 1 / RATE:
        return f"a declared length of {duration:.2f} s"
    declared = probe.get("streams", [{}])[0].get("nb_frames", "0")
    return f"{declared} declared frames" if int(declared) > frames else ""


def main():
    limpid, folder, count, seed = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    make_clips(folder)
    clips = [folder / name for name, _ in FORMATS if (folder / name).exists()]
    whole, failures, unseen = {}, [], []

    def denoise(file):
        command = [limpid, "denoise", str(file), "-o", str(folder / "out.mkv"), "-y", "-c", "ffv1", "--filter", "bilateral"]
        return run([*command, "--sigma", "2", "--strict", "--json", "-q"])

    for clip in clips:
        result = denoise(clip)
        if result.returncode == 0:
            whole[clip] = frames_of(json.loads(result.stdout))
        else:
            failures.append(f"{clip.name}, undamaged: exit code {result.returncode}: {result.stderr[-300:]}")
    clips = list(whole)
    randomness = random.Random(seed)
    randomness.shuffle(clips)
    kept = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
    codes = collections.Counter()
    losses = collections.Counter()
    for case in range(count):
        clip = clips[case % len(clips)]
        kind, damaged = mutate(clip.read_bytes(), randomness)
        file = folder / f"damaged{clip.suffix}"
        file.write_bytes(damaged)
        name = f"{clip.name}, case {case} ({kind})"
        try:
            result = denoise(file)
        except subprocess.TimeoutExpired:
            failures.append(f"{name}: does not end within a minute")
            continue
        codes[result.returncode] += 1
        if result.returncode not in (0, 1, 2):
            failures.append(f"{name}: exit code {result.returncode}: {result.stderr[-300:]}")
        if result.returncode != 0:
            continue
        report = json.loads(result.stdout)
        frames = frames_of(report)
        if frames >= whole[clip]:
            losses["no frame is missing"] += 1
            continue
        sign = visible_loss(file, frames)
        if sign and kept:
            kept.mkdir(exist_ok=True)
            (kept / f"{case}_{clip.name}").write_bytes(damaged)
        line = f"{name}: {frames} of {whole[clip]} frames, exit code 0"
        (failures if sign else unseen).append(line + (f", {sign}" if sign else ""))
    print(f"{sum(codes.values())} runs with seed {seed}; exit codes: " + ", ".join(f"{code}: {n}" for code, n in sorted(codes.items())))
    print(f"exit code 0 with all frames: {losses['no frame is missing']}")
    print(f"exit code 0 with fewer frames, without a trace (length, error, gap): {len(unseen)}")
    for line in unseen:
        print("  " + line)
    for line in failures:
        print("FAILED: " + line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
