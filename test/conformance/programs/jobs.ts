/** What the threads of the threaded tests do, each with a device of its own. */
import assert from 'node:assert/strict';
import {
  alloc,
  type Context,
  type Cq,
  MwType,
  type Pd,
  QpType,
  type RegistrableMemory,
  SendFlags,
  type SendWr,
  WcExFlags,
  WrOpcode,
} from '../../../src/entry/index.js';
import { ALL_ACCESS, assertSuccess, End, joinEnds, perform, pollOne, remoteOf } from '../support.js';

interface Workshop {
  readonly context: Context;
  readonly pd: Pd;
  readonly cq: Cq;
  readonly memory: RegistrableMemory;
}

/** An object; a number that no other of its kind has at the same time, where it has one. */
interface Made {
  readonly object: Disposable;
  readonly number?: number;
}

const CQE = 10;
const SMALL = { maxSendWr: 4, maxRecvWr: 4 };

const MAKERS = {
  AHs: ({ context, pd }) => ({ object: pd.createAh({ grh: { dgid: context.queryGid(1, 0) } }) }),
  CQs: ({ context }) => ({ object: context.createCq({ cqe: CQE }) }),
  'extended CQs': ({ context }) => ({ object: context.createCq({ cqe: CQE, wcFlags: WcExFlags.WITH_BYTE_LEN }) }),
  PDs: ({ context }) => ({ object: context.allocPd() }),
  MRs: ({ pd, memory }) => {
    const object = pd.regMr(memory, ALL_ACCESS);
    return { object, number: object.lkey };
  },
  MWs: ({ pd }, index) => {
    const object = pd.allocMw(index % 2 === 0 ? MwType.TYPE_2 : MwType.TYPE_1);
    return { object, number: object.rkey };
  },
  QPs: ({ pd, cq }) => {
    const object = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: SMALL });
    return { object, number: object.qpNum };
  },
  SRQs: ({ pd }) => ({ object: pd.createSrq({ maxWr: 4 }) }),
} satisfies Record<string, (workshop: Workshop, index: number) => Made>;

export type Kind = keyof typeof MAKERS;

function inWorkshop(context: Context, work: (workshop: Workshop) => void): void {
  using pd = context.allocPd();
  using cq = context.createCq({ cqe: CQE });
  work({ context, pd, cq, memory: alloc(4096) });
}

function makeOneByOne(context: Context, kind: Kind, count: number): void {
  inWorkshop(context, (workshop) => {
    for (let i = 0; i < count; i += 1) MAKERS[kind](workshop, i).object[Symbol.dispose]();
  });
}

function makeAllAtOnce(context: Context, kind: Kind, count: number): void {
  inWorkshop(context, (workshop) => {
    const made: readonly Made[] = Array.from({ length: count }, (_, i) => MAKERS[kind](workshop, i));
    const numbers = made.flatMap(({ number }) => number ?? []);
    assert.equal(new Set(numbers).size, numbers.length);
    for (const { object } of made) object[Symbol.dispose]();
  });
}

function connectToItself(context: Context): { readonly local: End; readonly remote: End } & Disposable {
  const local = new End(context, { cap: { maxSendWr: 128 } });
  const remote = new End(context);
  joinEnds(local, remote);
  return {
    local,
    remote,
    [Symbol.dispose]: () => {
      local[Symbol.dispose]();
      remote[Symbol.dispose]();
    },
  };
}

const readOf = (local: End, remote: End): SendWr => ({
  opcode: WrOpcode.RDMA_READ,
  sendFlags: SendFlags.SIGNALED,
  sgList: [local.mr.sge(0, 64)],
  rdma: remoteOf(remote.mr),
});

/** Queue pairs and their queue are made, do some READs one after the other, and are destroyed. */
function liveAndDie(context: Context, rounds: number, reads: number): void {
  for (let round = 0; round < rounds; round += 1) {
    using pair = connectToItself(context);
    const { local, remote } = pair;
    remote.mr.bytes.fill(round + 1);
    for (let i = 0; i < reads; i += 1) assertSuccess(local, perform(local, readOf(local, remote)));
    assert.deepEqual(local.mr.bytes.subarray(0, 64), new Uint8Array(64).fill(round + 1));
    local.qp.destroy();
    remote.qp.destroy();
    local.cq.destroy();
    remote.cq.destroy();
  }
}

/** The target of many READs is destroyed among them, while READs go on beside it. */
function destroyTargets(context: Context, rounds: number, reads: number): void {
  using bystanders = connectToItself(context);
  const { local, remote } = bystanders;
  for (let round = 0; round < rounds; round += 1) {
    using pair = connectToItself(context);
    local.qp.postSend(readOf(local, remote));
    pair.local.qp.postSend(Array.from({ length: reads }, () => readOf(pair.local, pair.remote)));
    pair.remote.qp.destroy();
    local.qp.postSend(readOf(local, remote));
    for (let i = 0; i < 2; i += 1) assertSuccess(local, pollOne(local.cq));
    pair.local.qp.destroy();
  }
}

export type Job =
  | { readonly name: 'one by one' | 'all at once'; readonly kind: Kind; readonly count: number }
  | { readonly name: 'lifecycles' | 'destroyed targets'; readonly rounds: number; readonly reads: number };

export function carryOut(context: Context, job: Job): void {
  switch (job.name) {
    case 'one by one':
      makeOneByOne(context, job.kind, job.count);
      return;
    case 'all at once':
      makeAllAtOnce(context, job.kind, job.count);
      return;
    case 'lifecycles':
      liveAndDie(context, job.rounds, job.reads);
      return;
    case 'destroyed targets':
      destroyTargets(context, job.rounds, job.reads);
      return;
  }
}
