# SPDX-License-Identifier: MIT
"""Forests of decision trees whose leaves hold the expected loss at each of several candidates. A tree divides the
samples so that the sum of the least losses of its leaves becomes small."""
import heapq

import numba
import numpy as np

UNKNOWN = -32768  # a feature that is not known
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWabcdefghijklmnopqrs"
LOSS_UNIT = 16 / (len(LETTERS) - 1) ** 2  # of noise_features.h, in dB


def numbers_of_letters(losses):
    return np.minimum(np.round(np.sqrt(np.maximum(losses, 0) / LOSS_UNIT)), len(LETTERS) - 1).astype(int)


class Samples:
    """Features [sample, feature], losses in dB [sample, candidate], weights, and the recordings as numbers from 0."""
    def __init__(self, features, losses, weights, recordings):
        self.features, self.losses, self.weights, self.recordings = features, losses, weights, recordings

    def chosen(self, index):
        return Samples(*(each[index] for each in (self.features, self.losses, self.weights, self.recordings)))


@numba.njit(cache=True)
def best_division(features, weighted, recordings, index, trials, least):
    """The trial (feature, two places in `index`, a coin) whose division has the least sum of both parts' least
    losses, with its threshold, of those with at least `least` recordings in both parts. `weighted`: losses times weights."""
    total = np.zeros(weighted.shape[1])
    for i in index:
        total += weighted[i]
    best, best_cost, best_threshold = -1, np.inf, 0
    seen = np.full((2, recordings.max() + 1), -1)
    for trial in range(len(trials)):
        feature = trials[trial, 0]
        one, other = features[index[trials[trial, 1]], feature], features[index[trials[trial, 2]], feature]
        if one == other:
            continue
        one, other = min(one, other), max(one, other)
        # Unknown features are apart from all others in half of the trials.
        threshold = (one + other) // 2 if one > UNKNOWN else UNKNOWN if trials[trial, 3] else other - 1
        sums = np.zeros_like(total)
        counts = np.zeros(2, np.int64)
        for i in index:
            is_above = 1 if features[i, feature] > threshold else 0
            if seen[is_above, recordings[i]] != trial:
                seen[is_above, recordings[i]] = trial
                counts[is_above] += 1
            if not is_above:
                sums += weighted[i]
        cost = sums.min() + (total - sums).min()
        if counts.min() >= least and cost < best_cost:
            best, best_cost, best_threshold = trial, cost, threshold
    return best, best_cost, best_threshold


class Tree:
    def __init__(self, samples, generator, leaves, tries, least_recordings):
        self.samples, self.generator, self.tries, self.least = samples, generator, tries, least_recordings
        self.weighted = samples.losses * samples.weights[:, None]
        self.nodes, self.waiting = [], []
        self._add(np.arange(len(samples.weights)))
        while self.waiting and len(self.nodes) < 2 * leaves - 1:
            _, number, (feature, threshold, below, above) = heapq.heappop(self.waiting)
            self.nodes[number] = {"feature": feature, "threshold": threshold, "below": len(self.nodes),
                                  "above": len(self.nodes) + 1}
            self._add(below)
            self._add(above)
        del self.samples, self.weighted

    def _add(self, index):
        sums = self.weighted[index].sum(0)
        trials = np.stack([self.generator.integers(most, size=self.tries)
                           for most in (self.samples.features.shape[1], len(index), len(index), 2)], -1)
        best, cost, threshold = best_division(self.samples.features, self.weighted, self.samples.recordings, index,
                                              trials, self.least)
        if best >= 0 and sums.min() - cost > 1e-9:
            is_below = self.samples.features[index, trials[best, 0]] <= threshold
            division = int(trials[best, 0]), int(threshold), index[is_below], index[~is_below]
            heapq.heappush(self.waiting, (cost - sums.min(), len(self.nodes), division))
        self.nodes.append({"letters": numbers_of_letters(sums / self.samples.weights[index].sum())})

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
        """The forest as the arrays of a Forest of noise_features.h."""
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
        if len(lines[-1]) + len(item) > 400:
            lines.append("")
        lines[-1] += f" {item},"
    return f"constexpr {declaration}[] = {{\n" + "\n".join("   " + line for line in lines) + "};\n"
