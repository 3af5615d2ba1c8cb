import { collector } from '../support/memory.js';
import { SimulationFailure } from '../sim/failure.js';
import { shrink } from './shrink.js';
import { actionOf } from './actions.js';
import { settle, takeApart } from './ending.js';
import { planWalk, type Step, type Walk } from './steps.js';
import { World } from './world.js';

export interface WalkFigures {
  readonly counts: Readonly<Record<string, number>>;
  readonly network: Readonly<Record<string, number>>;
  readonly virtualUs: number;
}

export interface WalkOptions {
  /** Called with a line for each packet and each call. */
  readonly trace?: (line: string) => void;
}

/** Of so many steps, before one all is collected that nobody holds. */
const STEPS_PER_COLLECTION = 256;
const collectGarbage = collector();

function take(world: World, step: Step): void {
  if (step.random % STEPS_PER_COLLECTION === 0) collectGarbage();
  if (step.waitUs > 0) world.pass(step.waitUs);
  world.begin(step);
  actionOf(step.kind)?.run(world);
  world.look();
  world.consider();
}

/**
 * Takes the steps of a walk, then lets everything come to an end.
 *
 * @throws SimulationFailure when something is not as the model has it, or whatever a call threw that it should not
 */
export function runWalk({ seed, steps }: Walk, { trace }: WalkOptions = {}): WalkFigures {
  const world = new World(seed);
  world.trace = trace;
  try {
    for (const step of steps) {
      trace?.(`step ${step.id}: ${step.kind}`);
      take(world, step);
    }
    world.begin({ id: steps.length + 1, random: seed });
    settle(world);
    takeApart(world);
  } catch (error) {
    if (error instanceof SimulationFailure) throw error;
    throw new SimulationFailure(
      `something threw: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  return {
    counts: { ...world.counts, ...world.statuses, steps: steps.length, packets: world.cluster.network.counts.sent },
    network: world.cluster.network.statistics(),
    virtualUs: world.nowUs,
  };
}

/** Of what led to a failure, so much is shown. */
const SHOWN_LINES = 60;
const BOUNDS = { maxRuns: 400, maxMs: 20_000 };

function problemOf(walk: Walk, options: WalkOptions = {}): string | undefined {
  try {
    runWalk(walk, options);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Plays the walk of a seed.
 *
 * @param only ids of the steps to take; default all
 * @throws SimulationFailure that tells of a shorter walk on which the same goes wrong, and what happened on it last
 */
export function runWalkSeed(
  seed: number,
  options: WalkOptions & { readonly only?: readonly number[] } = {},
): WalkFigures {
  const { trace, only } = options;
  const whole = planWalk(seed);
  const walk = only === undefined ? whole : { seed, steps: whole.steps.filter(({ id }) => only.includes(id)) };
  try {
    return runWalk(walk, options);
  } catch (error) {
    if (!(error instanceof SimulationFailure) || trace !== undefined) throw error;
    throw new SimulationFailure(explained(walk, error.message));
  }
}

function explained(walk: Walk, message: string): string {
  const found = shrink(walk, message, problemOf, BOUNDS);
  const { steps, seed } = found.walk;
  const lines: string[] = [];
  problemOf(found.walk, { trace: (line) => lines.push(line) });
  const left = Math.max(0, lines.length - SHOWN_LINES);
  return [
    message,
    `  ${steps.length} of ${walk.steps.length} steps suffice: ${steps.map(({ id, kind }) => `${id} ${kind}`).join(', ')}`,
    `  npm run sim -- --walk --seeds 1 --start ${seed} --steps ${steps.map(({ id }) => id).join(',')} --trace`,
    ...(left > 0 ? [`  (${left} lines before)`] : []),
    ...lines.slice(left).map((line) => `  | ${line}`),
    `  ${found.message}`,
  ].join('\n');
}
