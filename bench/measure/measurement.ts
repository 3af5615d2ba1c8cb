/** What a measurement gives, and how much time it may take. */

const LOOK_MS = 10;

export interface Effort {
  readonly stretches: number;
  readonly stretchMs: number;
  /** Before that, for as long as the code takes to become quick. */
  readonly warmUpMs: number;
}

/** Messages that are sent and come back. */
export interface EchoTask {
  readonly bytes: number;
  /** How long nothing is done before each. */
  readonly restMs: number;
  readonly effort: Effort;
}

/** How many of all measured times lie below, in µs: half of them, 99 %, 99.9 %. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Samples of one figure, with what else was seen on the way. */
export interface Measurement {
  readonly samples: readonly number[];
  readonly percentiles?: Percentiles;
  /** Processor time of all processes that took part, in ns for each byte that was moved. */
  readonly cpuNsPerByte?: number;
}

/** Has `work` done again and again, in stretches. @returns what it makes of each stretch's milliseconds and units */
export function measure(
  { stretches, stretchMs, warmUpMs }: Effort,
  /** Does some units of work, and says how many. */
  work: () => number,
  figure: (milliseconds: number, units: number) => number,
): number[] {
  const samples: number[] = [];
  for (let stretch = -1; stretch < stretches; stretch += 1) {
    const begun = performance.now();
    const lengthMs = stretch < 0 ? warmUpMs : stretchMs;
    let now = begun;
    let units = 0;
    while (now - begun < lengthMs) {
      units += work();
      now = performance.now();
    }
    if (stretch >= 0) samples.push(figure(now - begun, units));
  }
  return samples;
}

/** The same for work that is awaited. */
export async function measureAwaited(
  { stretches, stretchMs, warmUpMs }: Effort,
  work: () => Promise<number>,
  figure: (milliseconds: number, units: number) => number,
): Promise<number[]> {
  const samples: number[] = [];
  for (let stretch = -1; stretch < stretches; stretch += 1) {
    const begun = performance.now();
    const lengthMs = stretch < 0 ? warmUpMs : stretchMs;
    let now = begun;
    let units = 0;
    while (now - begun < lengthMs) {
      units += await work();
      now = performance.now();
    }
    if (stretch >= 0) samples.push(figure(now - begun, units));
  }
  return samples;
}

/** How often a second all of several loops are done, each of which goes on until it is told that it is over. */
export async function measureLoops(
  effort: Effort,
  workers: number,
  /** Does some units of work, and says how many. */
  work: (worker: number) => Promise<number>,
): Promise<readonly number[]> {
  let isOver = false;
  let done = 0;
  const loops = Array.from({ length: workers }, async (_, worker) => {
    while (!isOver) {
      const units = await work(worker);
      // Not in one step: others count meanwhile.
      done += units;
    }
  });
  let before = 0;
  const since = async (): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const some = done - before;
    before = done;
    return some;
  };
  const samples = await measureAwaited(effort, since, (milliseconds, units) => (units * 1000) / milliseconds);
  isOver = true;
  await Promise.all(loops);
  return samples;
}

/** A measurement that several rows share: it is made when the first of them asks. */
export function once<T>(measurement: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= measurement());
}

/** A figure that another program finds the median of; asked for again and again, so that its spread is seen as well. */
export async function repeat(times: number, measurement: () => Promise<number>): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < times; i += 1) samples.push(await measurement());
  return samples;
}
