# SPDX-License-Identifier: MIT
"""Cases in parallel, and files that are complete or absent."""
import concurrent.futures
import json
import os
import sys


def in_parallel(count, function, jobs):
    """The result of function(*job) for each job, in order. A failed job is reported with its folder, job[0]."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        futures = [(job, pool.submit(function, *job)) for job in jobs]
        for job, future in futures:
            try:
                yield future.result()
            except (OSError, RuntimeError, ValueError) as error:
                print(f"{job[0].name}: failed: {error}", file=sys.stderr, flush=True)


def write_json(path, value):
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(value, indent=1), encoding="utf-8")
    os.replace(partial, path)
