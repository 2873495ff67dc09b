# SPDX-License-Identifier: MIT
"""Summaries of the cases' scores: a line for each case, the verdict, and the table of the results page."""
import json

from running import write_json

HARM = -0.1  # dB relative to the noisy input; below it, denoising was harmful
VISIBLE = 50  # dB of luma relative to clean input; below it, the change is visible
PLANES = ("luma", "chroma")
GAPS = {"gap": "auto", "true_sigma_gap": "true sigma"}


def shown(values, sign=""):
    return "/".join("-" if value is None else f"{value:{sign}.2f}" for value in values)


def line(result):
    begin = f"{result['kind']:8} {result['name']:38}"
    if result["clean"]:
        return f"{begin} clean, to the input {shown(result['auto']):57} reported {result['reported']}"
    return f"{begin} {shown(result['noisy']):11} auto {shown(result['auto']):11} true sigma " \
           f"{shown(result['true_sigma']):11} best {shown(result['best']):11} {shown(result['gap'], '+'):12} " \
           f"reported {result['reported']}, true {result['true']}"


def kinds_of(results):
    return list(dict.fromkeys(result["kind"] for result in results))


def harmed(results, plane):
    """Cases that are worse than their noisy input, and by how much, the worst first."""
    changes = [(result["auto"][plane] - result["noisy"][plane], result["name"]) for result in results
               if result["auto"][plane] is not None]
    return sorted(change for change in changes if change[0] < HARM)


def gaps_of(results, plane, key):
    """Distances from the best and the cases' names, the worst first."""
    return sorted((result[key][plane], result["name"]) for result in results if result[key][plane] is not None)


def mean(gaps):
    return sum(gap for gap, _ in gaps) / len(gaps)


def gap_line(results, name, key):
    """The mean and the worst distance from the best in each plane."""
    words = []
    for plane, plane_name in enumerate(PLANES):
        gaps = gaps_of(results, plane, key)
        if gaps:
            words.append(f"{plane_name} mean {mean(gaps):+.2f}, worst {gaps[0][0]:+.2f} ({gaps[0][1]}) of {len(gaps)}")
    return f"{GAPS[key]} minus best, {name}: " + "; ".join(words)


def groups(noisy):
    """All cases, and those of each kind."""
    yield "all", noisy
    for kind in kinds_of(noisy):
        yield kind, [result for result in noisy if result["kind"] == kind]


def verdict(results):
    clean = sorted((result["auto"][0], result["name"]) for result in results if result["clean"])
    noisy = [result for result in results if not result["clean"]]
    if clean:
        changed = sum(psnr < VISIBLE for psnr, _ in clean)
        yield f"clean: worst {clean[0][0]:.2f} dB ({clean[0][1]}); {changed} of {len(clean)} under {VISIBLE} dB luma"
    if not noisy:
        return
    for plane, plane_name in enumerate(PLANES):
        harm = harmed(noisy, plane)
        yield f"harm, {plane_name}: {len(harm)} of {len(noisy)} cases over {-HARM} dB below the noisy input " \
            + ", ".join(f"{name} {change:+.2f}" for change, name in harm)
    for name, group in groups(noisy):
        for key in GAPS:
            yield gap_line(group, name, key)


def hundredths(value):
    """Rounded, without the sign of -0."""
    return round(value, 2) + 0.0


def table_row(kind, results):
    row = {"kind": kind, "cases": len(results)}
    for plane, plane_name in enumerate(PLANES):
        row[f"harm, {plane_name}"] = len(harmed(results, plane))
    for key, name in GAPS.items():
        for plane, plane_name in enumerate(PLANES):
            gaps = gaps_of(results, plane, key)
            if gaps:
                row[f"{name} minus best, {plane_name}, mean"] = hundredths(mean(gaps))
                row[f"{name} minus best, {plane_name}, worst"] = hundredths(gaps[0][0])
    return row


def tables(results):
    """The tables of the results page."""
    clean = sorted((result["auto"][0], result["name"]) for result in results if result["clean"])
    noisy = [result for result in results if not result["clean"]]
    output = {}
    if clean:
        output["clean input"] = [{"cases": len(clean), f"under {VISIBLE} dB luma": sum(c[0] < VISIBLE for c in clean),
                                  "worst, dB luma": round(clean[0][0], 2), "worst case": clean[0][1]}]
    if noisy:
        output["noisy input"] = [table_row(*group) for group in groups(noisy)]
    return output


def report(arguments):
    scores = json.loads(arguments.scores.read_text(encoding="utf-8"))
    if "cases" not in scores:
        raise ValueError(f"{arguments.scores} is not a file that score --json wrote")
    print("\n".join(verdict(scores["cases"])))
    if arguments.json:
        write_json(arguments.json, tables(scores["cases"]))
    return 0
