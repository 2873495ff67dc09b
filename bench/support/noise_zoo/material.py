# SPDX-License-Identifier: MIT
"""Clips and pictures of the data folder, as the table names them."""
import av
import numpy as np

from clips import Clip, filtered, shrunk

DEFAULTS = {"start": 0, "step": 1, "down": 1, "frames": 8, "crop": "384x216"}


def crop_filter(width, height):
    return f"crop=trunc(min(iw\\,{width})/2)*2:trunc(min(ih\\,{height})/2)*2"


def crop_size(entry):
    width, height = entry["crop"].split("x")
    return int(width), int(height)


class Material:
    def __init__(self, table, data):
        self.table = table
        self.data = data

    def entry(self, name, **changed):
        """The table's entry of a clip with defaults and changes."""
        clips = self.table.get("clips", {})
        if name not in clips:
            raise ValueError(f"the table has no clip named {name}; add it to \"clips\"")
        return {**DEFAULTS, **clips[name], **changed}

    def _frames(self, entry, filters, pixel_format):
        chosen = f"select=gte(n\\,{entry['start']})*not(mod(n-{entry['start']}\\,{entry['step']})),"
        return filtered(self.data / entry["file"], chosen + filters, pixel_format, entry["frames"])

    def clip(self, name, **changed):
        """A clip of 8 bits, gray or 4:2:0, shrunk by area and then cropped."""
        entry = self.entry(name, **changed)
        with av.open(str(self.data / entry["file"])) as container:
            pixel_format = next(container.decode(video=0)).format.name
        if pixel_format not in ("gray", "yuvj420p"):
            pixel_format = "yuv420p"
        down = entry["down"]
        shrink = f"scale=trunc(iw/{down}):trunc(ih/{down}):flags=area+accurate_rnd," if down > 1 else ""
        frames = self._frames(entry, shrink + crop_filter(*crop_size(entry)), pixel_format)
        return Clip(frames, full=pixel_format != "yuv420p")

    def light(self, name, to_light):
        """Scene-linear frames, shrunk by area. to_light converts R'G'B' in 0..1, which stays PQ for a PQ file."""
        entry = self.entry(name)
        width, height = crop_size(entry)
        filters = crop_filter(width * entry["down"], height * entry["down"])
        if entry.get("pq"):
            filters += ",scale=in_color_matrix=bt2020:in_range=tv"
        frames = self._frames(entry, filters, "gbrp16le")
        return [shrunk(to_light(np.stack(planes, -1) / 65535), entry["down"]) for planes in frames]

    def still(self, file, width=9999, height=9999):
        """A picture as R'G'B' in 0..1, at most width x height of its center."""
        return np.stack(filtered(self.data / file, crop_filter(width, height), "gbrp16le")[0], -1) / 65535
