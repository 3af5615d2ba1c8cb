import assert from 'node:assert/strict';
import {
  type Context,
  type DatagramDestination,
  mtuBytes,
  QpType,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WrOpcode,
} from '../../src/entry/index.js';
import { settle, Side, sideHandle } from './sides.js';
import { assertEmpty, assertSuccess, bringUp, pattern, pollOne, QKEY } from './support.js';

/** Bytes that UD puts before a message (protocol/packets.md 1.6). */
export const GRH_BYTES = 40;

const UD = { qpType: QpType.UD, bytes: 8192 };
/** A short message, by which a receiver shows that it still works. */
const SHORT = 10;

/** A sender on the first device and a receiver on the second, both of UD. */
export class Datagrams implements Disposable {
  sender: Side;
  readonly receiver: Side;

  constructor(private readonly devices: readonly Context[]) {
    this.receiver = new Side(devices[1], UD);
    this.sender = new Side(devices[0], UD);
    bringUp(this.receiver.qp);
    bringUp(this.sender.qp);
  }

  /** Where the receiver is, but for what is told otherwise. */
  to(change: Partial<DatagramDestination> = {}): DatagramDestination {
    const { sender, receiver } = this;
    return { remoteQpn: receiver.qp.qpNum, remoteQkey: QKEY, ...change, ah: change.ah ?? sideHandle(sender, receiver) };
  }

  /** Has the receiver wait for a message of up to `bytes` bytes. */
  expect(bytes: number, wrId = 0): void {
    const { qp, mr } = this.receiver;
    qp.postRecv({ wrId, sgList: [mr.sge(0, GRH_BYTES + bytes)] });
  }

  send(bytes: number, ud = this.to(), sendFlags: number = SendFlags.SIGNALED): void {
    const { qp, mr } = this.sender;
    qp.postSend({ opcode: WrOpcode.SEND, sendFlags, sgList: [mr.sge(0, bytes)], ud });
  }

  /** As {@link send}, and waits until it has left. */
  sent(bytes: number, ud = this.to()): WorkCompletion {
    this.send(bytes, ud);
    return pollOne(this.sender.sendCq);
  }

  /** Waits until what has left before has been looked at by the receiver, which a message behind it tells. */
  settle(): void {
    const { sender, receiver, devices } = this;
    using witness = new Side(devices[1], UD);
    bringUp(witness.qp);
    witness.qp.postRecv({ sgList: [witness.mr.sge()] });
    assertSuccess(sender, this.sent(0, this.to({ remoteQpn: witness.qp.qpNum })));
    assertSuccess(receiver, pollOne(witness.recvCq));
  }

  /** Replaces the sender, which may have failed, by another. */
  renewSender(): void {
    this.sender[Symbol.dispose]();
    this.sender = new Side(this.devices[0], UD);
    bringUp(this.sender.qp);
  }

  /** That nothing has arrived, and that the request that waits takes the next message. */
  assertStillWaiting(): void {
    const { sender, receiver } = this;
    assertEmpty(receiver.recvCq);
    sender.mr.bytes.set(pattern(SHORT, 99));
    assertSuccess(sender, this.sent(SHORT));
    const received = pollOne(receiver.recvCq);
    assertSuccess(receiver, received);
    assert.deepEqual([received.opcode, received.byteLen], [WcOpcode.RECV, GRH_BYTES + SHORT]);
    assert.deepEqual(receiver.mr.bytes.subarray(GRH_BYTES, GRH_BYTES + SHORT), pattern(SHORT, 99));
    settle(receiver.context);
    assertEmpty(receiver.recvCq);
  }

  [Symbol.dispose](): void {
    this.sender[Symbol.dispose]();
    this.receiver[Symbol.dispose]();
  }
}

/** As many bytes as one datagram of this device can have. */
export function longest(context: Context): number {
  return mtuBytes(context.queryPort().activeMtu);
}
