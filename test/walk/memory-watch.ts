import { AccessFlags, QpState, QpType, type Sge, WrOpcode } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import type { Change } from './arena.js';
import { receiversOf } from './datagrams.js';
import { ATOMICS, fills, isReceptive, SENDS, type Surroundings, type Target, targetOf, WRITES } from './judge.js';
import { localPlaces, remoteVerdict } from './rights.js';
import type { HostRecord, Place, QpRecord, SendRecord } from './things.js';

/** Bytes before a datagram: the IP header, of which the model says nothing. */
export const HEADER_BYTES = 40;
/** Choices of atomics that are tried to explain one change. */
const MAX_CHOICES = 20_000;

/** Somebody who may have changed a piece of memory just now. */
interface Writer {
  readonly place: Place;
  /** Whether the byte that far into the piece may have become that. */
  readonly may: (offset: number, value: number) => boolean;
}

interface Adder {
  readonly place: Place;
  readonly request: SendRecord;
}

/** Whether byte `offset` of what a request sends had that value at some time since it was posted. */
export function mayBeSent(request: SendRecord, offset: number, value: number): boolean {
  if (request.inline !== undefined) return request.inline[offset] === value;
  return request.pieces.some((pieces) => {
    const at = byteOf(pieces, offset);
    return at?.arena.had(at.at, value, request.tick) === true;
  });
}

/** Where byte `offset` of a message lies, that is made of pieces. */
export function byteOf(pieces: readonly Place[], offset: number): { arena: Place['arena']; at: number } | undefined {
  let left = offset;
  for (const { arena, at, lengthBytes } of pieces) {
    if (left < lengthBytes) return { arena, at: at + left };
    left -= lengthBytes;
  }
  return undefined;
}

function mayHaveMade({ place, may }: Writer, at: number, value: number): boolean {
  return at >= place.at && at < place.at + place.lengthBytes && may(at - place.at, value);
}

export class MemoryWatch {
  constructor(
    private readonly world: Surroundings & { readonly live: ReadonlySet<SendRecord>; readonly tick: number },
  ) {}

  /** Looks for whoever may have made the changes. All arenas have been looked at. @throws SimulationFailure when there is nobody */
  explain(host: HostRecord, changes: readonly Change[]): void {
    const { writers, adders } = this.#suspects(host);
    // As a rule he who wrote a byte wrote the next one as well.
    let last: Writer | undefined;
    for (const change of changes) {
      const done = new Set<number>();
      for (let i = 0; i < change.after.length; i += 1) {
        const at = change.at + i;
        const value = change.after[i];
        if (change.before[i] === value || done.has(at)) continue;
        if (last !== undefined && mayHaveMade(last, at, value)) continue;
        const writer = writers.find((candidate) => mayHaveMade(candidate, at, value));
        if (writer !== undefined) {
          last = writer;
          continue;
        }
        const cells = new Set(adders.map(({ place }) => place.at).filter((cell) => at >= cell && at < cell + 8));
        const cell = [...cells].find((candidate) => this.#addUp(host, candidate, adders, writers));
        if (cell !== undefined) {
          for (let k = 0; k < 8; k += 1) done.add(cell + k);
          continue;
        }
        check(
          false,
          () =>
            `byte ${at} of ${host.address} changed from ${change.before[i]} to ${value}, and nobody may have done that: ` +
            `bytes ${change.at} to ${change.at + change.after.length - 1} changed`,
        );
      }
    }
  }

  #suspects(host: HostRecord): { writers: Writer[]; adders: Adder[] } {
    const writers: Writer[] = [];
    const adders: Adder[] = [];
    const { world } = this;
    for (const request of world.live) {
      if (fills(request) && request.qp.host === host && request.open) this.#addLanding(request, writers);
      if (request.qp.type === QpType.UD) {
        for (const qp of receiversOf(host, request)) {
          if (receptive(qp))
            addSend(request, { host, qp, pd: qp.pd, srq: qp.srq, recvs: qp.srq?.recvs ?? qp.recvs }, writers);
        }
        continue;
      }
      const target = targetOf(world, request);
      if (target?.host !== host || !receptive(target.qp)) continue;
      if (WRITES.has(request.opcode)) addWrite(request, target, writers);
      else if (ATOMICS.has(request.opcode)) addAtomic(request, target, adders);
      else if (SENDS.has(request.opcode)) addSend(request, target, writers);
    }
    return { writers, adders };
  }

  /** READs and atomics bring something home. */
  #addLanding(request: SendRecord, writers: Writer[]): void {
    const { qp, opcode } = request;
    const may = (state: QpState): boolean => state === QpState.RTS || state === QpState.SQD;
    if (!may(qp.seenState) && !may(qp.formerState)) return;
    let before = 0;
    for (const place of filled(qp.host, qp.pd, request.sges)) {
      const begin = before;
      before += place.lengthBytes;
      writers.push({
        place,
        may: (offset, value) =>
          opcode !== WrOpcode.RDMA_READ ||
          request.remotes.some(
            ({ arena, at, lengthBytes }) =>
              begin + offset < lengthBytes && arena.had(at + begin + offset, value, request.tick),
          ),
      });
    }
  }

  /** Whether atomics that are outstanding lead from what a cell held to what it holds. Notes which of them did. */
  #addUp(host: HostRecord, cell: number, adders: readonly Adder[], writers: readonly Writer[]): boolean {
    const before = host.arena.quadwordBefore(cell, this.world.tick);
    const after = host.arena.quadword(cell);
    const there = adders.filter(({ place, request }) => place.at === cell && !request.executed).map((a) => a.request);
    let choices = 0;
    const order: { request: SendRecord; found: bigint }[] = [];
    const search = (value: bigint): boolean => {
      if (value === after && order.length > 0) return true;
      if ((choices += 1) > MAX_CHOICES) return true;
      return there.some((request) => {
        if (order.some((taken) => taken.request === request)) return false;
        const next = applied(request, value);
        if (next === undefined) return false;
        order.push({ request, found: value });
        if (search(next)) return true;
        order.pop();
        return false;
      });
    };
    if (!search(before)) {
      // Of sums and copies that come together nobody can tell which came first.
      const mixed = writers.some(({ place }) => place.at < cell + 8 && cell < place.at + place.lengthBytes);
      for (const request of mixed ? there : []) request.moved = true;
      return mixed && there.length > 0;
    }
    for (const { request, found } of order) {
      request.executed = true;
      if (order.length === 1 && there.length === 1) request.found = found;
    }
    return true;
  }
}

function applied({ opcode, operand, swap }: SendRecord, value: bigint): bigint | undefined {
  if (opcode === WrOpcode.ATOMIC_FETCH_AND_ADD) return BigInt.asUintN(64, value + operand);
  return value === operand ? swap : undefined;
}

function receptive({ seenState, formerState, alive }: QpRecord): boolean {
  return alive && (isReceptive(seenState) || isReceptive(formerState));
}

function allowed({ qp }: Target, access: number): boolean {
  return (qp.life.accessFlags & access) === access;
}

function addWrite(request: SendRecord, target: Target, writers: Writer[]): void {
  const { remote } = request;
  if (remote === undefined || !allowed(target, remote.access)) return;
  for (const at of remoteVerdict(target.host, target.qp, target.pd, remote).at)
    writers.push({
      place: { arena: target.host.arena, at, lengthBytes: remote.lengthBytes },
      may: (offset, value) => mayBeSent(request, offset, value),
    });
}

function addAtomic(request: SendRecord, target: Target, adders: Adder[]): void {
  const { remote } = request;
  if (remote === undefined || !allowed(target, remote.access)) return;
  for (const at of remoteVerdict(target.host, target.qp, target.pd, remote).at)
    adders.push({ place: { arena: target.host.arena, at, lengthBytes: 8 }, request });
}

/** A SEND may go into any receive request that is posted. */
function addSend(request: SendRecord, target: Target, writers: Writer[]): void {
  const { host, qp, recvs } = target;
  const header = qp.type === QpType.UD ? HEADER_BYTES : 0;
  for (const recv of recvs) {
    let before = 0;
    for (const place of filled(host, recv.pd, recv.sges)) {
      const begin = before - header;
      before += place.lengthBytes;
      writers.push({
        place,
        may: (offset, value) => begin + offset < 0 || mayBeSent(request, begin + offset, value),
      });
    }
  }
}

/** Of pieces that are not all good, those before the first that is not are filled nevertheless. */
function filled(host: HostRecord, pd: QpRecord['pd'], sges: readonly Sge[]): Place[] {
  const good: Place[] = [];
  for (const sge of sges) {
    const places = localPlaces(host, pd, [sge], AccessFlags.LOCAL_WRITE);
    if (places === undefined) break;
    good.push(...places);
  }
  return good;
}
