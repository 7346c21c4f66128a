"""Runs the program for a long time under random disturbances and prints what it uses.

    scripts/verify soak [--minutes N]            30 minutes of random camera faults, edits, panel clients, scenes and states
    scripts/verify soak --ticks N [--minutes N]  N accelerated ticks with visitors, without a picture, in at most so many minutes

Both print a table of memory, threads, descriptors and disk over time, and say whether they are flat: the median of the last
third must not exceed the median of the third before it by more than a few percent.
"""

import argparse
import base64
import http.client
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from installation import SCENE, SHOAL, SITE, Failed, Installation, Skipped, edit

SCENES = ["pool", "reef", "cascade", "koi", "lagoon", "nursery", "plankton", "molecules"]
MODES = ["black", "frozen", "stalled", "saturated", "end", "damaged", "short", "wrong_size", "flapping"]
SITE_TEXT = """[[outputs]]
width_px = 320
height_px = 180
[counting]
on = true
file = "counts.sqlite"
[schedule]
time_zone = "Europe/Berlin"
clock = "machine"
"""
EDITS = [
    edit(SITE, "camera.latency_ms", 40.0),
    edit(SITE, "look.exposure", "bright"),
    edit(SCENE, "look.exposure", 1.1),
    edit(SCENE, "population.trout", 9),
    edit(SCENE, "population.shrk", 9),
    {"command": "director", "event": {"event": "calm"}},
    {"command": "director", "event": {"event": "pace", "factor": 3.0}},
    {"command": "director", "event": {"event": "pace", "factor": 1.0}},
    {"command": "undo"},
    {"command": "redo"},
    {"command": "undo"},
    {"command": "save"},
    {"command": "keep_incident"},
]


class Panel:
    """A client of the panel with the rights of its owner."""

    def __init__(self, pool):
        _, found = pool.wait(lambda: re.search(r"http://(127\.0\.0\.1):(\d+)", pool.log()), "the address of the panel", 20)
        self.address = (found[1], int(found[2]))
        code = re.search(r"setup code: (\S+)", pool.log())[1]
        self.cookie = ""
        status, headers, _ = self.request("POST", "/api/v1/setup", {"code": code, "password": "a long password of a test"})
        if status != 200:
            raise Failed(f"the panel refuses the setup code: {status}")
        self.cookie = headers.get("Set-Cookie", "").split(";")[0]

    def request(self, method, path, body=None):
        """Sends one request."""
        connection = http.client.HTTPConnection(*self.address, timeout=20)
        headers = {"Content-Type": "application/json"} | ({"Cookie": self.cookie} if self.cookie else {})
        try:
            connection.request(method, path, body=json.dumps(body) if body else None, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def watch(self):
        """Opens a stream with everything in it, and returns the socket."""
        stream = socket.create_connection(self.address, timeout=10)
        key = base64.b64encode(os.urandom(16)).decode()
        host = f"{self.address[0]}:{self.address[1]}"
        stream.sendall(
            f"GET /api/v1/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nCookie: {self.cookie}\r\n\r\n".encode()
        )
        if b" 101 " not in stream.recv(4096):
            raise Failed("the stream of the panel is refused")
        wish = json.dumps({"subscribe": ["status", "events", "agents", "tracks", "camera", "output/0"]}).encode()
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(wish))
        stream.sendall(bytes([0x81, 0x80 | len(wish)]) + mask + masked)
        stream.settimeout(0.01)
        return stream


def used(processes, folders):
    """Returns memory in MB, threads and descriptors of Shoal's own processes, and the disk in MB."""
    memory = threads = descriptors = count = 0
    for process in processes:
        try:
            if Path(f"/proc/{process}/exe").resolve() != Path(SHOAL).resolve():
                continue
            status = Path(f"/proc/{process}/status").read_text()
            memory += int(re.search(r"VmRSS:\s+(\d+)", status)[1])
            threads += int(re.search(r"Threads:\s+(\d+)", status)[1])
            descriptors += len(os.listdir(f"/proc/{process}/fd"))
            count += 1
        except (OSError, TypeError):
            pass
    disk = sum(f.stat().st_size for folder in folders for f in folder.rglob("*") if f.is_file())
    return memory / 1024, threads, descriptors, disk / 1e6, count


def flat(samples):
    """Says for each column whether it is flat. Returns the texts and whether all are."""
    third = max(1, len(samples) // 3)
    texts, is_flat = [], True
    for name, column, share, step in (("memory", 1, 0.05, 8), ("threads", 2, 0.0, 3), ("descriptors", 3, 0.0, 8)):
        middle = statistics.median(row[column] for row in samples[third : 2 * third] or samples)
        last = statistics.median(row[column] for row in samples[-third:])
        ok = last <= middle * (1 + share) + step
        is_flat &= ok
        texts.append(f"{name} {middle:.0f} -> {last:.0f}{'' if ok else ' GROWS'}")
    return ", ".join(texts), is_flat


def print_row(row):
    """Prints one line of the table."""
    print("| " + " | ".join(f"{value:.1f}" if isinstance(value, float) else str(value) for value in row) + " |", flush=True)


class Disturber:
    """Does one random thing after the other."""

    def __init__(self, pool, panel, seed):
        self.pool, self.panel, self.random = pool, panel, random.Random(seed)
        self.done, self.streams, self.repaired_at = {}, [], 0.0
        self.refused = 0

    def step(self):
        """Does one thing."""
        now = time.monotonic()
        if self.repaired_at and now > self.repaired_at:
            self.pool.set_mode("good")
            self.repaired_at = 0.0
        name = self.random.choice(["camera", "edit", "edit", "scene", "state", "request", "request", "stream", "metrics"])
        self.done[name] = self.done.get(name, 0) + 1
        getattr(self, name)(now)
        for stream in self.streams[:]:
            try:
                while stream.recv(65536):
                    pass
            except TimeoutError:
                pass
            except OSError:
                self.streams.remove(stream)
        while len(self.streams) > 3:
            self.streams.pop(0).close()

    def camera(self, now):
        """A fault of the camera for 3 to 25 s."""
        if not self.repaired_at:
            self.pool.set_mode(self.random.choice(MODES))
            self.repaired_at = now + self.random.uniform(3, 25)

    def send(self, command):
        """Sends a command and counts the answer."""
        is_applied, _ = self.pool.send(command)
        name = "applied" if is_applied else "rejected"
        self.done[name] = self.done.get(name, 0) + 1

    def edit(self, _):
        """A command, valid or not."""
        self.send(self.random.choice(EDITS))

    def scene(self, _):
        """Another scene."""
        self.send({"command": "switch_scene", "name": self.random.choice(SCENES)})

    def state(self, _):
        """Another state of the show; mostly the planned one, in which the picture is drawn."""
        self.pool.ctl(self.random.choice(["dark", "closed", "open", "attract", "plan", "plan", "plan"]))

    def request(self, _):
        """A request to the panel."""
        paths = ["/healthz", "/api/v1/status", "/api/v1/schedule", "/api/v1/documents", "/api/v1/camera.jpg", "/api/v1/output/0.jpg"]
        paths += ["/api/v1/events?after=0&limit=500", "/api/v1/log?after=0&level=info", "/api/v1/backup", "/", "/nothing"]
        status, _, _ = self.panel.request("GET", self.random.choice(paths))
        # 503: there is no picture at the moment.
        self.refused += status >= 500 and status != 503

    def metrics(self, _):
        """What Prometheus does."""
        status, _, _ = self.panel.request("GET", "/metrics")
        self.refused += status != 200

    def stream(self, _):
        """A page that shows everything."""
        self.streams.append(self.panel.watch())


def wall_clock(minutes, seed):
    """Random disturbances for some minutes."""
    if not shutil.which("Xvfb"):
        raise Skipped("Xvfb is not installed")
    with subprocess.Popen(
        ["Xvfb", "-screen", "0", "640x360x24", "-displayfd", "1", "-noreset", "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as screen:
        try:
            display = f":{int(screen.stdout.readline())}"
            return disturbed(minutes, seed, display)
        finally:
            screen.kill()


def disturbed(minutes, seed, display):
    """The same, on a display."""
    options = ("--windowed", "--panel", "local", "--keep-incidents", "{folder}/incidents")
    with Installation(site=SITE_TEXT, options=options, env={"DISPLAY": display}) as pool:
        pool.wait(lambda: pool.log().count("picture: outputs[0]"), "the picture", 120)
        panel = Panel(pool)
        disturber = Disturber(pool, panel, seed)
        begun = time.monotonic()
        due = begun + 30
        samples, last_tick, problems = [], pool.status()["tick"], 0
        restarts = set()
        print("| minute | memory MB | threads | descriptors | disk MB | processes | ticks/s | faults |")
        print("|---|---|---|---|---|---|---|---|")
        while time.monotonic() - begun < 60 * minutes:
            try:
                disturber.step()
            except (OSError, Failed, subprocess.TimeoutExpired) as problem:
                problems += 1
                print(f"problem: {type(problem).__name__}: {problem}", flush=True)
            if pool.process.poll() is not None:
                raise Failed(f"the program ended with {pool.process.returncode}: {pool.log()[-500:]}")
            if time.monotonic() >= due:
                status = pool.status() or {}
                now = time.monotonic()
                seconds = 30 + now - due
                memory, threads, descriptors, disk, count = used(pool.processes(), [pool.folder, pool.outside])
                ticks = status.get("tick", 0)
                row = ((now - begun) / 60, memory, threads, descriptors, disk, count, (ticks - last_tick) / seconds)
                samples.append(row)
                print_row((*row, ", ".join(f["name"] for f in status.get("faults", []))))
                last_tick, due = ticks, now + 30
                restarts.add(sum(stage["restarts"] for stage in status.get("stages", [])))
            time.sleep(disturber.random.uniform(0.2, 2.0))
        text, is_flat = flat(samples)
        log = pool.log()
        late = log.count("simulation_late")
        per_day = pool.log_path.stat().st_size * 1440 / minutes
        print(f"disturbances {disturber.done}; refused requests {disturber.refused}; problems {problems}; restarts of stages {max(restarts)}")
        print(f"log {pool.log_path.stat().st_size} bytes, {per_day / 1e6:.2f} MB a day; panics {log.count('panicked')}; late {late}")
        is_well = is_flat and not disturber.refused and not log.count("panicked")
        print(f"verify: {minutes} minutes of disturbances | wanted flat | got {text} | {'ok' if is_well else 'short'}")
        return is_well


def accelerated(ticks, scene, minutes):
    """Ticks as fast as the machine can, with the memory of the process. Ends early after some minutes."""
    command = [SHOAL, "simulate", "--scene", scene, "--visitors", "walkers", "--seconds", str(ticks / 60)]
    command += ["--every", "1000", "--out", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        samples, begun, due, count = [], time.monotonic(), 0.0, 0
        print("| million ticks | memory MB | threads | descriptors | ticks/s |")
        print("|---|---|---|---|---|")
        for line in process.stdout:
            count += 1000
            now = time.monotonic()
            if now >= due:
                json.loads(line)
                memory, threads, descriptors, _, _ = used([process.pid], [])
                samples.append((count / 1e6, memory, threads, descriptors, count / max(now - begun, 0.1)))
                print_row(samples[-1])
                due = now + max(5.0, 0.05 * (now - begun))
            if now - begun > 60 * minutes:
                process.kill()
                break
        code = process.wait()
    text, is_flat = flat(samples)
    is_well = is_flat and code in (0, -9)
    print(f"verify: {count / 1e6:.2f} million ticks of {scene} | wanted flat | got {text} | {'ok' if is_well else 'short'}")
    return is_well


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ticks", type=float)
    parser.add_argument("--scene", default="pool")
    given = parser.parse_args()
    try:
        if given.ticks:
            is_well = accelerated(given.ticks, given.scene, given.minutes or 600)
        else:
            is_well = wall_clock(given.minutes or 30, given.seed)
    except Skipped as reason:
        print(f"SKIPPED: {reason}")
        is_well = True
    except Failed as problem:
        print(f"verify: soak | wanted flat | got {problem} | short")
        is_well = False
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
