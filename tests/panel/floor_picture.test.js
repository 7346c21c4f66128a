// The picture below the map: where a place on the floor is in the picture of an output.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromUnitSquare, shownCorners } from "../../src/panel/assets/editor/floor_picture.js";

const DEFAULT = { top_left: { x: 0, y: 0 }, top_right: { x: 1, y: 0 }, bottom_right: { x: 1, y: 1 }, bottom_left: { x: 0, y: 1 } };
const WHOLE = { left: 0, top: 0, right: 1, bottom: 1 };
const near = (point, [x, y]) => assert.ok(Math.hypot(point.x - x, point.y - y) < 1e-9, `${point.x} ${point.y} instead of ${x} ${y}`);

test("without a keystone, the surface keeps its proportions in the middle of the picture", () => {
  const corners = shownCorners({ crop: WHOLE, corners: DEFAULT }, [4, 3], 16 / 9);
  near(corners[0], [0.125, 0]);
  near(corners[2], [0.875, 1]);
  near(fromUnitSquare(corners)(0.5, 0.5), [0.5, 0.5]);
});

test("a keystone moves the places as the projector does", () => {
  const corners = { ...DEFAULT, top_left: { x: 0.2, y: 0.1 }, top_right: { x: 0.8, y: 0.1 } };
  const at = fromUnitSquare(shownCorners({ crop: WHOLE, corners }, [4, 3], 4 / 3));
  near(at(0, 0), [0.2, 0.1]);
  near(at(1, 0), [0.8, 0.1]);
  near(at(1, 1), [1, 1]);
  near(at(0, 1), [0, 1]);
  // The middle of the floor lies where the diagonals of the picture cross.
  near(at(0.5, 0.5), [0.5, 0.4375]);
});
