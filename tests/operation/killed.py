"""Kills the running program at random moments and looks at what is left on the disk.

    scripts/verify killed [ROUNDS]      default: 30 rounds

Each round runs `shoal run` with counted visitors, a logged session and a recording, edits and saves the site again and again, and
ends the program with SIGKILL. Then every file is read as its user reads it: the site with `shoal check`, the counts with `shoal
visitors`, the session with `shoal simulate --session`, the recording with `shoal track`. Nothing older than a second may be missing.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from faults import COUNTING, arrivals
from installation import SCENE, SHOAL, Failed, Installation, edit

# What the disk may lack: a second, and what a busy machine takes to write it.
LOST_MAX_SECS = 1.5


def run(*words):
    """Runs a command of Shoal."""
    return subprocess.run([SHOAL, *words], capture_output=True, text=True, timeout=300, check=False)


class Saver(threading.Thread):
    """Edits and saves the site until the program is gone."""

    def __init__(self, pool):
        super().__init__(daemon=True)
        self.pool, self.saved, self.tried, self.saves = pool, None, None, 0
        self.start()

    def run(self):
        for number in range(1, 100_000):
            self.tried = round(1.0 + (number % 40) / 100, 2)
            try:
                is_saved, _ = self.pool.send(edit(SCENE, "look.exposure", self.tried), {"command": "save"})
            except (OSError, Failed, subprocess.TimeoutExpired):
                return
            if not is_saved:
                return
            self.saves += 1
            self.saved = self.tried


def exposure_on_disk(pool):
    """Returns the value of the saved scene; None if the scene was not saved yet."""
    path = pool.folder / "scenes/pool.toml"
    if not path.exists():
        return None
    for line in path.read_text().splitlines():
        if line.startswith("exposure"):
            return float(line.split("=")[1].split("#")[0])
    return None


def one_round(number, chance):
    """Runs, kills and checks. Returns the seconds that were missing at the end of session and recording."""
    kept = Path(tempfile.mkdtemp(prefix="shoal-killed-"))
    options = ("--headless", "--log-session", f"{kept}/session", "--record", f"{kept}/walk.y4m")
    try:
        with Installation(site=COUNTING, options=options, alerts=False) as pool:
            saver = Saver(pool)
            counted_before = 0
            until = time.monotonic() + chance.uniform(4.0, 14.0)
            status = pool.status()
            while time.monotonic() < until:
                counted_before = arrivals(pool)
                status = pool.status() or status
                time.sleep(chance.uniform(0.0, 0.3))
            tick, frames, asked = status["tick"], status["camera"]["frames"], time.monotonic()
            for process in reversed(pool.processes()):
                os.kill(process, signal.SIGKILL)
            pool.process.wait()
            after_status = time.monotonic() - asked
            saver.join(30)
            problems = []
            checked = run("check", str(pool.site))
            if checked.returncode:
                problems.append(f"the site: {checked.stdout[-200:]}{checked.stderr[-200:]}")
            found = exposure_on_disk(pool)
            if found not in (saver.saved, saver.tried):
                problems.append(f"the scene has exposure {found}, saved was {saver.saved}, tried {saver.tried}")
            counted = arrivals(pool)
            if counted < counted_before:
                problems.append(f"{counted_before} counted arrivals became {counted}")
            replayed = run("simulate", "--session", f"{kept}/session")
            if replayed.returncode:
                problems.append(f"the session: {replayed.stderr[-300:]}")
            last = json.loads(last_whole_line(kept / "session/log.jsonl"))
            lost_session = (tick - last.get("tick", 0)) / 60 + 0.0
            video = next(kept.glob("walk.y4m*"))
            video = video.rename(kept / "left.y4m")
            tracked = run("track", "--camera", f"file:{video}", "--fast", "--out", f"{kept}/tracks.jsonl")
            lines = (kept / "tracks.jsonl").read_text().splitlines() if tracked.returncode == 0 else []
            if not lines:
                problems.append(f"the recording: {tracked.stderr[-300:]}")
            lost_frames = (frames - len(lines)) / 30
            for what, lost in (("session", lost_session), ("recording", lost_frames)):
                if lost > LOST_MAX_SECS:
                    problems.append(f"{lost:.1f} s of the {what} are missing")
            print(
                f"| {number} | {tick / 60:.1f} s | {saver.saves} | {counted} | {max(0.0, lost_session):.2f} s | {max(0.0, lost_frames):.2f} s | "
                f"{after_status:.2f} s | {'; '.join(problems) or 'whole'} |",
                flush=True,
            )
            return problems
    finally:
        shutil.rmtree(kept, ignore_errors=True)


def last_whole_line(path):
    """Returns the last line with a tick that ends with a line feed."""
    text = path.read_bytes()
    lines = text[: text.rfind(b"\n")].split(b"\n")
    return next(line for line in reversed(lines) if b'"tick":' in line)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    chance = random.Random(7)
    print("| round | killed after | saves | arrivals | session lacks | recording lacks | time from the last status to the kill | files |")
    print("|---|---|---|---|---|---|---|---|")
    broken = 0
    for number in range(1, rounds + 1):
        try:
            broken += bool(one_round(number, chance))
        except (Failed, OSError, ValueError, StopIteration) as problem:
            broken += 1
            print(f"| {number} | {type(problem).__name__}: {problem} |", flush=True)
    print(f"verify: killed {rounds} times | wanted all files whole, at most {LOST_MAX_SECS} s missing | got {broken} broken | {'short' if broken else 'ok'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
