import type { Goal } from '../judge.js';
import type { Knowledge } from '../knowledge.js';
import type { Testbed } from '../testbed.js';

/** What somebody knows and may do beforehand. */
export const KNOWERS = ['stranger', 'witness', 'guest', 'key holder'] as const;
export type Knower = (typeof KNOWERS)[number];

/** What each of them is, for people. */
export const knowerWords: Readonly<Record<Knower, string>> = {
  stranger: 'sends from any address, reads nothing',
  witness: 'has seen packets go by, and sends them again',
  guest: 'is connected, and has no key',
  'key holder': 'is connected, and has keys that open little',
};

export interface Attack {
  readonly name: string;
  readonly knower: Knower;
  /** What it would come to; and does, when the knowledge is an insider's. */
  readonly goal: Goal;
  /** How often it is tried, beside others. Those that few bits stand against are tried less: luck is no fault. */
  readonly weight?: number;
  readonly fire: (testbed: Testbed, knowledge: Knowledge) => void;
}
