"""A worker that misbehaves: speaks the pipe's protocol (src/camera/pipe.rs) as far as its mode wants it.

worker.py MODE STATE ...: STATE is a file to which every start appends a line with its process id and the time.
"""

import json
import os
import struct
import sys
import time

mode, state = sys.argv[1], sys.argv[2]
rest = sys.argv[3:]
with open(state, "a") as starts:
    starts.write(f"{os.getpid()} {time.monotonic()} {' '.join(rest)}\n")
start = len(open(state).readlines())
out = sys.stdout.buffer
WIDTH, HEIGHT = 8, 4


def header(kind, length, sequence=0, bits=8, width=WIDTH, height=HEIGHT):
    stamp = time.monotonic_ns()
    return b"shc1" + struct.pack("<BBHQQIIII", kind, bits, 0, sequence, stamp, width, height, length, 0)


def say(**message):
    text = json.dumps(message).encode()
    out.write(header(2, len(text), bits=0, width=0, height=0) + text)
    out.flush()


def ready(width=WIDTH, controls=()):
    say(tell="ready", device="/dev/video9", stable_source="v4l2:bus card", card="card", format="GREY",
        width_px=width, height_px=HEIGHT, fps=30.0, controls=list(controls), remarks=[])


def frame(sequence, level=None, bits=8):
    level = 40 + sequence % 150 if level is None else level
    size = WIDTH * HEIGHT
    levels = bytes([level, 200] * (size // 2)) if bits == 8 else struct.pack(f"<{size}H", *[level * 16] * size)
    out.write(header(1, len(levels), sequence, bits) + levels)
    out.flush()


def frames(first=0, pause=0.01, **how):
    sequence = first
    while True:
        frame(sequence, **how)
        sequence += 1
        time.sleep(pause)


if mode == "well":
    ready()
    frames()
elif mode == "deep":
    ready()
    frames(bits=12)
elif mode == "gaps":
    ready()
    for sequence in range(0, 50, 5):
        frame(sequence)
    time.sleep(1000)
elif mode == "stall":
    ready()
    if start > 1:
        frames()
    for sequence in range(3):
        frame(sequence)
    time.sleep(1000)
elif mode == "mute":
    time.sleep(1000)
elif mode == "die":
    sys.exit("no luck today")
elif mode == "garbage":
    if start > 1:
        ready()
        frames()
    out.write(b"hello, I am no camera at all, I only chat a little bit")
    out.flush()
    time.sleep(1000)
elif mode == "huge":
    ready()
    out.write(header(1, 0xFFFFFFFF, width=65535, height=65535))
    out.flush()
    time.sleep(1000)
elif mode == "huge_message":
    out.write(header(2, 0xFFFFFFFF))
    out.flush()
    time.sleep(1000)
elif mode == "cut":
    ready()
    out.write(header(1, WIDTH * HEIGHT) + b"ten bytes.")
    out.flush()
elif mode == "early":
    frames()
elif mode == "other_size":
    ready()
    frame(0)
    out.write(header(1, WIDTH * HEIGHT * 4, 1, width=WIDTH * 2, height=HEIGHT * 2) + bytes(WIDTH * HEIGHT * 4))
    out.flush()
    time.sleep(1000)
elif mode == "smaller_next_time":
    ready(width=WIDTH if start != 2 else WIDTH // 2)
    if start > 1:
        frames()
    frame(0)
elif mode == "short":
    ready()
    for sequence in range(5):
        say(tell="trouble", kind="short_frames", detail="a frame has 3 bytes")
        frame(sequence)
    frames()
elif mode == "frozen":
    ready()
    if start <= 2:
        frames(level=90)
    frames()
elif mode == "black":
    ready()
    out.write(b"")
    while True:
        out.write(header(1, WIDTH * HEIGHT) + bytes([16] * (WIDTH * HEIGHT)))
        out.flush()
        time.sleep(0.01)
elif mode == "absent":
    if start < 3:
        say(tell="trouble", kind="absent", detail="no camera 'x' is plugged in; there are: none")
        sys.exit(1)
    ready(controls=[
        {"name": "gain", "wanted": 9, "got": 9, "reason": None},
        {"name": "exposure", "wanted": 300, "got": 255, "reason": None},
    ])
    frames()
elif mode == "list":
    say(tell="probing", device="/dev/video0")
    say(tell="camera", source="v4l2:a b", device="/dev/video0", nokhwa_source=None, card="b", bus="a", driver="d",
        formats=[], controls=[], problem=None)
    say(tell="probing", device="/dev/video1")
    time.sleep(1000)
else:
    sys.exit(f"unknown mode {mode}")
