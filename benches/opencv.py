"""CPU time of OpenCV for the same steps up to blobs, on one thread: background model, threshold, morphology, labeling.

    python3 benches/opencv.py WIDTH HEIGHT

`cargo bench --bench vision` runs this script and prints its figure next to the figure of Shoal. The script needs
opencv-python-headless and numpy.
"""
import sys, time
import cv2, numpy as np

width, height = int(sys.argv[1]), int(sys.argv[2])
cv2.setNumThreads(1)
random = np.random.default_rng(1)
floor = np.clip(random.normal(130, 6, (height, width)), 0, 255)
background = floor.astype(np.float32)
open_kernel, close_kernel = np.ones((3, 3), np.uint8), np.ones((5, 5), np.uint8)
grow_kernel = np.ones((9, 9), np.uint8)
free = np.full((height, width), 255, np.uint8)
frames = []
for i in range(20):
    frame = np.clip(floor + random.normal(0, 2, floor.shape), 0, 255).astype(np.uint8)
    for k in range(3):
        at = (int(width * (0.2 + 0.28 * k + 0.005 * i)), int(height * (0.3 + 0.2 * k)))
        cv2.ellipse(frame, at, (height // 6, height // 14), 30 * k, 0, 360, 15, -1)
    frames.append(frame)
times = []
for i in range(200):
    frame = frames[i % len(frames)]
    start = time.process_time()
    limit = cv2.convertScaleAbs(background, alpha=0.6)
    shadow = cv2.compare(frame, limit, cv2.CMP_LT)
    shadow = cv2.morphologyEx(shadow, cv2.MORPH_OPEN, open_kernel)
    shadow = cv2.morphologyEx(shadow, cv2.MORPH_CLOSE, close_kernel)
    free = cv2.bitwise_not(cv2.dilate(shadow, grow_kernel))
    cv2.accumulateWeighted(frame, background, 0.01, mask=free)
    count, labels, stats, centers = cv2.connectedComponentsWithStats(shadow, connectivity=8)
    contours, _ = cv2.findContours(shadow, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    times.append(1000 * (time.process_time() - start))
times.sort()
print(f"OpenCV {cv2.__version__} {width}x{height}, up to blobs and outlines, without tracking: "
      f"{times[100]:.2f} / {times[197]:.2f} ms CPU p50 / p99 per frame ({count - 1} blobs)")
