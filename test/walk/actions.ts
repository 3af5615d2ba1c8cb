import { illegalCall } from './illegal.js';
import { onHost, someQp } from './choices.js';
import { connect, destroyQp, modify, reconnect } from './connections.js';
import { changeSomeMembership } from './datagrams.js';
import { calm, crash, heal, partition, pause, resume, revive, weather } from './faults.js';
import { changeSrq } from './limits.js';
import { makeCq, makeHost, makeRegion, makeSrq, makeWindow, someAccess, somePd } from './makers.js';
import { deallocWindow, dereg, rereg, scribble } from './memory.js';
import { post, postAnywhere } from './post.js';
import { query } from './queries.js';
import { destroySomething, receive, resizeCq } from './queues.js';
import type { World } from './world.js';

/** Something that a walk does now and then. */
export interface Action {
  readonly kind: string;
  readonly weight: number;
  /** Whether it makes the network, or a host, worse than they should be. */
  readonly fault?: boolean;
  /** Whether it takes something away that others may use. */
  readonly upsets?: boolean;
  /** Without it a walk comes to nothing. */
  readonly vital?: boolean;
  readonly run: (world: World) => void;
}

/** Where the next host goes. */
function freeAddress(world: World): string {
  const { step, character } = world;
  return character.ipv6 ? `fd00::${step.id.toString(16)}` : `10.0.${step.id >> 8}.${step.id & 255}`;
}

export const actions: readonly Action[] = [
  { kind: 'host', weight: 0.1, run: (world) => void makeHost(world, freeAddress(world)) },
  { kind: 'connect', vital: true, weight: 3, run: connect },
  { kind: 'post', vital: true, weight: 30, run: post },
  { kind: 'post anywhere', weight: 2, run: postAnywhere },
  { kind: 'receive', vital: true, weight: 15, run: receive },
  { kind: 'scribble', weight: 5, run: scribble },
  {
    kind: 'register',
    weight: 3,
    run: onHost((world, host) => makeRegion(world, host, somePd(world, host), someAccess(world))),
  },
  { kind: 'rereg', upsets: true, weight: 1.5, run: rereg },
  { kind: 'dereg', upsets: true, weight: 1.5, run: dereg },
  { kind: 'window', weight: 2.5, run: onHost(makeWindow) },
  { kind: 'dealloc window', upsets: true, weight: 0.7, run: deallocWindow },
  { kind: 'modify', upsets: true, weight: 2.5, run: modify },
  { kind: 'reconnect', vital: true, weight: 8, run: reconnect },
  {
    kind: 'destroy QP',
    upsets: true,
    weight: 1,
    run: (world) => {
      const qp = someQp(world);
      if (qp !== undefined) destroyQp(world, qp);
    },
  },
  { kind: 'destroy', upsets: true, weight: 1.5, run: destroySomething },
  { kind: 'cq', weight: 0.5, run: onHost(makeCq) },
  { kind: 'resize CQ', weight: 1, run: resizeCq },
  { kind: 'srq', weight: 0.5, run: onHost((world, host) => makeSrq(world, host, world.random.chance(0.5))) },
  { kind: 'change SRQ', weight: 2.5, run: changeSrq },
  { kind: 'group', weight: 2, run: changeSomeMembership },
  { kind: 'query', weight: 1, run: query },
  { kind: 'illegal', weight: 3, run: illegalCall },
  { kind: 'poll', weight: 4, run: onHost((world, host) => world.drain(host)) },
  { kind: 'wait', weight: 5, run: (world) => world.pass(world.random.pick([5, 50, 500, 2000, 20_000])) },
  { kind: 'weather', weight: 2, fault: true, run: weather },
  { kind: 'calm', weight: 1.5, fault: true, run: calm },
  { kind: 'partition', weight: 1, fault: true, run: partition },
  { kind: 'heal', weight: 1.5, fault: true, run: heal },
  { kind: 'crash', weight: 0.5, fault: true, run: crash },
  { kind: 'pause', weight: 0.7, fault: true, run: pause },
  { kind: 'resume', weight: 1.5, fault: true, run: resume },
  { kind: 'revive', weight: 0.7, fault: true, run: revive },
];

const byKind = new Map(actions.map((action) => [action.kind, action]));

export function actionOf(kind: string): Action | undefined {
  return byKind.get(kind);
}
