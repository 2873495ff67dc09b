#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Repeats the tables of the papers of Limpid's filters on this machine: CSV files and SVG charts.

    bench/support/tables.py OUT [--build build/release] [--engine cpu] [--threads N] [--frames N] [--clips DIR]
                               [--only NAME]

time_by_radius       the bilateral filters and NLM by the radius of their window, at the sizes of Indurkhya and
                     Vallabhu's report
time_by_size         every filter by the size of the picture, as the BM3D papers have it
time_by_step         BM3D's steps and profiles on 512x512
psnr_by_filter       the gain of each filter and setting on still pictures, by noise level

Times are those of `limpid compare`: denoising alone, frames in host memory, a clip of equal frames. Requires Python 3
and, except for clips kept by --clips, the ffmpeg program. Do not run other programs at the same time.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile

COLORS = ["#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#6a4c93", "#00798c", "#8d6a3f", "#555555"]
SIZES = [(256, 256), (512, 512), (570, 426), (1000, 1000)]
RADII = [3, 6, 9, 12, 15]


def run(command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.picture = options.data / "still" / "gpu-bm3d_lena_20.png"

    def clip(self, width, height):
        """A noisy gray clip of equal frames: Lena with noise of sigma 20, repeated to the size."""
        file = self.folder / f"{width}x{height}_{self.options.frames}.mkv"
        if not file.exists():
            tiles = math.ceil(max(width, height) / 512)
            run(["ffmpeg", "-v", "error", "-loop", 1, "-i", self.picture, "-frames:v", self.options.frames, "-vf",
                 f"loop=loop={tiles * tiles - 1}:size=1,tile={tiles}x{tiles},crop={width}:{height}:0:0,"
                 f"loop=loop={self.options.frames - 1}:size=1,format=gray",
                 "-c:v", "ffv1", "-g", 1, file])
        return file

    def times(self, clip, filters):
        """Milliseconds a frame of each filter."""
        command = [self.options.build / "bin" / "limpid", "compare", clip, "--filters", ",".join(filters), "--sigma",
                   20, "--frames", self.options.frames, "--engine", self.options.engine, "--json"]
        if self.options.threads:
            command += ["--threads", self.options.threads]
        rows = json.loads(run(command))["filters"]
        return {row["filter"]: 1000 / row["fps"] for row in rows if "fps" in row}

    def time_by_radius(self):
        rows = []
        for width, height in SIZES:
            for radius in RADII:
                side = 2 * radius + 1
                filters = {"bilateral": f"bilateral:radius={radius}",
                           "adaptive-bilateral": f"adaptive-bilateral:radius={radius}",
                           "nlm-bilateral, 7x7 patches": f"nlm-bilateral:patch-size=7:search-window={side}",
                           "nlm, 7x7 patches": f"nlm:patch-size=7:search-window={side}"}
                times = self.times(self.clip(width, height), filters.values())
                rows += [{"size": f"{width}x{height}", "filter": name, "radius": radius, "ms": round(times[text], 3)}
                         for name, text in filters.items()]
        charted = [row for row in rows if row["size"] == "570x426"]
        chart(self.options.out / "time_by_radius.svg", "Time by radius, 570x426", "radius", "ms a frame", charted,
              "filter", "radius", "ms")
        return rows

    def time_by_size(self):
        filters = ["bilateral", "adaptive-bilateral", "nlm", "nlm-bilateral", "bm3d:profile=fast", "bm3d"]
        rows = []
        for width, height in [(256, 256), (512, 512), (1024, 1024), (1920, 1080)]:
            for text, time in self.times(self.clip(width, height), filters).items():
                rows.append({"filter": text, "megapixels": round(width * height / 1e6, 3), "ms": round(time, 3)})
        chart(self.options.out / "time_by_size.svg", "Time by size", "megapixels", "ms a frame", rows, "filter",
              "megapixels", "ms")
        return rows

    def time_by_step(self):
        clip = self.clip(512, 512)
        rows = []
        for profile in ["fast", "lc", "np", "high"]:
            both = f"bm3d:profile={profile}"
            first = both + ":steps=1"
            times = self.times(clip, [first, both])
            rows.append({"profile": profile, "step_1_ms": round(times[first], 3),
                         "step_2_ms": round(times[both] - times[first], 3), "both_ms": round(times[both], 3)})
        return rows

    def psnr_by_filter(self):
        filters = ["bilateral", "adaptive-bilateral", "adaptive-bilateral:kappa=0.5", "nlm-bilateral", "nlm",
                   "bm3d:profile=fast", "bm3d"]
        command = [self.options.build / "bin" / "filter_quality", *filters, "--data", self.options.data, "--engine",
                   self.options.engine]
        rows = list(csv.DictReader(run(command).splitlines()))
        chart(self.options.out / "psnr_by_filter.svg", "PSNR by filter", "sigma", "dB", rows, "filter", "sigma",
              "psnr_db", logarithmic=False)
        return rows


def ticks(low, high, logarithmic):
    if logarithmic:
        return [10.0**e * m for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
                for m in (1, 2, 5) if low <= 10.0**e * m <= high]
    step = 10 ** math.floor(math.log10(high - low))
    step = step if (high - low) / step > 3 else step / 2
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def chart(file, title, x_name, y_name, rows, series, x, y, logarithmic=True):
    """A line chart, a line for each value of the column `series`."""
    width, height, left, top, right, bottom = 760, 420, 70, 40, 220, 50
    points = {}
    for row in rows:
        points.setdefault(row[series], []).append((float(row[x]), float(row[y])))
    xs = sorted({px for line in points.values() for px, _ in line})
    ys = [py for line in points.values() for _, py in line]
    scale = math.log10 if logarithmic else float

    def place_x(value):
        return left + (value - xs[0]) / (xs[-1] - xs[0]) * (width - left - right)

    def place_y(value):
        low, high = scale(min(ys)), scale(max(ys))
        return height - bottom - (scale(value) - low) / (high - low) * (height - top - bottom)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="24" font-size="15">{title}</text>',
           f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">{x_name}</text>',
           f'<text x="16" y="{height / 2}" transform="rotate(-90 16 {height / 2})" '
           f'text-anchor="middle">{y_name}</text>']
    for value in ticks(min(ys), max(ys), logarithmic):
        at = place_y(value)
        svg.append(f'<path d="M{left} {at:.1f}H{width - right}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in xs:
        svg.append(f'<text x="{place_x(value):.1f}" y="{height - bottom + 18}" text-anchor="middle">{value:g}</text>')
    for i, (name, line) in enumerate(points.items()):
        color = COLORS[i % len(COLORS)]
        path = " ".join(f"{place_x(px):.1f},{place_y(py):.1f}" for px, py in sorted(line))
        svg.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        svg.append(f'<text x="{width - right + 12}" y="{top + 18 * (i + 1)}" fill="{color}">{name}</text>')
    file.write_text("\n".join(svg + ["</svg>", ""]))


def main():
    tables = ["time_by_radius", "time_by_size", "time_by_step", "psnr_by_filter"]
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", type=pathlib.Path, help="folder for the CSV and SVG files")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build" / "release")
    parser.add_argument("--data", type=pathlib.Path, default=root.parent / "shared" / "data")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--frames", type=int, default=5, help="frames to average over")
    parser.add_argument("--clips", type=pathlib.Path, help="folder that keeps the clips, for machines without ffmpeg")
    parser.add_argument("--only", choices=tables, action="append", help="this table, may be repeated")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if options.clips:
            options.clips.mkdir(parents=True, exist_ok=True)
        bench = Bench(options, options.clips or pathlib.Path(folder))
        for name in options.only or tables:
            rows = getattr(bench, name)()
            with open(options.out / f"{name}.csv", "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows)
            print(options.out / f"{name}.csv")


if __name__ == "__main__":
    main()
