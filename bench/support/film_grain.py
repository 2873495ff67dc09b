#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Film grain of limpid beside the noise of the source, and beside libaom's own denoise-noise-level.

    bench/support/film_grain.py LIMPID FOLDER...

Each FOLDER has noisy.y4m and truth.y4m, of 8 bits and 4:2:0. Clips are encoded by libaom at one CRF: by ffmpeg as they are and with
denoise-noise-level, and by limpid with --grain keep. The difference of a decoded clip with grain and without is compared with the
difference of noisy clip and truth: the standard deviation in 8 classes of brightness, and the spectrum in octaves. PSNR is that of
frames without grain to the truth. Real clips, folders without truth.y4m, are measured in the flattest 10 % of blocks, where differences of
successive frames show the noise. Prints JSON for support/results.py. Requires ffmpeg with libaom and libdav1d, and numpy.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

CRFS = (24, 32, 40, 48)
CRF = 32
LEVELS = (10, 25, 50)
AOM = ["-c:v", "libaom-av1", "-cpu-used", "6", "-row-mt", "1", "-b:v", "0"]
CLASSES = 8
OCTAVES = ((0.5, 1.0), (0.25, 0.5), (0.125, 0.25), (0.0625, 0.125))  # of the Nyquist frequency
BLOCK = 64
FLAT = 16  # side of blocks of real clips


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def size_of(path):
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0",
                           path], check=True, capture_output=True, text=True).stdout
    return [int(number) for number in text.split(",")]


def planes_of(path, grain=None):
    """Y, U and V as arrays [frame, y, x]."""
    width, height = size_of(path)
    decoder = [] if grain is None else ["-c:v", "libdav1d", "-filmgrain", str(grain)]
    data = subprocess.run(["ffmpeg", "-v", "error", *decoder, "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"], check=True,
                          capture_output=True).stdout
    half = (height + 1) // 2, (width + 1) // 2
    luma, chroma = width * height, half[0] * half[1]
    frames = numpy.frombuffer(data, numpy.uint8).reshape(-1, luma + 2 * chroma).astype(numpy.float32)
    return [frames[:, :luma].reshape(-1, height, width), frames[:, luma:luma + chroma].reshape(-1, *half),
            frames[:, luma + chroma:].reshape(-1, *half)]


def deviations(noise, luma):
    """The standard deviation in classes of brightness; not a number for rare classes."""
    if noise.shape != luma.shape:
        luma = luma[:, ::2, ::2]
    classes = (luma / 256 * CLASSES).astype(int)
    result = numpy.full(CLASSES, numpy.nan)
    for each in range(CLASSES):
        samples = noise[classes == each]
        if samples.size > 0.01 * noise.size:
            result[each] = samples.std()
    return result


def spectrum(noise):
    """The standard deviation of the noise in octaves of frequency."""
    side = min(BLOCK, noise.shape[1])
    window = numpy.outer(numpy.hanning(side), numpy.hanning(side))
    power, count = numpy.zeros((side, side)), 0
    for frame in noise:
        for y in range(0, frame.shape[0] - side + 1, side // 2):
            for x in range(0, frame.shape[1] - side + 1, side // 2):
                block = frame[y:y + side, x:x + side]
                power += numpy.abs(numpy.fft.fft2((block - block.mean()) * window))**2
                count += 1
    frequency = numpy.hypot(*numpy.meshgrid(*[numpy.fft.fftfreq(side) * 2] * 2))
    power /= count * (window**2).sum()
    octaves = OCTAVES if side == BLOCK else OCTAVES[:3]
    return numpy.array([numpy.sqrt(power[(frequency >= low) & (frequency < high)].mean()) for low, high in octaves])


def rounded(number):
    return round(float(number), 2)


def blocks(planes):
    """Blocks of FLAT x FLAT samples of luma, [block, y, x]."""
    height, width = (length // FLAT * FLAT for length in planes.shape[1:])
    return planes[:, :height, :width].reshape(len(planes), height // FLAT, FLAT, width // FLAT, FLAT).swapaxes(2, 3).reshape(-1, FLAT, FLAT)


def measure_real(program, folder, temporary):
    """Rows of a clip without truth: the deviation of grain in flat blocks, relative to the noise, and that in three octaves."""
    noisy = pathlib.Path(folder) / "noisy.y4m"
    luma = planes_of(noisy)[0]
    noise, mean = blocks((luma[1:] - luma[:-1]) / numpy.sqrt(2)), blocks((luma[1:] + luma[:-1]) / 2)
    texture = mean.std((1, 2)) + 4 * numpy.abs(noise.mean((1, 2)))
    brightness = mean.mean((1, 2))
    usable = (brightness > 25) & (brightness < 230) & (noise.std((1, 2)) > 0.2)
    flat = usable & (texture <= numpy.quantile(texture[usable], 0.1))
    lines = []
    coded = temporary / "real.mkv"

    def add(method):
        grain = blocks((planes_of(coded, 1)[0] - planes_of(coded, 0)[0])[:-1])[flat]
        lines.append({"clip": noisy.parent.name, "method": method, "deviation, ratio": rounded(grain.std() / noise[flat].std()),
                      "octaves from the top, ratio": [rounded(ratio) for ratio in spectrum(grain) / spectrum(noise[flat])],
                      "bytes": coded.stat().st_size})

    run(program, "denoise", noisy, "-o", coded, "-y", "-q", "-c", "libaom-av1", "--crf", CRF, "--grain", "keep")
    add("limpid")
    for level in LEVELS:
        run("ffmpeg", "-v", "error", "-y", "-i", noisy, *AOM, "-crf", CRF, "-denoise-noise-level", level, coded)
        add(f"libaom, level {level}")
    return lines


class Clip:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.noisy, self.truth = (planes_of(self.folder / name) for name in ("noisy.y4m", "truth.y4m"))
        self.noise = [noisy - truth for noisy, truth in zip(self.noisy, self.truth)]

    def errors(self, path):
        """Largest errors, in percent: deviations of luma and chroma, spectrum of luma and chroma in octaves."""
        with_grain, without = planes_of(path, 1), planes_of(path, 0)
        by_class, octaves = [], []
        for plane in range(3):
            grain = with_grain[plane] - without[plane]
            by_class.append(deviations(grain, without[0]) / deviations(self.noise[plane], self.truth[0]))
            octaves.append(spectrum(grain) / spectrum(self.noise[plane]))
        return by_class, octaves, self.psnr(without)

    def psnr(self, planes):
        return 10 * numpy.log10(255**2 / ((planes[0] - self.truth[0])**2).mean())


def worst(ratios):
    return 100 * numpy.nanmax(numpy.abs(numpy.asarray(ratios) - 1))


def mean(ratios):
    return 100 * numpy.nanmean(numpy.abs(numpy.asarray(ratios) - 1))


def bits_at(psnr, points):
    """The size at a PSNR between measured points, by interpolation of its logarithm."""
    points = sorted(points)
    return float(numpy.exp(numpy.interp(psnr, [point[0] for point in points], [numpy.log(point[1]) for point in points])))


def saving(limpid, plain):
    """Share of the bits that limpid saves where both curves have the same PSNR; nothing if they do not overlap."""
    low, high = max(min(plain)[0], min(limpid)[0]), min(max(plain)[0], max(limpid)[0])
    if low >= high:
        return None
    return 100 * numpy.mean([1 - bits_at(psnr, limpid) / bits_at(psnr, plain) for psnr in numpy.linspace(low, high, 9)])


def row_of(name, method, path, clip):
    by_class, octaves, psnr = clip.errors(path)
    return {"clip": name, "method": method, "luma: worst class, %": round(worst(by_class[0])), "mean, %": round(mean(by_class[0])),
            "chroma: worst class, %": round(worst(by_class[1:])), "mean of chroma, %": round(mean(by_class[1:])),
            "octaves of luma from the top, ratio": [rounded(ratio) for ratio in octaves[0]], "bytes": path.stat().st_size,
            "PSNR, dB": rounded(psnr)}


def measure(program, folder, temporary):
    clip = Clip(folder)
    name = clip.folder.name
    noisy = clip.folder / "noisy.y4m"
    curves = {"plain": [], "limpid": []}
    for crf in CRFS:
        plain, limpid = temporary / f"{name}-{crf}.mkv", temporary / f"{name}-{crf}-limpid.mkv"
        run("ffmpeg", "-v", "error", "-y", "-i", noisy, *AOM, "-crf", crf, plain)
        run(program, "denoise", noisy, "-o", limpid, "-y", "-q", "-c", "libaom-av1", "--crf", crf, "--grain", "keep")
        curves["plain"].append((clip.psnr(planes_of(plain)), plain.stat().st_size))
        curves["limpid"].append((clip.psnr(planes_of(limpid, 0)), limpid.stat().st_size))
    at = CRFS.index(CRF)
    lines = [row_of(name, "limpid", temporary / f"{name}-{CRF}-limpid.mkv", clip)]
    for level in LEVELS:
        own = temporary / f"{name}-own-{level}.mkv"
        run("ffmpeg", "-v", "error", "-y", "-i", noisy, *AOM, "-crf", CRF, "-denoise-noise-level", level, own)
        lines.append(row_of(name, f"libaom, level {level}", own, clip))
    plain, limpid = curves["plain"], curves["limpid"]
    overlap = saving(limpid, plain)
    bits = {"clip": name, "bytes as it is": plain[at][1], "bytes with --grain keep": limpid[at][1],
            "saved at equal CRF, %": round(100 - 100 * limpid[at][1] / plain[at][1]), "PSNR as it is, dB": rounded(plain[at][0]),
            "PSNR with --grain keep, dB": rounded(limpid[at][0]),
            "saved at equal PSNR, %": "no overlap" if overlap is None else round(overlap)}
    return lines, bits


def main():
    program, folders = sys.argv[1], [pathlib.Path(folder) for folder in sys.argv[2:]]
    result = {"grain": [], "bits": [], "real": []}
    with tempfile.TemporaryDirectory() as name:
        for folder in folders:
            if (folder / "truth.y4m").exists():
                lines, bits = measure(program, folder, pathlib.Path(name))
                result["grain"] += lines
                result["bits"].append(bits)
            else:
                result["real"] += measure_real(program, folder, pathlib.Path(name))
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
