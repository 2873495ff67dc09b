# SPDX-License-Identifier: MIT
"""Reports tests in GoogleTest's format, which tests/suites.sh reads, and supports GoogleTest's filters."""

import fnmatch
import os
import subprocess
import sys

import pytest

BUILD = os.environ.get("LIMPID_BIN_DIR", "")


def _name(nodeid):
    file, _, test = nodeid.partition("::")
    words = os.path.basename(file).removeprefix("test_").removesuffix(".py").split("_")
    return "Python" + "".join(word.capitalize() for word in words) + "." + test.replace(" ", "_")


def _say(line):
    sys.__stdout__.write(line + "\n")
    sys.__stdout__.flush()


def pytest_collection_modifyitems(config, items):
    wanted, _, unwanted = os.environ.get("GTEST_FILTER", "*").partition("-")

    def matches(item, patterns):
        return any(fnmatch.fnmatchcase(_name(item.nodeid), pattern.replace("[", "[[]")) for pattern in patterns.split(":"))

    items[:] = [item for item in items if matches(item, wanted or "*") and not matches(item, unwanted)]


def pytest_runtest_logstart(nodeid):
    _say(f"[ RUN      ] {_name(nodeid)}")


def pytest_runtest_logreport(report):
    if report.when == "setup" and report.passed or report.when == "teardown" and not report.failed:
        return
    if report.failed:
        _say(report.longreprtext)
    elif report.skipped:
        _say(report.longrepr[2].removeprefix("Skipped: "))
    word = {"passed": "      OK", "failed": " FAILED ", "skipped": " SKIPPED"}[report.outcome]
    _say(f"[ {word} ] {_name(report.nodeid)} ({1000 * report.duration:.0f} ms)")


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(scope="session")
def program():
    """Runs one of the programs that were built with the package."""

    def run(name, *arguments):
        if not BUILD or not os.path.exists(os.path.join(BUILD, name)):
            pytest.skip(f"there is no program {name} in LIMPID_BIN_DIR")
        return subprocess.run([os.path.join(BUILD, name), *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout

    return run
