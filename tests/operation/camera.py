"""A camera program for the measurements: y4m on standard output, with the fault that a file names at the moment.

    python3 camera.py FILE      FILE contains one word: good, black, frozen, stalled, saturated, wrong_size, damaged, short, end,
                                brief (ends after 2 s), or flapping (good and black in turn). A missing file is `good`.

One visitor walks to and fro, so that Shoal has something to see. The frames are noisy, like those of a real camera.
"""

import os
import sys
import time

WIDTH, HEIGHT, FPS = 160, 120, 30
FLOOR, DARK, NOISE = 150, 40, 7


def noisy(level, noise):
    """One row of pixels around a level."""
    return bytes(min(255, max(0, level + (byte % NOISE) - NOISE // 2)) for byte in noise)


def main():
    mode_file = sys.argv[1]
    out = os.fdopen(1, "wb", buffering=0)
    rows = [noisy(FLOOR, os.urandom(WIDTH)) for _ in range(256)]
    dark = [noisy(DARK, os.urandom(WIDTH)) for _ in range(256)]

    def mode():
        try:
            with open(mode_file, encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            return "good"

    wide = WIDTH + 32 if mode() == "wrong_size" else WIDTH
    out.write(f"YUV4MPEG2 W{wide} H{HEIGHT} F{FPS}:1 Cmono\n".encode())
    number, kept, due = 0, None, time.monotonic()
    while True:
        now = mode()
        if now == "stalled":
            time.sleep(0.1)
            continue
        if now == "end" or (now == "brief" and number >= 2 * FPS) or (now == "wrong_size") != (wide != WIDTH):
            return
        # A visitor of 14 pixels who walks over the floor in 12 s and stays away for 3 s.
        phase = (number / FPS) % 15.0
        left = int((WIDTH + 20) * phase / 12.0) - 10
        frame = bytearray()
        for y in range(HEIGHT):
            row = rows[(number * 31 + y * 7) % 256]
            if phase < 12.0 and 40 <= y < 80 and -14 < left < WIDTH:
                shade = dark[(number * 17 + y * 5) % 256]
                begin, end = max(left, 0), min(left + 14, WIDTH)
                row = row[:begin] + shade[begin:end] + row[end:]
            frame += row + row[: wide - WIDTH]
        kept = kept if now == "frozen" and kept else bytes(frame)
        if now == "black" or (now == "flapping" and number % 2):
            frame = bytes(len(frame))
        elif now == "saturated":
            frame = b"\xff" * len(frame)
        elif now == "frozen":
            frame = kept
        if now == "damaged":
            out.write(b"GARBAGE \x00\xfe" * 40)
        elif now == "short":
            out.write(b"FRAME\n" + bytes(frame[: len(frame) // 2]))
            time.sleep(0.5)
        else:
            out.write(b"FRAME\n" + bytes(frame))
        number += 1
        due = max(due + 1.0 / FPS, time.monotonic() - 0.2)
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
