# SPDX-License-Identifier: MIT
"""Makes cases: a folder each, with a truth, a noisy clip and case.json."""
import fnmatch
import json
import shutil

from clips import Clip, write
from kinds import KINDS
from material import Material
from running import in_parallel, write_json

VERSION = 1  # raise it when a recipe changes: cases of other versions are made again


def make_case(folder, kind, recipe):
    """Makes a case; case.json, written last, marks it as complete. Returns True."""
    shutil.rmtree(folder, ignore_errors=True)
    made = recipe.make()
    folder.mkdir(parents=True)
    case = {"kind": kind, "quick": recipe.quick, "version": VERSION, "truth": write(folder, "truth", made.truth)}
    case["noisy"] = case["truth"] if made.noisy is None else write(folder, "noisy", made.noisy)
    case["bits"] = made.truth.bits if isinstance(made.truth, Clip) else None  # None: a single picture
    write_json(folder / "case.json", {**case, **made.details})
    return True


def is_made(folder):
    path = folder / "case.json"
    return path.exists() and json.loads(path.read_text(encoding="utf-8"))["version"] == VERSION


def planned(options):
    """Folder, kind and recipe of each case that the options select."""
    table = json.loads(options.table.read_text(encoding="utf-8"))
    material = Material(table, options.data)
    for kind, recipes in KINDS.items():
        for recipe in recipes(material) if kind in table else ():
            folder = options.out / f"{kind}-{recipe.name}"
            if fnmatch.fnmatch(folder.name, options.only) and (recipe.quick or not options.quick):
                yield folder, kind, recipe


def make(options):
    try:
        cases = list(planned(options))
    except KeyError as error:
        raise ValueError(f"{options.table} has no entry {error}") from error
    missing = [case for case in cases if not is_made(case[0])]
    made = sum(in_parallel(options.jobs, make_case, missing))
    print(f"{made} cases made, {len(cases) - len(missing)} already present, {len(missing) - made} failed")
    return 0 if made == len(missing) else 1
