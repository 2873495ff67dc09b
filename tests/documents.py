#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every limpid command of the documents, as it is written, on small files with the names that it has.

    tests/documents.py [BUILD]      [build/release]

Commands are read from indented lines and from `limpid ...` in the text of README.md and docs/*.md. A command that requires a
GPU or a camera may fail on machines without one, with exit code 1 or 2 and a sentence. Windows are closed after some seconds.
Requires ffmpeg. Prints each command and its exit code; exits with 1 if a command does not do what its document says.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
HARDWARE = re.compile(r"cuda|nvenc|/dev/video|webcam")  # perhaps missing
ENDLESS = re.compile(r"\blimpid (preview|webcam)\b")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|\.\.\.|\[|videoN")
NAME = re.compile(r"limpid (?!devices$|filters$|--)\S+$")  # of a command, in a sentence about it
SECONDS_OF_WINDOWS = 8
LIMIT = 300

VIDEO = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=0.4", "-f", "lavfi", "-i", "sine=d=0.4", "-vf", "noise=alls=20:allf=t"]
# in.mp4 is long enough for --start 1:30, with a frame every four seconds.
SLOW = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=1/4:d=132", "-vf", "noise=alls=20:allf=t", "-pix_fmt", "yuv420p"]
TAPE = ["-f", "lavfi", "-i", "testsrc2=s=720x576:r=50:d=0.2", "-f", "lavfi", "-i", "sine=d=0.2", "-vf",
        "noise=alls=20:allf=t,format=yuv422p,tinterlace=interleave_top,setfield=tff,setsar=12/11", "-c:v", "ffv1", "-flags", "+ildct+ilme"]
PHONE = ["-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30:d=0.1", "-vf", "noise=alls=20:allf=t", "-pix_fmt", "yuv420p"]
SCAN = ["-f", "lavfi", "-i", "testsrc2=s=1440x1080:r=24:d=0.1", "-vf", "noise=alls=20:allf=t", "-pix_fmt", "yuv422p10le", "-c:v", "ffv1"]
PICTURE = ["-f", "lavfi", "-i", "testsrc2=s=320x240", "-vf", "noise=alls=20", "-frames:v", "1"]
INPUTS = {
    **{name: VIDEO for name in ("noisy.mkv", "film.mkv", "a.mkv", "b.mov", "in.mov", "camera.mov", "test.mkv", "vhs.mkv")},
    "truth.mkv": VIDEO[:-2],
    "in.mkv": [text.replace("160x120", "480x360") for text in VIDEO],
    "in.mp4": SLOW,
    "camera.avi": [*VIDEO, "-c:v", "mjpeg", "-c:a", "pcm_s16le"],
    "dvd.vob": [*VIDEO, "-c:v", "mpeg2video", "-flags", "+ildct+ilme"],
    "tape.mkv": TAPE,
    "phone.mp4": PHONE,
    "screen.mkv": VIDEO,
    "scan.mkv": SCAN,
    "cells.tif": [*PICTURE, "-pix_fmt", "gray16le"],
    "cells/img_%03d.tif": [*PICTURE[:-1], "4", "-pix_fmt", "gray16le"],
    "photo.png": PICTURE,
    "holiday/one.jpg": PICTURE,
    "holiday/two.jpg": PICTURE,
}


def documents():
    return [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "algorithms.md")]


def commands_of(document):
    """The commands in the order of the document."""
    commands = []
    for line in document.read_text().splitlines():
        if line.startswith("    ") and re.search(r"(^|[|=\w] ?)\s*limpid ", line):
            commands.append(re.split(r"\s{3,}", line.strip())[0])
        elif not line.startswith("    "):
            found = re.findall(r"`(limpid [^`]+)`", line)
            commands += [text for text in found if not PLACEHOLDER.search(text) and not NAME.match(text)]
    return list(dict.fromkeys(commands))


def make_inputs(folder):
    for name, arguments in INPUTS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments, path], check=True)
    shutil.copytree(ROOT / "samples", folder / "samples", ignore=shutil.ignore_patterns("*.cpp"))


def remove_outputs(command, folder):
    for name in re.findall(r"(?:-o|--output|--sheet|--screenshot|--record|--csv) (\S+)", command):
        path = folder / name
        if name == "-" or str(path.relative_to(folder)) in INPUTS or not path.exists():
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in re.findall(r"\| ffmpeg .* (\S+)$", command):
        (folder / name).unlink(missing_ok=True)


def run(command, folder, environment):
    """The exit code and the messages."""
    process = subprocess.Popen(["bash", "-c", "set -o pipefail; " + command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    endless = ENDLESS.search(command) and not re.search("--frames|--list|--help", command)
    try:
        _, messages = process.communicate(timeout=SECONDS_OF_WINDOWS if endless else LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT if endless else signal.SIGKILL)
        _, messages = process.communicate()
        return 0 if endless and process.returncode in (0, 130, -signal.SIGINT) else process.returncode, messages
    return process.returncode, messages


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}", "SDL_AUDIODRIVER": "dummy"}
    if "DISPLAY" not in environment:
        environment["SDL_VIDEODRIVER"] = "offscreen"
    failed = count = 0
    for document in documents():
        print(document.relative_to(ROOT), flush=True)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            environment["XDG_STATE_HOME"] = str(folder / "state")
            make_inputs(folder)
            for command in commands_of(document):
                remove_outputs(command, folder)
                code, messages = run(command, folder, environment)
                last = messages.strip().splitlines()[-1:] or [""]
                good = code == 0 or (HARDWARE.search(command) and code in (1, 2) and last[0].startswith("limpid: "))
                count += 1
                failed += not good
                print(f"  {'ok    ' if good else 'FAILED'} {code:3}  {command}", flush=True)
                if not good or code != 0:
                    print(f"              {last[0]}", flush=True)
    print(f"{count} commands, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
