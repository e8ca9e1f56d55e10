"""The report on a trained classifier: calibration, confusion and the points it is least sure of."""

import numpy as np
import train

BINS = 5


def calibration(probabilities, labels):
    """Mean probability and share of the second class, by bins of the probability."""
    edges = np.linspace(0, 1, BINS + 1)
    rows = []
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (probabilities >= low) & (probabilities < high)
        if inside.any():
            rows.append((probabilities[inside].mean(), labels[inside].mean(), int(inside.sum())))
    return rows


def confusion(probabilities, labels):
    table = np.zeros((2, 2), dtype=int)
    for guess, truth in zip(probabilities > 0.5, labels):
        table[int(truth), int(guess)] += 1
    return table


def least_sure(probabilities, points, k=3):
    order = np.argsort(np.abs(probabilities - 0.5))[:k]
    return [tuple(np.round(points[i], 2)) for i in order]


def lines(model, points, labels):
    """The report, line by line."""
    probabilities = train.predict(model, points)
    probabilities = probabilities.cpu().numpy()
    labels = labels.numpy()
    yield f"accuracy {(labels == (probabilities > 0.5)).mean():.2f}"
    yield f"confusion {confusion(probabilities, labels).tolist()}"
    for mean, share, count in calibration(probabilities, labels):
        yield f"said {mean:.2f}, was {share:.2f} ({count} points)"
    yield f"least sure of {least_sure(probabilities, points.numpy())}"


def check_baseline():
    """What an untrained network is worth: run this file by itself."""
    points, labels = train.spirals(50)
    for line in lines(train.SpiralNet(), points, labels):
        print(line)


if __name__ == "__main__":
    check_baseline()
