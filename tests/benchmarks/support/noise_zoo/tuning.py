# SPDX-License-Identifier: MIT
"""Other values of the constants of noise estimation: builds Limpid with each and scores it."""
import fnmatch
import os
import re
import subprocess

from running import in_parallel
from scoring import chosen_folders, score_case
from summary import HARM, VISIBLE, gaps_of, harmed, mean

GROUP = re.compile(r"struct (\w+)Constants \{(.*?)\n\};", re.DOTALL)
CONSTANT = re.compile(r"^  (double|float|int) (\w+) = ([^;]+);", re.MULTILINE)


def constants_of(text):
    """Each constant's name ('coded.gain'), type, value, and the value's place in the text."""
    for group in GROUP.finditer(text):
        for constant in CONSTANT.finditer(group[2]):
            start, end = (group.start(2) + place for place in constant.span(3))
            yield f"{group[1].lower()}.{constant[2]}", constant[1], float(constant[3].rstrip("F")), (start, end)


def written(kind, value):
    if kind == "int":
        return str(round(value))
    number = f"{value:.6g}"
    return (number if "." in number or "e" in number else number + ".0") + ("F" if kind == "float" else "")


def figures(arguments):
    results = list(in_parallel(arguments.jobs, score_case, [(folder, arguments) for folder in chosen_folders(arguments)]))
    clean = [result["auto"][0] for result in results if result["clean"]]
    noisy = [result for result in results if not result["clean"]]
    gaps = [f"{mean(gaps):+.3f}" for gaps in (gaps_of(noisy, plane, "gap") for plane in (0, 1)) if gaps]
    return f"{sum(psnr < VISIBLE for psnr in clean)} of {len(clean)} clean under {VISIBLE} dB, {len(harmed(noisy, 0))} of " \
           f"{len(noisy)} over {-HARM} dB below the input, auto minus best {'/'.join(gaps)}"


def figures_of(text, arguments):
    arguments.header.write_text(text, encoding="utf-8")
    subprocess.run(["cmake", "--build", arguments.build, "--target", "limpid"], check=True, stdout=subprocess.DEVNULL)
    return figures(arguments)


def tune(arguments):
    arguments.limpid = os.path.abspath(os.path.join(arguments.build, "bin", "limpid"))
    text = arguments.header.read_text(encoding="utf-8")
    chosen = [each for each in constants_of(text) if any(fnmatch.fnmatch(each[0], name) for name in arguments.names)]
    if not chosen:
        raise ValueError(f"no constant of {arguments.header} has such a name")
    try:
        print(f"as it is: {figures_of(text, arguments)}", flush=True)
        for name, kind, value, (start, end) in chosen:
            for other in dict.fromkeys(written(kind, value * factor) for factor in arguments.factors):
                changed = text[:start] + other + text[end:]
                print(f"{name} = {other} for {value:g}: {figures_of(changed, arguments)}", flush=True)
    finally:
        arguments.header.write_text(text, encoding="utf-8")
    return 0
