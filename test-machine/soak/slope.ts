/** Whether something that was looked at again and again stays where it is. */

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** Growth per hour, by the straight line that lies nearest to the samples; 0 for fewer than three. */
export function slopePerHour(samples: readonly Sample[]): number {
  if (samples.length < 3) return 0;
  const meanAt = mean(samples.map(({ atMs }) => atMs));
  const meanValue = mean(samples.map(({ value }) => value));
  let above = 0;
  let below = 0;
  for (const { atMs, value } of samples) {
    above += (atMs - meanAt) * (value - meanValue);
    below += (atMs - meanAt) ** 2;
  }
  return below === 0 ? 0 : (above / below) * 3_600_000;
}

/** How much the last third of the samples has more than the first, by their medians: what a single peak does not change. */
export function growth(samples: readonly Sample[]): number {
  const third = Math.floor(samples.length / 3);
  if (third === 0) return 0;
  return median(samples.slice(-third)) - median(samples.slice(0, third));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(samples: readonly Sample[]): number {
  const values = samples.map(({ value }) => value).sort((a, b) => a - b);
  return values[values.length >> 1];
}
