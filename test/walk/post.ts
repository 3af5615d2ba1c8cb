import { MwType, nameOf, QpState, QpType, WrOpcode } from '../../src/entry/index.js';
import { someQp, upHosts } from './choices.js';
import { receiversOf } from './datagrams.js';
import { consider, hostAt, isAligned, isReliable, mayBeMalformed, mayEndPeer, TAKES, targetOf } from './judge.js';
import { supply } from './receives.js';
import { windowOf } from './rights.js';
import type { QpRecord, SendRecord } from './things.js';
import { draftRequest } from './work-requests.js';
import type { World } from './world.js';

export interface Draft {
  readonly request: SendRecord;
  readonly post: () => void;
}

/** What a program that looks before it posts thinks of, until one can go well. */
const THOUGHTS = 5;
/** Receive requests that those in a group have ready. */
const GROUP_CREDIT = 4;

/** Some requests to a QP that is ready. */
export function post(world: World): void {
  const { random } = world;
  const ready = upHosts(world).flatMap(({ qps }) => qps.filter(({ seenState }) => seenState === QpState.RTS));
  // Of those that die of a mistake there would be too few otherwise.
  const reliable = ready.filter(({ type }) => isReliable(type));
  const qp =
    (random.chance(world.character.datagrams ? 0.3 : 0.8) ? world.pick(reliable) : undefined) ?? world.pick(ready);
  if (qp === undefined) return;
  const count = random.chance(0.5) ? random.between(2, 8) : 1;
  for (let i = 0; i < count; i += 1) postOne(world, qp);
}

/** One to a QP that may not be ready at all. */
export function postAnywhere(world: World): void {
  const qp = someQp(world);
  if (qp !== undefined) postOne(world, qp);
}

/** Posts one request to a QP. @returns false when it was refused, or there was none to post */
export function postOne(world: World, qp: QpRecord): boolean {
  const { random, character } = world;
  const hasty = random.chance(character.haste);
  for (let left = hasty ? 1 : THOUGHTS; left > 0; left -= 1) {
    const draft = draftRequest(world, qp, hasty);
    if (draft === undefined) continue;
    if (hasty || isPromising(world, draft.request)) return submit(world, draft);
  }
  return false;
}

/** Whether a request can go well as things are now. A receive request that it lacks is posted. */
function isPromising(world: World, request: SendRecord): boolean {
  const { qp, binds } = request;
  if (request.group !== undefined) {
    for (const host of upHosts(world))
      for (const member of receiversOf(host, request)) supply(world, member.srq ?? member, GROUP_CREDIT);
  } else if (TAKES.has(request.opcode)) {
    const target = targetOf(world, request);
    const before = qp.sends.filter(({ opcode }) => TAKES.has(opcode)).length;
    const behind = target?.srq === undefined ? before : before + 1;
    if (target !== undefined && !supply(world, target.srq ?? target.qp, behind + 1) && isReliable(qp.type))
      return false;
  }
  // Of a window of which something is outstanding nobody knows what it will be bound to.
  if (binds?.window.type === MwType.TYPE_2 && binds.window.pending.size > 0) return false;
  consider(world, request);
  // What does not fit together is found out by trying.
  const doubtful = request.wild
    ? world.random.chance(0.7)
    : request.couldNotLocal || mayBeMalformed(request) || mayEndPeer(request);
  // Once it is posted, all of it is considered again.
  request.pieces.length = 0;
  request.remotes.length = 0;
  return !doubtful;
}

/** Posts a request, which the queue must take when it can, and notes it. */
function submit(world: World, { request, post: call }: Draft): boolean {
  const { qp } = request;
  const { poster, life } = qp;
  if (poster === undefined) return false;
  const { state } = poster;
  const early = state === QpState.RESET || state === QpState.INIT || state === QpState.RTR;
  const expected =
    early || !isAligned(request) ? ['EINVAL'] : qp.sends.length >= poster.cap.maxSendWr ? ['ok', 'ENOMEM'] : ['ok'];
  const key = request.remote === undefined ? '' : `, key 0x${request.remote.rkey.toString(16)}`;
  const what = `${qp.name} posts request ${request.wrId}, ${nameOf(WrOpcode, request.opcode)} of ${request.lengthBytes} bytes${key}${extraOf(request)}`;
  world.attempt(what, expected, call);
  if (!world.done) return false;
  world.counts.requests += 1;
  request.tooLate = state === QpState.SQE;
  request.index = life.posted;
  life.posted += 1;
  if (TAKES.has(request.opcode)) {
    request.messageIndex = life.messages.length;
    life.messages.push(request);
  }
  qp.sends.push(request);
  if (qp.type === QpType.UD || (qp.type === QpType.UC && TAKES.has(request.opcode))) world.datagrams.push(request);
  world.live.add(request);
  notePending(world, request);
  world.considerOne(request);
  world.hopes.add(request);
  return true;
}

function extraOf({ binds, invalidates, signalled }: SendRecord): string {
  const hex = (key: number): string => `0x${key.toString(16)}`;
  const quiet = signalled ? '' : ', unsignalled';
  if (binds !== undefined) {
    const { window, binding } = binds;
    return `${quiet}, window ${hex(binding.rkey)} of type ${window.type} to ${hex(binding.region?.api.rkey ?? 0)}`;
  }
  return invalidates === undefined ? quiet : `${quiet}, closes ${hex(invalidates)}`;
}

/** From now on a key may be closed, or a window bound. */
function notePending(world: World, request: SendRecord): void {
  const { binds, invalidates, opcode, qp } = request;
  if (binds !== undefined) {
    request.epoch = binds.window.epoch;
    binds.window.pending.add(request);
    binds.window.possible.add(binds.binding);
  }
  if (invalidates === undefined) return;
  const host = opcode === WrOpcode.LOCAL_INV ? qp.host : hostAt(world, qp.life.peerAddress);
  if (host === undefined) return;
  const window = windowOf(host, invalidates);
  if (window?.type !== MwType.TYPE_2) return;
  request.epoch = window.epoch;
  window.pending.add(request);
}
