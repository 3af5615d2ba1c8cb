import { QpState } from '../../../../device/ibta/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Actor } from './actor.js';
import type { IdState } from './automaton.js';
import { checkCalm } from './calm.js';
import { Client } from './client.js';
import { LoneActor } from './lone-actor.js';
import type { Host } from './host.js';
import { Member } from './member.js';
import type { CmRun } from './run.js';
import { Server } from './server.js';

const hasNoPeer = (actor: Actor): boolean => actor instanceof LoneActor || actor instanceof Member;

/** In which states an identifier may be left when nothing happens any more, and who has to do with it then. */
const RESTS: Readonly<Partial<Record<IdState, (actor: Actor) => boolean>>> = {
  idle: () => true,
  bound: hasNoPeer,
  listening: hasNoPeer,
  found: hasNoPeer,
  routed: hasNoPeer,
  up: () => true,
  over: () => true,
  removed: ({ host }) => !host.up,
  destroyed: () => true,
  // Its program never answers.
  asked: (actor) => actor instanceof Server && actor.plan.answer === 'never',
  answered: (actor) => actor instanceof Client && actor.plan.confirm === 'never',
  left: ({ plan }) => plan.end.answer === 'ignore',
};

/** What must hold when nothing happens any more. */
export function checkQuiescence(run: CmRun): void {
  for (const actor of run.actors) {
    if (actor.host.fate === 'dead') continue;
    check(RESTS[actor.state]?.(actor) === true, () => `${actor.toString()} is stuck`);
    checkQp(actor, run.plan.calm);
  }
  if (run.plan.calm) checkCalm(run);
}

/** The queue pair of a connection is in RTS as long as that is up, and in ERR afterwards. */
function checkQp({ qp, state, plan, space, host }: Actor, calm: boolean): void {
  if (qp === undefined || plan.external || space === 'UDP' || !host.up) return;
  const { qpState } = qp.query().attr;
  const live = state === 'up' || state === 'left';
  // What cannot be delivered ends a queue pair before its connection.
  const allowed: readonly QpState[] = !live
    ? [QpState.ERR]
    : calm && state === 'up'
      ? [QpState.RTS]
      : [QpState.RTS, QpState.ERR];
  check(
    state === 'idle' || allowed.includes(qpState),
    () => `the queue pair of an identifier that is ${state} is in state ${qpState}`,
  );
}

/** Every message that was sent was counted once, and in calm every one that was sent arrived. */
export function checkCounters({ plan, programs, sent }: CmRun): void {
  // What a device sent that is gone now, nobody counts any more.
  if (plan.disasters.some(({ kind }) => kind !== 'partition')) return;
  const counters = programs.map(({ inside }) => inside.counters);
  const sum = (name: string): number => counters.reduce((total, one) => total + (one[name] ?? 0), 0);
  for (const [name, count] of sent) {
    const low = name.toLowerCase();
    const counted = sum(`cm_tx_msgs_${low}`) + sum(`cm_tx_retries_${low}`);
    check(counted === count, () => `${count} ${name} were sent, ${counted} were counted`);
    const received = sum(`cm_rx_msgs_${low}`);
    const nowhere = plan.clients.some(({ target }) => target === 'nowhere');
    if (plan.calm && !nowhere) check(received === count, () => `${count} ${name} were sent, ${received} came`);
  }
  check(sum('cm_rx_malformed') === 0, () => `${sum('cm_rx_malformed')} messages were not understood`);
}

export function checkNothingLeft({ inside, up, address }: Host): void {
  if (!up) return;
  const { identifiers, connections, timers } = inside.holdings;
  check(
    identifiers === 0 && connections === 0 && timers === 0,
    () => `${address} still has ${identifiers} identifiers, ${connections} connections, ${timers} timers`,
  );
}
