/** Messages both ways over RC, UD and XRC alike. */
import assert from 'node:assert/strict';
import {
  type Context,
  type Cq,
  type DatagramDestination,
  type Mr,
  QpType,
  type RecvWr,
  type WorkCompletion,
  type XrcDestination,
} from '../../src/entry/index.js';
import { assertSuccess, type End, handleTo, Pair, type PairOptions, pattern, pollOne, QKEY } from './support.js';
import { XrcPair } from './xrc.js';

/** Bytes that UD puts before a message (protocol/packets.md 1.6). */
const GRH_BYTES = 40;

/** One of two directions. */
export interface Way {
  readonly from: End;
  readonly to: { readonly context: Context; readonly mr: Mr; readonly cq: Cq };
  /** Bytes of the receiver's memory before the message. */
  readonly headerBytes: number;
  /** What requests that are objects have beside the rest. */
  readonly addressed: { readonly ud?: DatagramDestination; readonly xrc?: XrcDestination };
  /** The same for the request that is being built. */
  readonly address: () => void;
  readonly postRecv: (wr: RecvWr) => void;
}

export class Traffic implements Disposable {
  private constructor(
    readonly ways: readonly [Way, Way],
    private readonly owned: readonly Disposable[],
  ) {}

  static rc(devices: readonly Context[], options: PairOptions = {}): Traffic {
    const pair = new Pair(devices, options);
    const way = (from: End, to: End): Way => ({
      from,
      to,
      headerBytes: 0,
      addressed: {},
      address: () => {},
      postRecv: (wr) => to.qp.postRecv(wr),
    });
    return new Traffic([way(pair.local, pair.remote), way(pair.remote, pair.local)], [pair]);
  }

  static ud(devices: readonly Context[], options: PairOptions = {}): Traffic {
    const pair = new Pair(devices, { ...options, qpType: QpType.UD });
    const way = (from: End, to: End): Way => {
      const ud = { ah: handleTo(from, to), remoteQpn: to.qp.qpNum, remoteQkey: QKEY };
      return {
        from,
        to,
        headerBytes: GRH_BYTES,
        addressed: { ud },
        address: () => from.qp.wrSetUdAddr(ud.ah, ud.remoteQpn, ud.remoteQkey),
        postRecv: (wr) => to.qp.postRecv(wr),
      };
    };
    return new Traffic([way(pair.local, pair.remote), way(pair.remote, pair.local)], [pair]);
  }

  static xrc(devices: readonly Context[], options: PairOptions = {}): Traffic {
    const there = new XrcPair(devices, options);
    const back = new XrcPair([...devices].reverse(), options);
    const way = ({ local, remote }: XrcPair): Way => ({
      from: local,
      to: remote,
      headerBytes: 0,
      addressed: { xrc: remote.destination },
      address: () => local.qp.wrSetXrcSrqn(remote.srq.srqNum),
      postRecv: (wr) => remote.srq.postRecv(wr),
    });
    return new Traffic([way(there), way(back)], [there, back]);
  }

  [Symbol.dispose](): void {
    for (const pair of this.owned) pair[Symbol.dispose]();
  }
}

export const SERVICES: Readonly<Record<string, (devices: readonly Context[], options: PairOptions) => Traffic>> = {
  RC: (devices, options) => Traffic.rc(devices, options),
  UD: (devices, options) => Traffic.ud(devices, options),
  XRC: (devices, options) => Traffic.xrc(devices, options),
};

/** Sends one message of `bytes` bytes by `post`, which must complete with an entry, and checks that it arrives. */
export function deliver(way: Way, bytes: number, salt: number, post: () => void): WorkCompletion {
  const { from, to, headerBytes } = way;
  const message = pattern(bytes, salt);
  from.mr.bytes.set(message);
  to.mr.bytes.fill(0);
  way.postRecv({ wrId: salt, sgList: [to.mr.sge(0, headerBytes + bytes)] });
  post();
  assertSuccess(from, pollOne(from.cq));
  const received = pollOne(to.cq);
  assertSuccess(to, received);
  assert.deepEqual([received.wrId, received.byteLen], [BigInt(salt), headerBytes + bytes]);
  assert.deepEqual(to.mr.bytes.subarray(headerBytes, headerBytes + bytes), message);
  return received;
}

/** Does `round` for each way in turn, `rounds` times. */
export function pingPong(traffic: Traffic, rounds: number, round: (way: Way, number: number) => void): void {
  for (let number = 0; number < rounds; number += 1) for (const way of traffic.ways) round(way, number);
}
