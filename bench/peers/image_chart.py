#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bar chart of what compare_images.py measured: images per second of each loader, and ours.

    python3 bench/peers/image_chart.py results/images-python.json >docs/images.svg

Bars of ours are the median of all its runs; those of others are that divided by their ratio, which was
measured in turn. Standard library only.
"""
import html
import json
import pathlib
import statistics
import sys

NAMES = {"torchvision": "PyTorch DataLoader, torchvision (PIL)", "torchcodec": "DataLoader, torchcodec",
         "torchvision-v2": "DataLoader, torchvision decode_jpeg", "simplejpeg": "DataLoader, simplejpeg",
         "dali": "DALI on the CPU", "spdl": "SPDL", "webdataset": "webdataset", "ffcv": "FFCV",
         "tf.data": "tf.data, fused crop"}
OURS = "feedrate.torch.DataLoader"
COLORS = {"float32": ("#1f6feb", "#9ec5ff"), "uint8": ("#8250df", "#d8b9ff")}  # ours, others
LEFT, BAR, GAP, WIDTH, SCALE = 270, 13, 10, 760, 420


def rates(forms):
    """{loader: {form: images/s}}, the fastest first."""
    found = {OURS: {}}
    for form, rivals in forms.items():
        rivals = {name: one for name, one in rivals.items() if name in NAMES and "ratios" in one}
        ours = statistics.median(run["images_per_s"] for one in rivals.values() for run in one["ours"])
        found[OURS][form] = ours
        for name, one in rivals.items():
            found.setdefault(NAMES[name], {})[form] = ours / one["ratios"]["images_per_s"]["median"]
    return dict(sorted(found.items(), key=lambda item: -max(item[1].values())))


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'


def chart(result):
    found = rates(result["forms"])
    longest = max(rate for forms in found.values() for rate in forms.values())
    lines, y = [], 58
    for name, forms in found.items():
        weight = 'font-weight="bold"' if name == OURS else ""
        lines.append(text(LEFT - 10, y + len(forms) * BAR / 2 + 4, name, "end", weight))
        for form, rate in forms.items():
            length = SCALE * rate / longest
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="{BAR - 1}" '
                         f'fill="{COLORS[form][name != OURS]}"/>')
            lines.append(text(round(LEFT + length) + 6, y + BAR - 3, f"{rate:,.0f}"))
            y += BAR
        y += GAP
    for i, form in enumerate(result["forms"]):
        words = {"float32": "float32, normalised", "uint8": "uint8"}[form]
        lines.append(f'<rect x="{LEFT + 170 * i}" y="32" width="12" height="12" fill="{COLORS[form][0]}"/>')
        lines.append(text(LEFT + 170 * i + 18, 42, words))
    title = f"Images per second, {result['machine']['cpus']} cores, {result['images']:,} JPEG files"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
        'font-family="sans-serif" font-size="12" fill="#1f2328">', f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>',
        text(LEFT, 20, title, more='font-size="14" font-weight="bold"'), *lines, "</svg>"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[2].strip())
    print(chart(json.loads(pathlib.Path(sys.argv[1]).read_text())))
