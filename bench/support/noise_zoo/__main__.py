# SPDX-License-Identifier: MIT
"""The noise zoo: tests of the noise estimate on all kinds of footage.

  python3 noise_zoo make OUT            make the cases, each in OUT/NAME: a truth and, unless it is clean, a noisy clip
  python3 noise_zoo score LIMPID OUT    denoise the cases with default settings and compare with the best fixed settings
  python3 noise_zoo fit OUT              fit the noise decision to the cases and write core/noise/noise_forests.cpp
  python3 noise_zoo report SCORES       print a summary of a file from score --json, and make its table

README.md beside this file describes the cases and the figures."""
import argparse
import os
import pathlib
import shutil
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
CHECKOUT = FOLDER.parents[2]
DATA = CHECKOUT.parent / "shared" / "data"

try:
    from fitting import fit
    from making import make
    from scoring import score
    from summary import report
except ImportError as error:
    sys.exit(f"noise_zoo: {error}; install NumPy, SciPy, Numba and PyAV: pip install numpy scipy numba av")


def add_case_options(command):
    command.add_argument("out", type=pathlib.Path, help="folder of the cases")
    command.add_argument("--only", default="*", metavar="PATTERN", help="only cases with such names, as in 'camera-*'")
    command.add_argument("--quick", action="store_true", help="about a third of the cases, some of every kind")
    command.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="cases at a time [all processors]")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", help="make missing cases")
    making.set_defaults(run=make)
    add_case_options(making)
    making.add_argument("--data", type=pathlib.Path, default=DATA, help="folder of clips and pictures [%(default)s]")
    making.add_argument("--table", type=pathlib.Path, default=FOLDER / "table.json",
                        help="table of the clips of each kind [table.json beside this file]")
    scoring = commands.add_parser("score", help="denoise the cases and print how far each is from the best")
    scoring.set_defaults(run=score)
    scoring.add_argument("limpid", help="program")
    add_case_options(scoring)
    scoring.add_argument("--options", default="", help="further options of limpid denoise for default and sweep")
    scoring.add_argument("--reference", metavar="LIMPID", help="program for sweeps that are missing [LIMPID]")
    scoring.add_argument("--threads", type=int, default=1, help="threads of each limpid [1]")
    scoring.add_argument("--json", type=pathlib.Path, metavar="FILE", help="file for the scores of the cases")
    fitting = commands.add_parser("fit", help="fit the noise decision to cases, and write core/noise/noise_forests.cpp")
    fitting.set_defaults(run=fit, checkout=CHECKOUT)
    add_case_options(fitting)
    fitting.add_argument("more", nargs="*", type=pathlib.Path, help="further folders of cases")
    fitting.add_argument("--program", default=CHECKOUT / "build" / "release" / "bin" / "noise_cases",
                         help="program that measures cases [%(default)s]")
    fitting.add_argument("--recordings", type=pathlib.Path, default=FOLDER / "recordings.json",
                         help="recording of each clip [recordings.json beside this file]")
    fitting.add_argument("--single", action="store_true",
                         help="measure the first frame of each case, fit the forests of single pictures, and keep the others")
    fitting.add_argument("--without", action="append", default=[], metavar="RECORDING",
                         help="recording whose clips are set aside for scoring; can be repeated")
    fitting.add_argument("--output", type=pathlib.Path, default=CHECKOUT / "core" / "noise" / "noise_forests.cpp",
                         help="file of the forests [%(default)s]")
    reporting = commands.add_parser("report", help="print the verdict of scores and make their table")
    reporting.set_defaults(run=report)
    reporting.add_argument("scores", type=pathlib.Path, help="file that score --json wrote")
    reporting.add_argument("--json", type=pathlib.Path, metavar="FILE", help="table for results.py --keep")
    return parser.parse_args()


def main():
    if not shutil.which("ffmpeg"):
        sys.exit("noise_zoo: the program ffmpeg is missing; install it: apt-get install ffmpeg")
    arguments = parsed()
    try:
        sys.exit(arguments.run(arguments))
    except (OSError, ValueError) as error:
        sys.exit(f"noise_zoo: {error}")


if __name__ == "__main__":
    main()
