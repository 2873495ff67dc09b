# SPDX-License-Identifier: MIT
"""Writes an SPDX 2.3 list of what the files of a release contain.

Usage: spdx.py VERSION EPOCH ARCHIVE... >limpid-VERSION.spdx.json
Each ARCHIVE (.tar.xz, .zip) has licenses/parts.txt with lines "NAME VERSION", and NAME.txt with the part's Debian copyright file.
"""
import datetime
import json
import os
import re
import sys
import tarfile
import zipfile


def texts_of(archive):
    """The files of the folder licenses by name."""
    if archive.endswith(".zip"):
        with zipfile.ZipFile(archive) as opened:
            files = {name: opened.read(name) for name in opened.namelist() if "/licenses/" in name}
    else:
        with tarfile.open(archive) as opened:
            files = {each.name: opened.extractfile(each).read() for each in opened if each.isfile() and "/licenses/" in each.name}
    return {os.path.basename(name): content.decode(errors="replace") for name, content in files.items()}


def spdx_id(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def part_of(name, version, copyright_text):
    licenses = sorted(set(re.findall(r"^License: *(\S[^\n]*)", copyright_text, re.MULTILINE)))
    return {
        "SPDXID": spdx_id(f"{name}-{version}"),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "https://deb.debian.org/debian",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "licenseComments": "Debian's copyright file: " + ("; ".join(licenses) or "see licenses/" + name + ".txt"),
        "copyrightText": "NOASSERTION",
    }


def main():
    version, epoch, archives = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    packages, relations = {}, []
    for archive in archives:
        name = os.path.basename(archive)
        packages[name] = {
            "SPDXID": spdx_id(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "MIT AND GPL-3.0-or-later", "copyrightText": "NOASSERTION"}
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", spdx_id(name)))
        texts = texts_of(archive)
        for line in texts["parts.txt"].splitlines():
            part = part_of(*line.split(), texts.get(line.split()[0] + ".txt", ""))
            packages[part["SPDXID"]] = part
            relations.append((spdx_id(name), "CONTAINS", part["SPDXID"]))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"limpid-{version}",
        "documentNamespace": f"urn:limpid:{version}:{epoch}",
        "creationInfo": {"created": created, "creators": ["Tool: limpid tests/spdx.py"]},
        "packages": list(packages.values()),
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }, sys.stdout, indent=1)
    print()


main()
