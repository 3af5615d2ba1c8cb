import type { ErrnoName } from '../../../../entry/index.js';
import type { Actor } from './actor.js';
import type { IdCall } from './automaton.js';

/** A call that a program has no reason for. */
export interface Stray {
  readonly name: string;
  readonly call: IdCall;
  /** What is to be refused about it in a state that allows the call. */
  readonly wrong?: (actor: Actor, choice: number) => ErrnoName | undefined;
  /** Who makes it where it is not refused: nobody; who has no peer; everybody where peers may come to grief; everybody. */
  readonly legal: 'nobody' | 'lone' | 'rough' | 'everybody';
  readonly fits?: (actor: Actor) => boolean;
  readonly act: (actor: Actor, choice: number) => void;
}

export const GROUPS = { 4: '239.7.7.7', 6: 'ff15::7' } as const;

export const hasNoQp = ({ id }: Actor): boolean => id.qp === undefined;
export const hasQp = ({ id }: Actor): boolean => id.qp !== undefined;
export const familyOf = ({ host }: Actor): 4 | 6 => (host.address.includes(':') ? 6 : 4);
export const here = ({ host: { address } }: Actor, port = 0) => ({ host: address, port });
