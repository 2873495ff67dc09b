# SPDX-License-Identifier: MIT
"""The kinds of cases. Each module gives the recipes of one kind for the clips of a table."""
from kinds import camera, clean, coded, content, drawn_cases, hdr, low, micro, pictures, still, telecine, white

KINDS = {"clean": clean.recipes, "white": white.recipes, "low": low.recipes, "camera": camera.recipes,
         "hdr": hdr.recipes, "micro": micro.recipes, "telecine": telecine.recipes, "still": still.recipes,
         "content": content.recipes, "drawn": drawn_cases.recipes,
         "coded": coded.recipes, "pictures": pictures.recipes}
