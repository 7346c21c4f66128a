"""The crates that are linked into Shoal."""

import json
import os
import subprocess

TARGET = "x86_64-unknown-linux-gnu"


def linked_packages():
    """Returns the packages that the program with the features SHOAL_FEATURES contains, without those that only tests and builds need."""
    features = os.environ.get("SHOAL_FEATURES", "")
    text = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", TARGET,
         "--features", features],
        check=True, capture_output=True, text=True).stdout
    metadata = json.loads(text)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting, seen = [metadata["resolve"]["root"]], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for dep in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                waiting.append(dep["pkg"])
    root = metadata["resolve"]["root"]
    return sorted((packages[i] for i in seen if i != root), key=lambda p: (p["name"], p["version"]))
