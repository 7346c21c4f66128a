"""A simulated capture worker. Its mode defines how it fails or violates the protocol of src/camera/pipe.rs.

usage: worker.py MODE STARTS_FILE ...
Each start appends a line to STARTS_FILE: process id, time in seconds, further arguments.
"""

import json
import os
import struct
import sys
import time

mode, starts_file = sys.argv[1], sys.argv[2]
rest = sys.argv[3:]
with open(starts_file, "a") as starts:
    starts.write(f"{os.getpid()} {time.monotonic()} {' '.join(rest)}\n")
start_number = len(open(starts_file).readlines())
out = sys.stdout.buffer
WIDTH, HEIGHT = 8, 4


def header(kind, length, sequence=0, bits=8, width=WIDTH, height=HEIGHT):
    timestamp = time.monotonic_ns()
    return b"shc1" + struct.pack("<BBHQQIIII", kind, bits, 0, sequence, timestamp, width, height, length, 0)


def send(**message):
    text = json.dumps(message).encode()
    out.write(header(2, len(text), bits=0, width=0, height=0) + text)
    out.flush()


def ready(width=WIDTH, controls=()):
    send(message="ready", device="/dev/video9", stable_source="v4l2:bus card", card="card", format="GREY",
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


if mode == "good":
    ready()
    frames()
elif mode == "twelve_bits":
    ready()
    frames(bits=12)
elif mode == "gaps":
    ready()
    for sequence in range(0, 50, 5):
        frame(sequence)
    time.sleep(1000)
elif mode == "stall":
    ready()
    if start_number > 1:
        frames()
    for sequence in range(3):
        frame(sequence)
    time.sleep(1000)
elif mode == "silent":
    time.sleep(1000)
elif mode == "exit":
    sys.exit("no luck today")
elif mode == "garbage":
    if start_number > 1:
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
elif mode == "incomplete":
    ready()
    out.write(header(1, WIDTH * HEIGHT) + b"ten bytes.")
    out.flush()
elif mode == "frame_before_ready":
    frames()
elif mode == "other_size":
    ready()
    frame(0)
    out.write(header(1, WIDTH * HEIGHT * 4, 1, width=WIDTH * 2, height=HEIGHT * 2) + bytes(WIDTH * HEIGHT * 4))
    out.flush()
    time.sleep(1000)
elif mode == "smaller_next_time":
    ready(width=WIDTH if start_number != 2 else WIDTH // 2)
    if start_number > 1:
        frames()
    frame(0)
elif mode == "short":
    ready()
    for sequence in range(5):
        send(message="fault", kind="short_frames", detail="a frame has 3 bytes")
        frame(sequence)
    frames()
elif mode == "frozen":
    ready()
    if start_number <= 2:
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
    if start_number < 3:
        send(message="fault", kind="absent", detail="no camera 'x' is connected; connected cameras: none")
        sys.exit(1)
    ready(controls=[
        {"name": "gain", "requested": 9, "actual": 9, "reason": None},
        {"name": "exposure", "requested": 300, "actual": 255, "reason": None},
    ])
    frames()
elif mode == "list":
    send(message="probing", device="/dev/video0")
    send(message="camera", source="v4l2:a b", device="/dev/video0", nokhwa_source=None, card="b", bus="a", driver="d",
         formats=[], controls=[], problem=None)
    send(message="probing", device="/dev/video1")
    time.sleep(1000)
else:
    sys.exit(f"unknown mode {mode}")
