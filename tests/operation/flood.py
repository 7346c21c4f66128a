"""Floods the inputs of a running pool with datagrams and prints what the pool notices.

    scripts/verify flood [--seconds N]     30 s for each input

Each input gets 100,000 datagrams a second from programs of this machine: junk, and messages that have to be decoded and are refused. Beside the
flood a tracker reports two visitors 60 times a second. Before and after, the same flood goes to an address that nothing reads, because the
senders alone already cost the processor its caches. Measured are the CPU time of the simulation, the memory, the counters, and the
time from a datagram to the observation. The senders need two processors of their own; on a smaller machine the rate is lower, and is printed.
"""

import argparse
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from installation import Failed, Installation

WANTED = 100_000
# Limits of the time of a tick, as a share of that while the flood goes elsewhere, and of the memory that is added.
CPU_LIMIT, MEMORY_LIMIT_MB = 1.05, 8


def osc(address, types="", *values):
    """Returns a message of OSC."""
    def text(value):
        data = value.encode() + b"\0"
        return data + b"\0" * (-len(data) % 4)
    data = text(address) + text("," + types)
    for kind, value in zip(types, values):
        data += text(value) if kind == "s" else struct.pack(">" + kind, value)
    return data


def bundle(*messages):
    """Returns a bundle of OSC."""
    return b"#bundle\0" + struct.pack(">Q", 1) + b"".join(struct.pack(">i", len(m)) + m for m in messages)


def tuio(frame, x):
    """Returns a frame of TUIO with two cursors."""
    name = "/tuio/2Dcur"
    visitors = [osc(name, "sifffff", "set", number, x, y, 0.0, 0.0, 0.0) for number, y in ((1, 0.3), (2, 0.7))]
    return bundle(osc(name, "ss", "source", "walker"), osc(name, "sii", "alive", 1, 2), *visitors, osc(name, "si", "fseq", frame))


def sacn(sequence):
    """Returns a packet of sACN for another universe than the one of the fixture."""
    data = b"\0\x10\0\0ASC-E1.17\0\0\0" + struct.pack(">HI", 0x7000 | 622, 4) + b"flooding senders" + struct.pack(">HI", 0x7000 | 600, 2)
    data += b"flood".ljust(64, b"\0") + bytes([100, 0, 0, sequence, 0, 0, 9]) + struct.pack(">H", 0x7000 | 523) + bytes([2, 0xA1, 0, 0, 0, 1])
    return data + struct.pack(">H", 513) + bytes(513)


def datagrams(kind):
    """Returns what an input is flooded with."""
    junk = [os.urandom(200) for _ in range(16)]
    return junk + {
        "tuio": [tuio(i, float("nan")) for i in range(16)],
        "osc": [osc("/shoal/scene", "s", f"none{i}") for i in range(16)],
        "sacn": [sacn(i) for i in range(16)],
    }[kind]


def send(kind, port, seconds):
    """Sends as many datagrams as wanted, or as it can, and prints their number."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(("127.0.0.1", port))
    inputs, begun, count = datagrams(kind), time.monotonic(), 0
    while (passed := time.monotonic() - begun) < seconds:
        for _ in range(max(0, min(500, int(WANTED * passed) - count))):
            try:
                sender.send(inputs[count % len(inputs)])
            except OSError:
                pass
            count += 1
        time.sleep(0.0005)
    print(count)


def walk(port, seconds):
    """Reports two visitors who walk, 60 times a second."""
    sender, begun, frame = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic(), 0
    while (passed := time.monotonic() - begun) < seconds:
        frame += 1
        sender.sendto(tuio(frame, 0.5 + 0.3 * abs(1.0 - passed % 20 / 10)), ("127.0.0.1", port))
        time.sleep(max(0.0, begun + frame / 60 - time.monotonic()))


def run(function, *arguments):
    """Starts a function of this file in a process of its own."""
    return subprocess.Popen([sys.executable, __file__, function, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def cpu_secs(pid, name):
    """Returns the CPU time of a thread."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    raise Failed(f"no thread {name}")


def memory_mb(pid):
    """Returns the resident memory."""
    return int((Path(f"/proc/{pid}/statm").read_text().split())[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def counters(status, kind):
    """Returns the numbers of received and refused datagrams of an input."""
    found = status["camera"]["tracker"] if kind == "tuio" else status[kind]
    return found["received"], found["refused"]


def measure(pool, seconds):
    """Returns CPU time per tick in milliseconds, memory and the latency after some seconds."""
    first, tick = cpu_secs(pool.process.pid, "simulation"), pool.status()["tick"]
    time.sleep(seconds)
    status = pool.status()
    cpu = cpu_secs(pool.process.pid, "simulation") - first
    latency = status["timing"]["frame_to_observation"]
    return 1e3 * cpu / (status["tick"] - tick), memory_mb(pool.process.pid), latency, status


def verdict(quiet, flooded, after):
    """Prints whether the pool noticed the flood. The pool itself changes, so the time of a tick is compared with that before and after."""
    (before, base), (kind, sent, tick, memory, is_counted) = quiet, flooded
    share = 2 * tick / (before + after)
    is_good = share <= CPU_LIMIT and memory <= base + MEMORY_LIMIT_MB and is_counted
    print(f"verify: flood of {kind} | wanted tick CPU ≤ {CPU_LIMIT:.2f}, memory ≤ +{MEMORY_LIMIT_MB} MB | "
          f"got {share:.2f}, {memory - base:+.1f} MB at {sent:.0f}/s | {'ok' if is_good else 'short'}", flush=True)


def main():
    """Measures all inputs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    seconds = parser.parse_args().seconds
    ports, unread = {}, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    unread.bind(("127.0.0.1", 0))
    for kind in ("tuio", "osc", "sacn"):
        free = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        free.bind(("127.0.0.1", 0))
        ports[kind] = (free, free.getsockname()[1])
    for free, _ in ports.values():
        free.close()
    ports = {kind: port for kind, (_, port) in ports.items()}
    site = f'[remote.osc]\nlisten = "127.0.0.1:{ports["osc"]}"\n[remote.sacn]\nlisten = "127.0.0.1:{ports["sacn"]}"\n'
    with Installation(site, camera=f"tuio:{ports['tuio']}") as pool:
        walker = run("walk", ports["tuio"], 9e9)
        try:
            pool.wait(lambda: len(pool.status()["tracks"]) == 2, "two visitors")
            time.sleep(5)
            print(f"{'flooded':8} {'sent/s':>9} {'received':>9} {'refused':>9} {'tick CPU':>9} {'memory':>9}  datagram → observation")
            quiet = flooded = None
            for kind in (None, "tuio", None, "osc", None, "sacn", None):
                begun = pool.status()
                sender = run("send", kind or "tuio", ports[kind] if kind else unread.getsockname()[1], seconds)
                tick, memory, latency, status = measure(pool, seconds)
                sent = int(sender.communicate()[0]) / seconds
                received, refused = (0, 0) if not kind else [b - a for a, b in zip(counters(begun, kind), counters(status, kind))]
                print(f"{kind or 'nothing':8} {sent:9.0f} {received:9} {refused:9} {tick:6.3f} ms {memory:6.1f} MB  "
                      f"p50 {latency['p50_ms']:.2f} ms, p99 {latency['p99_ms']:.2f} ms, {len(status['tracks'])} visitors", flush=True)
                if kind:
                    flooded = kind, sent, tick, memory, received > 0 and refused > 0
                    continue
                if quiet:
                    verdict(quiet, flooded, tick)
                quiet = tick, memory
        finally:
            walker.terminate()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["send", kind, port, seconds]:
            send(kind, int(port), float(seconds))
        case ["walk", port, seconds]:
            walk(int(port), float(seconds))
        case _:
            main()
