/** When the messages of a run were posted and when they had completed, in order; milliseconds. */
export interface Times {
  readonly posted: Float64Array;
  /** Only where one completed with an entry, which stands for those before it as well; 0 elsewhere. */
  readonly completed: Float64Array;
  readonly count: number;
}

/**
 * The fastest stretch of a run, as milliseconds a message: of all stretches from when a message was posted to when a later
 * one had completed, the least time divided by the messages in it.
 *
 * With the times of posting as points over their numbers, that is the flattest line from one of them up to a completion,
 * and it ends on the upper hull of the points, so it is found without looking at every pair.
 */
export function fastestMs({ posted, completed, count }: Times): number {
  const hull = new Int32Array(count);
  let size = 0;
  let least = Infinity;
  for (let j = 0; j < count; j += 1) {
    while (size > 1 && isBelow(posted, hull[size - 2], hull[size - 1], j)) size -= 1;
    hull[size] = j;
    size += 1;
    if (completed[j] !== 0) least = Math.min(least, flattest(posted, hull, size, j + 1, completed[j]));
  }
  return least;
}

/** Whether the middle one of three points is on or below the line through the others. */
function isBelow(posted: Float64Array, left: number, middle: number, right: number): boolean {
  const rise = posted[right] - posted[left];
  return (posted[middle] - posted[left]) * (right - left) <= rise * (middle - left);
}

/** Along the hull the slope up to a later point falls and then rises; finds where it is least. */
function flattest(posted: Float64Array, hull: Int32Array, size: number, at: number, time: number): number {
  const slope = (i: number): number => (time - posted[hull[i]]) / (at - hull[i]);
  let low = 0;
  let high = size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (slope(middle) > slope(middle + 1)) low = middle + 1;
    else high = middle;
  }
  return slope(low);
}
