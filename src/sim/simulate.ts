import { runtime } from '../api/runtime/index.js';
import { invalid, objectProblem, refuse, show, VerbsError } from '../api/verbs/index.js';
import { onNoMachine } from './ambient.js';
import { formatUs } from './capture.js';
import { checkFields } from './packet.js';
import { Sim, SIM_OPTIONS, type SimOptions } from './sim.js';

/** What {@link simulate} takes. */
export interface SimulateOptions extends SimOptions {
  /** Runs with that many seeds, one after the other, from `seed` on. Default: 1. */
  readonly seeds?: number;
}

/** A test, or what else is to be simulated. */
export type Scenario<T> = (sim: Sim) => T | Promise<T>;

const CALL = 'simulate';
const TRACE_PACKETS = 10;

/**
 * Runs a test in a simulation, while whose promises are awaited virtual time passes. Whatever is left of it in the end
 * vanishes, so that nothing has to be closed.
 *
 * When it fails, the error says by which seed the run is repeated, and which packets were the last; VERBENA_SEED=N in the
 * environment runs with that seed only, unless `seed` alone says another. VERBENA_PCAP names a file for the packets of each
 * run; those of the first that fails stay there.
 *
 * @example
 * ```ts
 * test('a lost ACK', () =>
 *   simulate(async (sim) => {
 *     const [server, client] = [sim.host('server'), sim.host('client')];
 *     sim.drop({ opcode: 'RC_ACKNOWLEDGE', nth: 1 });
 *   }));
 * ```
 * @returns what the test gives; of several seeds, what the last one gave
 * @throws whatever the test throws; StalledError when it waits for what will never come; Error when a rule (`sim.drop` and
 *   its like) was never met
 */
export function simulate<T>(scenario: Scenario<T>): Promise<T>;
export function simulate<T>(options: SimulateOptions, scenario: Scenario<T>): Promise<T>;
export async function simulate<T>(first: SimulateOptions | Scenario<T>, second?: Scenario<T>): Promise<T> {
  const scenario = typeof first === 'function' ? first : second;
  const options = typeof first === 'function' ? {} : first;
  refuse(CALL, objectProblem('options', options));
  checkFields(CALL, 'options', options, [...SIM_OPTIONS, 'seeds']);
  if (typeof scenario !== 'function')
    throw new VerbsError(CALL, invalid(`there is no function but ${show(scenario)}`, 'It takes a Sim'));
  const [firstSeed, ...others] = seedsOf(options);
  const { seeds: _, ...same } = options;
  let result = await runOnce({ ...same, seed: firstSeed }, scenario);
  for (const seed of others) result = await runOnce({ ...same, seed }, scenario);
  return result;
}

function seedsOf({ seed, seeds = 1 }: SimulateOptions): [number, ...number[]] {
  if (!Number.isInteger(seeds) || seeds < 1)
    throw new VerbsError(CALL, invalid(`seeds is ${show(seeds)}`, 'It is how many seeds to run with'));
  const asked = runtime().environment('VERBENA_SEED') ?? '';
  // Sim checks its value. A test that names one seed gets that one; VERBENA_SEED selects one of many.
  if ((seed === undefined || seeds > 1) && asked !== '') return [Number(asked)];
  const first = seed ?? 1;
  return [first, ...Array.from({ length: seeds - 1 }, (_, i) => first + i + 1)];
}

/** Files with the packets of a run that failed, which the next run is not to write over. */
const kept = new Set<string>();

async function runOnce<T>(options: SimOptions, scenario: Scenario<T>): Promise<T> {
  using sim = new Sim(options);
  const run = async (): Promise<T> => onNoMachine(() => scenario(sim));
  try {
    const result = await sim.until(run());
    requireMet(sim);
    record(sim);
    return result;
  } catch (error) {
    const capture = record(sim);
    if (capture !== '') kept.add(capture);
    throw withCircumstances(error, sim, capture);
  }
}

/** @returns where the packets were written; empty when nobody wants them, or those of another run are to stay */
function record(sim: Sim): string {
  const path = runtime().environment('VERBENA_PCAP') ?? '';
  return path === '' || kept.has(path) ? '' : sim.writeCapture(path);
}

/** A rule that was never met would have a test pass that has shown nothing. */
function requireMet({ unmetRules }: Sim): void {
  if (unmetRules.length === 0) return;
  const rules = unmetRules.map(
    ({ description, matched }) => `  ${description}${matched === 0 ? '' : ` (${matched} came)`}`,
  );
  throw new Error(`no packet ever came for:\n${rules.join('\n')}\nWhat need not happen is marked by optional: true.`);
}

/** The same error, whose message says how to see it again. It stays of its class, for those who show it. */
function withCircumstances(error: unknown, sim: Sim, capture: string): unknown {
  if (!(error instanceof Error)) return error;
  const trace = sim.trace(TRACE_PACKETS).replace(/^/gm, '  ');
  const file = capture === '' ? '' : ` All packets are in ${capture}.`;
  const seen = trace.trim() === '' ? ' No packet was sent.' : ` The last packets:\n${trace}`;
  const text = `\n\nSimulated with seed ${sim.seed}, up to ${formatUs(sim.nowUs)}; VERBENA_SEED=${sim.seed} repeats it.${file}${seen}`;
  const { message, stack } = error;
  try {
    error.message = message + text;
    if (stack !== undefined) error.stack = stack.replace(message, () => message + text);
  } catch {
    // An error that cannot be changed is thrown as it is.
  }
  return error;
}
