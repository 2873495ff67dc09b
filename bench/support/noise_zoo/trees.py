# SPDX-License-Identifier: MIT
"""Forests of decision trees whose leaves hold the expected loss at each of several candidates. A tree divides the
samples so that the sum of the least losses of its leaves becomes small."""
import heapq
import math

import numpy as np

UNKNOWN = -32768  # a feature that is not known
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWabcdefghijklmnopqrs"
LOSS_UNIT = 16 / (len(LETTERS) - 1) ** 2  # of noise_decision.h, in dB


def numbers_of_letters(losses):
    return np.minimum(np.round(np.sqrt(np.maximum(losses, 0) / LOSS_UNIT)), len(LETTERS) - 1).astype(int)


class Samples:
    """Features [sample, feature], losses in dB [sample, candidate], weights, and the recordings as numbers."""
    def __init__(self, features, losses, weights, recordings):
        self.features, self.losses, self.weights, self.recordings = features, losses, weights, recordings

    def chosen(self, index):
        return Samples(*(each[index] for each in (self.features, self.losses, self.weights, self.recordings)))


class Tree:
    def __init__(self, samples, generator, leaves, tries, least_recordings):
        self.samples, self.generator, self.tries, self.least = samples, generator, tries, least_recordings
        self.nodes, self.waiting = [], []
        self._add(np.arange(len(samples.weights)))
        while self.waiting and len(self.nodes) < 2 * leaves - 1:
            _, number, (feature, threshold, below, above) = heapq.heappop(self.waiting)
            self.nodes[number] = {"feature": feature, "threshold": threshold, "below": len(self.nodes),
                                  "above": len(self.nodes) + 1}
            self._add(below)
            self._add(above)
        del self.samples

    def _sums(self, index):
        return (self.samples.losses[index] * self.samples.weights[index, None]).sum(0)

    def _add(self, index):
        sums = self._sums(index)
        division = self._best_division(index)
        if division and sums.min() - division[0] > 1e-9:
            heapq.heappush(self.waiting, (division[0] - sums.min(), len(self.nodes), division[1:]))
        self.nodes.append({"letters": numbers_of_letters(sums / self.samples.weights[index].sum())})

    def _best_division(self, index):
        best = None
        for _ in range(self.tries):
            feature = self.generator.integers(self.samples.features.shape[1])
            column = self.samples.features[index, feature]
            one, other = sorted(int(column[i]) for i in self.generator.integers(len(index), size=2))
            if one == other:
                continue
            # Unknown features are apart from all others in half of the tries.
            threshold = math.floor((one + other) / 2) if one > UNKNOWN else \
                UNKNOWN if self.generator.random() < 0.5 else other - 1
            is_below = column <= threshold
            parts = index[is_below], index[~is_below]
            if any(len(set(self.samples.recordings[part])) < self.least for part in parts):
                continue
            cost = sum(self._sums(part).min() for part in parts)
            if best is None or cost < best[0]:
                best = cost, feature, threshold, *parts
        return best

    def losses(self, features):
        result = np.zeros((len(features), len(self.nodes[-1].get("letters", self.nodes[0].get("letters", ())))))
        places = [(0, np.arange(len(features)))]
        while places:
            number, index = places.pop()
            node = self.nodes[number]
            if "letters" in node:
                result[index] = node["letters"] ** 2 * LOSS_UNIT
                continue
            is_below = features[index, node["feature"]] <= node["threshold"]
            places += [(node["below"], index[is_below]), (node["above"], index[~is_below])]
        return result


class Forest:
    """Each tree has its own choice of the recordings, drawn with replacement."""
    def __init__(self, samples, trees, leaves, tries, least_recordings=3, seed=1):
        generator = np.random.default_rng(seed)
        names = np.unique(samples.recordings)
        self.trees = []
        for _ in range(trees):
            drawn, counts = np.unique(generator.choice(names, size=len(names)), return_counts=True)
            times = dict(zip(drawn, counts))
            weights = samples.weights * np.array([times.get(each, 0) for each in samples.recordings])
            own = Samples(samples.features, samples.losses, weights, samples.recordings).chosen(weights > 0)
            self.trees.append(Tree(own, generator, leaves, tries, least_recordings))

    def losses(self, features):
        return sum(tree.losses(features) for tree in self.trees) / len(self.trees)

    def text(self, name):
        """The forest as the arrays of a Forest of noise_decision.h."""
        nodes, roots, leaves = [], [], []
        for tree in self.trees:
            numbers, inner, outer = {}, len(nodes), len(leaves)
            for i, node in enumerate(tree.nodes):
                if "letters" in node:
                    numbers[i], outer = ~outer, outer + 1
                    leaves.append('"' + "".join(LETTERS[n] for n in node["letters"]) + '"')
                else:
                    numbers[i], inner = inner, inner + 1
            roots.append(str(numbers[0]))
            nodes += [f"{{{node['feature']}, {node['threshold']}, {numbers[node['below']]}, {numbers[node['above']]}}}"
                      for node in tree.nodes if "letters" not in node]
        return array_text(f"ForestNode k{name}Nodes", nodes) + array_text(f"std::int16_t k{name}Roots", roots) + \
            array_text(f"std::string_view k{name}Leaves", leaves)


def array_text(declaration, items):
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > 106:
            lines.append("")
        lines[-1] += f" {item},"
    return f"constexpr {declaration}[] = {{\n" + "\n".join("   " + line for line in lines) + "};\n"
