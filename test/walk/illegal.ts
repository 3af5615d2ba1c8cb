import { AccessFlags, type MwType, QpState, QpType, SendFlags, WrOpcode } from '../../src/entry/index.js';
import type { HostRecord, QpRecord } from './things.js';
import type { World } from './world.js';

/** Calls that are wrong whatever has happened, with the errno that says so. Nothing may have changed after them. */
interface IllegalCall {
  readonly what: string;
  readonly errno: string;
  readonly call: (host: HostRecord, qp: QpRecord, world: World) => void;
}

const { REMOTE_WRITE, LOCAL_WRITE } = AccessFlags;

const calls: readonly IllegalCall[] = [
  {
    what: 'a region that peers may write and its owner may not',
    errno: 'EINVAL',
    call: ({ pds, arena }) => pds[0].api.regMr(arena.bytes.subarray(0, 64), REMOTE_WRITE),
  },
  {
    what: 'a region with an access flag that does not exist',
    errno: 'EINVAL',
    call: ({ pds, arena }) => pds[0].api.regMr(arena.bytes.subarray(0, 64), LOCAL_WRITE | 0x8000),
  },
  {
    what: 'a region of no bytes',
    errno: 'EINVAL',
    call: ({ pds, arena }) => pds[0].api.regMr(arena.bytes.subarray(0, 0), LOCAL_WRITE),
  },
  { what: 'a CQ of no entries', errno: 'EINVAL', call: ({ context }) => context.createCq({ cqe: 0 }) },
  {
    what: 'a window of a type that does not exist',
    errno: 'EINVAL',
    // Not a type that the signature has: what a program in JavaScript may pass.
    call: ({ pds }) => pds[0].api.allocMw(3 as MwType),
  },
  {
    what: 'more pieces than the queue has',
    errno: 'EINVAL',
    call: (_host, { poster }) => {
      const sge = { addr: 0n, length: 1, lkey: 1 };
      poster?.postSend({
        opcode: WrOpcode.RDMA_WRITE,
        sgList: [sge, sge, sge, sge],
        rdma: { remoteAddr: 0n, rkey: 0 },
      });
    },
  },
  {
    what: 'more inline data than the queue has',
    errno: 'EINVAL',
    call: (_host, { poster }) =>
      poster?.postSend({
        opcode: WrOpcode.SEND,
        sendFlags: SendFlags.INLINE,
        sgList: [{ bytes: new Uint8Array(3000) }],
      }),
  },
  {
    what: 'an atomic of four bytes',
    errno: 'EINVAL',
    call: (_host, { poster }) =>
      poster?.postSend({
        opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
        sgList: [{ addr: 0n, length: 4, lkey: 1 }],
        atomic: { remoteAddr: 0n, rkey: 0, compareAdd: 1n },
      }),
  },
  {
    what: 'an attribute that no transition takes',
    errno: 'EINVAL',
    call: (_host, { api }) => api.modify({ qpState: QpState.INIT, rateLimit: 5 }),
  },
  {
    what: "a QP with a CQ that is another host's",
    errno: 'EINVAL',
    call: ({ pds }, _qp, world) => {
      const other = world.hosts.find(({ up, pds: theirs, cqs }) => up && theirs !== pds && cqs.length > 0);
      const cq = other?.cqs[0].api ?? ({} as never); // no CQ at all is as wrong
      pds[0].api.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
    },
  },
];

export function illegalCall(world: World): void {
  const host = world.pick(
    world.hosts.filter(({ up, paused, qps }) => up && !paused && qps.some(({ poster }) => poster !== undefined)),
  );
  const qp = host && world.pick(host.qps.filter(({ poster }) => poster !== undefined));
  if (host === undefined || qp === undefined) return;
  const { what, errno, call } = world.random.pick(calls);
  world.attempt(`${host.address}: ${what}`, [errno], () => call(host, qp, world));
}
