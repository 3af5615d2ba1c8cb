import type { Actor } from './actor.js';
import { rightCalls } from './right-calls.js';
import type { Stray } from './stray.js';
import { wrongCalls } from './wrong-calls.js';

const strays: readonly Stray[] = [...rightCalls, ...wrongCalls];
const steps = strays.filter(({ legal }) => legal === 'lone' || legal === 'everybody');

function isPlayed(stray: Stray, actor: Actor, choice: number): boolean {
  if (stray.fits?.(actor) === false) return false;
  if (actor.refusal(stray.call, stray.wrong?.(actor, choice)) !== undefined) return true;
  if (stray.legal === 'lone') return actor.role === 'lone';
  return stray.legal === 'everybody' || (stray.legal === 'rough' && !actor.world.calm);
}

/**
 * The stray call that 32 bits of a plan stand for. Every other of them is one that may be right, or for who has no peer one
 * that gets it on.
 */
export function strayFor(actor: Actor, which: number): Stray {
  const choice = choiceOf(which);
  const sensible = actor.role === 'lone' ? steps : rightCalls;
  const list = which % 2 === 0 ? sensible : strays;
  const first = (which >>> 1) % list.length;
  for (let i = 0; i < list.length; i += 1) {
    const stray = list[(first + i) % list.length];
    if (isPlayed(stray, actor, choice)) return stray;
  }
  throw new Error(`no stray call for ${actor.toString()}`);
}

/** @throws Error when there is none of that name */
export function strayNamed(name: string): Stray {
  const stray = strays.find((one) => one.name === name);
  if (stray === undefined) throw new Error(`no stray call is named ${name}`);
  return stray;
}

export function choiceOf(which: number): number {
  return which >>> 16;
}
