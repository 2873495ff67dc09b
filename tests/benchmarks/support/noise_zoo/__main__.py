# SPDX-License-Identifier: MIT
"""The noise zoo: tests of the noise estimate on all kinds of footage.

  python3 noise_zoo make OUT            make the cases, each in OUT/NAME: a truth and, unless it is clean, a noisy clip
  python3 noise_zoo score LIMPID OUT    denoise the cases with default settings and compare with the best fixed settings
  python3 noise_zoo tune OUT NAME...    score builds with other values of the constants of noise estimation
  python3 noise_zoo report SCORES       print a summary of a file from score --json, and make its table

README.md beside this file describes the cases and the figures."""
import argparse
import os
import pathlib
import shutil
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
CHECKOUT = FOLDER.parents[3]
DATA = CHECKOUT.parent / "shared" / "data"

try:
    from making import make
    from scoring import score
    from summary import report
    from tuning import tune
except ImportError as error:
    sys.exit(f"noise_zoo: {error}; install NumPy and PyAV: pip install numpy av")


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
    tuning = commands.add_parser("tune", help="score builds with other values of the constants of core/noise/constants.h")
    tuning.set_defaults(run=tune, options="", reference=None, threads=1)
    add_case_options(tuning)
    tuning.add_argument("names", nargs="+", metavar="NAME", help="constants, as in 'coded.gain' or 'difference.*'")
    tuning.add_argument("--factors", type=lambda text: [float(each) for each in text.split(",")], default=[0.8, 1.25],
                        help="factors of their values, separated by commas [0.8,1.25]")
    tuning.add_argument("--build", default=str(CHECKOUT / "build" / "release"), help="build folder [%(default)s]")
    tuning.add_argument("--header", type=pathlib.Path, default=CHECKOUT / "core" / "noise" / "constants.h",
                        help="file of the constants [%(default)s]")
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
