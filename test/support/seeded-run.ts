/** What the commands have in common that repeat one kind of step from a seed until enough were done, or one has failed. */
import { clearLine, readOptions, wholeNumber } from './command-line.js';

export interface SeededRun {
  /** How many steps were done. */
  readonly done: number;
  /** Does so many more; throws when something is wrong. */
  run(steps: number): void;
  /** Looks for what must hold after the last step. */
  end?(): void;
}

export interface SeededRunResult {
  readonly seed: number;
  readonly wanted: number;
  readonly seconds: number;
  readonly failure: Error | undefined;
}

export interface SeededRunCommand<R extends SeededRun> {
  readonly name: string;
  /** What a step is, in the plural; the option that says how many is called so. */
  readonly steps: string;
  readonly help: string;
  /** Steps between two looks at Ctrl-C. */
  readonly slice: number;
  /** Why it cannot run here, or undefined. */
  problem?(): string | undefined;
  start(seed: number): R;
  /** The summary, as text or as what becomes JSON. */
  text(run: R, result: SeededRunResult): string;
  json(run: R, result: SeededRunResult): object;
}

const PROGRESS_MS = 250;

export async function runSeeded<R extends SeededRun>(command: SeededRunCommand<R>): Promise<void> {
  const { name, steps, help, slice } = command;
  const options = readOptions(
    {
      [steps]: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    help,
  );
  if (options.help) {
    process.stdout.write(`${help}\n`);
    return;
  }
  const problem = command.problem?.();
  if (problem !== undefined) {
    process.stdout.write(`${name}: skipped, ${problem}\n`);
    return;
  }
  const wanted = wholeNumber(steps, String(options[steps]));
  const seed = wholeNumber('seed', options.seed);
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  // Looked at before the run counts descriptors: the first look opens one.
  const shows = process.stderr.isTTY;
  const run = command.start(seed);
  const startMs = performance.now();
  let shownMs = startMs;
  let failure: Error | undefined;
  try {
    while (run.done < wanted && !interruption.signal.aborted) {
      run.run(Math.min(slice, wanted - run.done));
      if (shows && performance.now() - shownMs > PROGRESS_MS) {
        shownMs = performance.now();
        process.stderr.write(`${clearLine()}${run.done.toLocaleString('en')} ${steps}`);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    run.end?.();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    failure = error;
  }
  process.stderr.write(clearLine());
  const result = { seed, wanted, seconds: (performance.now() - startMs) / 1000, failure };
  const summary = options.json ? JSON.stringify(command.json(run, result), null, 2) : command.text(run, result);
  process.stdout.write(`${summary}\n`);
  if (failure !== undefined) {
    const replay = `npm run ${name} -- --seed ${seed} --${steps} ${wanted}`;
    process.stderr.write(`FAILED: ${failure.stack ?? failure.message}\nreplay: ${replay}\n`);
    process.exitCode = 1;
  } else if (interruption.signal.aborted) {
    process.exitCode = 130;
  }
}
