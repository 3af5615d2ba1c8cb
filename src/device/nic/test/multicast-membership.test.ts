import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gidFromIp, ipFromGid, Mtu, QpType } from '../../ibta/index.js';
import { SeededRandom } from '../../link/simulated/index.js';
import { CommandError, completionQueueShape, Nic, type NicLimits, recvQueueShape, sendQueueShape } from '../index.js';
import { crc32 } from '../../wire/index.js';
import { assertRefused } from './pair.js';

const GROUP = gidFromIp('239.1.2.3');

class GroupNic {
  readonly calls: string[] = [];
  /** What the link throws at the next call. */
  refusal: CommandError | undefined;
  readonly nic: Nic;
  readonly #pd: number;
  readonly #cq: number;

  constructor(limits: Partial<NicLimits> = {}) {
    this.nic = new Nic({
      sink: { bytes: new Uint8Array(0), ipId: 0, reserve: () => -1, commit: () => undefined },
      events: { completionEvent: () => undefined, asyncEvent: () => undefined },
      crc32,
      random: new SeededRandom(1).u32,
      gids: [gidFromIp('10.0.0.1')],
      portMtu: Mtu.MTU_1024,
      limits,
      groups: {
        join: (gid) => this.#note(`join ${ipFromGid(gid)}`),
        leave: (gid) => this.#note(`leave ${ipFromGid(gid)}`),
      },
    });
    const { control } = this.nic;
    this.#pd = control.allocPd();
    const memory = new SharedArrayBuffer(completionQueueShape(1).bytes);
    this.#cq = control.createCq({ entries: 1, memory });
  }

  qp(): number {
    return this.nic.control.createQp({
      type: QpType.UD,
      pd: this.#pd,
      sendCq: this.#cq,
      recvCq: this.#cq,
      cap: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 },
      sqSigAll: false,
      sq: new SharedArrayBuffer(sendQueueShape(1, 1, 0).bytes),
      rq: new SharedArrayBuffer(recvQueueShape(1, 1).bytes),
    }).qpn;
  }

  #note(call: string): void {
    if (this.refusal !== undefined) throw this.refusal;
    this.calls.push(call);
  }
}

test('the link joins a group with the first QP and leaves it with the last', () => {
  const host = new GroupNic();
  const { control } = host.nic;
  const [a, b] = [host.qp(), host.qp()];
  control.attachMcast(a, GROUP);
  control.attachMcast(b, GROUP);
  assert.deepEqual(host.calls, ['join 239.1.2.3']);
  control.detachMcast(a, GROUP);
  assert.equal(host.calls.length, 1);
  control.detachMcast(b, GROUP);
  assert.deepEqual(host.calls, ['join 239.1.2.3', 'leave 239.1.2.3']);
  control.attachMcast(b, GROUP);
  assert.equal(host.calls.length, 3);
});

test('a QP that is attached twice is attached once', () => {
  const host = new GroupNic();
  const { control } = host.nic;
  const qp = host.qp();
  control.attachMcast(qp, GROUP);
  control.attachMcast(qp, GROUP);
  assert.deepEqual(host.calls, ['join 239.1.2.3']);
  control.detachMcast(qp, GROUP);
  assert.deepEqual(host.calls, ['join 239.1.2.3', 'leave 239.1.2.3']);
  assertRefused('EINVAL', () => control.detachMcast(qp, GROUP));
  control.destroyQp(qp);
});

test('a group that the link does not join has no members', () => {
  const host = new GroupNic();
  const { control } = host.nic;
  const qp = host.qp();
  host.refusal = new CommandError('ENOMEM', 'no socket left');
  assertRefused('ENOMEM', () => control.attachMcast(qp, GROUP));
  host.refusal = undefined;
  assertRefused('EINVAL', () => control.detachMcast(qp, GROUP));
  control.destroyQp(qp);
});

test('a group that the link does not leave keeps its member', () => {
  const host = new GroupNic();
  const { control } = host.nic;
  const qp = host.qp();
  control.attachMcast(qp, GROUP);
  host.refusal = new CommandError('EINVAL', 'not now');
  assertRefused('EINVAL', () => control.detachMcast(qp, GROUP));
  assertRefused('EBUSY', () => control.destroyQp(qp));
  host.refusal = undefined;
  control.detachMcast(qp, GROUP);
});

test('a device has so many groups and no more', () => {
  const host = new GroupNic({ maxMcastGrp: 5 });
  const { control } = host.nic;
  const qp = host.qp();
  const gids = Array.from({ length: 6 }, (_, i) => gidFromIp(`239.0.${i}.${255 - i}`));
  for (const gid of gids.slice(0, 5)) control.attachMcast(qp, gid);
  assertRefused('ENOMEM', () => control.attachMcast(qp, gids[5]));
  control.attachMcast(host.qp(), gids[0]);
  control.detachMcast(qp, gids[1]);
  control.attachMcast(qp, gids[5]);
});

test('a group has so many QPs and no more', () => {
  const host = new GroupNic({ maxMcastQpAttach: 3 });
  const { control } = host.nic;
  const qps = [0, 1, 2, 3].map(() => host.qp());
  for (const qp of qps.slice(0, 3)) control.attachMcast(qp, GROUP);
  assertRefused('ENOMEM', () => control.attachMcast(qps[3], GROUP));
  control.attachMcast(qps[0], GROUP);
  control.detachMcast(qps[1], GROUP);
  control.attachMcast(qps[3], GROUP);
  assert.deepEqual(host.calls, ['join 239.1.2.3']);
});

test('by default a device has 64 groups of 56 QPs', () => {
  const host = new GroupNic();
  const { control } = host.nic;
  const qps = Array.from({ length: 57 }, () => host.qp());
  for (const qp of qps.slice(0, 56)) control.attachMcast(qp, GROUP);
  assertRefused('ENOMEM', () => control.attachMcast(qps[56], GROUP));
  for (let i = 0; i < 63; i += 1) control.attachMcast(qps[56], gidFromIp(`239.100.${i >> 8}.${i & 255}`));
  assertRefused('ENOMEM', () => control.attachMcast(qps[56], gidFromIp('239.200.0.0')));
  for (let i = 0; i < 63; i += 1) control.detachMcast(qps[56], gidFromIp(`239.100.${i >> 8}.${i & 255}`));
  control.destroyQp(qps[56]);
});
