"""Compares `shoal visitors` with the truth of rendered scenes: the number of visits, and their mean duration.

    python3 tests/operation/counts.py SCENE_FOLDER...

Each folder is an output of the tool ir-scene: walk.y4m, truth.jsonl, markers.csv, scene.json. The scene is calibrated with its
markers and played in real time through `shoal run`, and the counts are read from its file.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from installation import SHOAL, Failed, Installation

# A visitor who is away for longer comes again; a shorter visit does not count. As in `src/analytics`.
GONE_SECS, STAY_MIN_SECS = 10.0, 1.0


def true_visits(truth):
    """Returns the number of visits and their total duration."""
    times = {}
    for line in truth.read_text().splitlines():
        frame = json.loads(line)
        for visitor in frame["visitors"]:
            if visitor["on_surface"]:
                times.setdefault(visitor["id"], []).append(frame["time_secs"])
    visits = []
    for seen in times.values():
        first = last = seen[0]
        for secs in seen:
            if secs - last > GONE_SECS:
                visits.append(last - first)
                first = secs
            last = secs
        visits.append(last - first)
    visits = [secs for secs in visits if secs >= STAY_MIN_SECS]
    return len(visits), sum(visits)


def counted_visits(scene, folder):
    """Plays a scene and returns the counted number of visits and their total duration."""
    room = json.loads((scene / "scene.json").read_text())
    calibration = folder / "calibration.toml"
    command = [SHOAL, "calibrate", str(scene / "markers.csv"), "--camera-size", room["size"], "--surface", room["surface"]]
    done = subprocess.run([*command, f"--lamp={room['lamp']}", "--out", str(calibration)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{scene}: {done.stderr}")
    width, height = room["surface"].split("x")
    site = f"[counting]\non = true\nfile = \"counts.sqlite\"\n[surface]\nwidth_m = {width}\nheight_m = {height}\n"
    (folder / "site.toml").write_text(f'scene = "pool"\n[calibration]\nfile = "calibration.toml"\n{site}')
    with Installation(folder=folder, camera=f"file:{scene / 'walk.y4m'}") as pool:
        frames = room["seconds"] * room["fps"]
        begun = time.monotonic()
        pool.wait(lambda: pool.status()["camera"]["frames"] >= frames - 1, "the end of the scene", room["seconds"] * 3 + 30)
        took = time.monotonic() - begun
        if took > 1.15 * room["seconds"] + 2:
            raise Failed(f"left out: this machine played {room['seconds']:.0f} s in {took:.0f} s, so every stay is longer")
        skipped = pool.status()["camera"]["skipped"]
        # A visit ends ten seconds after its visitor was seen last.
        time.sleep(GONE_SECS + 5)
    done = subprocess.run([SHOAL, "visitors", str(folder / "site.toml"), "--csv"], capture_output=True, text=True, check=False)
    lines = [line.split(",") for line in done.stdout.splitlines()]
    if not lines:
        return 0, 0.0, skipped
    columns = {name: index for index, name in enumerate(lines[0])}
    arrivals = sum(int(line[columns["arrivals"]]) for line in lines[1:])
    stays = [(int(line[columns["departures"]]), float(line[columns["mean_stay_secs"]] or 0)) for line in lines[1:]]
    secs = sum(count * mean for count, mean in stays)
    return arrivals, secs, skipped


def main():
    totals = [0, 0.0, 0, 0.0]
    print("| scene | visits | counted | mean stay | counted | skipped frames |")
    print("|---|---|---|---|---|---|")
    for scene in map(Path, sys.argv[1:]):
        folder = Path(tempfile.mkdtemp(prefix="shoal-counts-"))
        try:
            count, secs = true_visits(scene / "truth.jsonl")
            got, got_secs, skipped = counted_visits(scene, folder)
        except Failed as problem:
            print(f"| {scene.name} | {problem} |", flush=True)
            continue
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        totals = [a + b for a, b in zip(totals, (count, secs, got, got_secs))]
        print(f"| {scene.name} | {count} | {got} | {secs / max(count, 1):.1f} s | {got_secs / max(got, 1):.1f} s | {skipped} |", flush=True)
    count, secs, got, got_secs = totals
    count_error = abs(got / max(count, 1) - 1) * 100
    stay_error = abs((got_secs / max(got, 1)) / (secs / max(count, 1)) - 1) * 100 if secs else 100.0
    print(f"verify: visits, {count} in truth | wanted <= 5 % | got {got}: {count_error:.1f} % | {'ok' if count_error <= 5 else 'short'}")
    print(f"verify: mean stay | wanted <= 10 % | got {stay_error:.1f} % | {'ok' if stay_error <= 10 else 'short'}")
    return 0 if count_error <= 5 and stay_error <= 10 else 1


if __name__ == "__main__":
    sys.exit(main())
