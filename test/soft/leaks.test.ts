import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  gidFromIp,
  Mtu,
  MwType,
  type Pd,
  QpState,
  QpType,
  SrqType,
} from '../../src/index.js';
import { HOSTINGS, openContexts } from './support/pair.js';
import { loopbackGroup, NET } from '../support/loopback.js';

/** More than any table of the NIC that is not given back would bear: the smallest holds 4096. `npm run leaks` takes 10^5. */
const ASKED = process.env['VERBENA_TEST_TIMES'];
const TIMES = Number(ASKED ?? 5000);
/** Which part of them each hosting makes. */
const SHARES = { simulated: 1, inline: ASKED === undefined ? 10 : 1, thread: 50 } as const;
/** However many were made: caches that fill, and what a garbage collector leaves. */
const MOST_BYTES = 1 << 20;
const ROUNDS = 200;
const PATIENCE_MS = 60_000;
/** What a process opens once: to watch others, for its event loop. */
const KEPT_FILES = 4;
const MEMORY = alloc(4096);
const GROUP = gidFromIp(loopbackGroup(1));
const QKEY = 0x1111;

interface Room {
  readonly context: Context;
  readonly other: Context;
  readonly pd: Pd;
  readonly cq: Cq;
}

/** Every kind of object, made and ended once. */
const LIVES: Readonly<Record<string, (room: Room) => void>> = {
  'a protection domain': ({ context }) => context.allocPd().dealloc(),
  'a parent domain': ({ context, pd }) => {
    using td = context.allocTd();
    using parent = context.allocParentDomain({ pd, td });
    parent.regMr(MEMORY).dereg();
  },
  'a region': ({ pd }) => pd.regMr(MEMORY, AccessFlags.LOCAL_WRITE).dereg(),
  'a region that moves': ({ pd }) => {
    using mr = pd.regMr(MEMORY);
    mr.rereg({ memory: MEMORY });
  },
  'a null region': ({ pd }) => pd.allocNullMr().dereg(),
  'a window': ({ pd }) => pd.allocMw(MwType.TYPE_2).dealloc(),
  'a completion channel': ({ context }) => context.createCompChannel().destroy(),
  'a completion queue': ({ context }) => {
    using cq = context.createCq({ cqe: 2 });
    cq.resize(4);
    cq.modify({ moderate: { cqCount: 2, cqPeriod: 100 } });
  },
  'a shared receive queue': ({ pd }) => {
    using srq = pd.createSrq({ maxWr: 2 });
    srq.modify({ maxWr: 4 });
  },
  'an XRC domain with all that lives in it': ({ context, pd, cq }) => {
    using xrcd = context.openXrcd();
    using srq = pd.createSrq({ maxWr: 1, srqType: SrqType.XRC, xrcd, cq });
    using target = xrcd.createQp();
    using again = xrcd.openQp({ qpNum: target.qpNum });
    assert.ok(srq.srqNum > 0 && again.qpNum > 0);
  },
  'an address handle': ({ pd, other }) => pd.createAh({ grh: { dgid: gidFromIp(other.address) } }).destroy(),
  'a reliable queue pair': ({ pd, cq, other }) => {
    using qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 2, maxRecvWr: 2 } });
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    qp.modify({
      qpState: QpState.RTR,
      pathMtu: Mtu.MTU_1024,
      destQpNum: 17,
      rqPsn: 0,
      maxDestRdAtomic: 1,
      minRnrTimer: 1,
      ahAttr: { grh: { dgid: gidFromIp(other.address) } },
    });
    qp.modify({ qpState: QpState.RTS, timeout: 14, retryCnt: 7, rnrRetry: 7, sqPsn: 0, maxRdAtomic: 1 });
    qp.postRecv({});
  },
  'a datagram queue pair in a group': ({ pd, cq }) => {
    using qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 2, maxRecvWr: 2 } });
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
    qp.attachMcast(GROUP);
    qp.detachMcast(GROUP);
  },
};

/** The same, refused half-way. */
const STILLBIRTHS: Readonly<Record<string, (room: Room) => void>> = {
  'a region that cannot be named so': ({ pd }) => {
    const memory = new Uint8Array(64);
    assert.throws(() => pd.regMr(memory, 0, { iova: -1 }));
    assert.ok(!Object.hasOwn(memory.buffer, 'transfer'));
  },
  'an address handle that leads from nowhere': ({ pd, other }) => {
    assert.throws(() => pd.createAh({ grh: { dgid: gidFromIp(other.address), sgidIndex: 9 } }), { errno: 'EINVAL' });
  },
  'a queue pair without a type': ({ pd, cq }) => {
    const qpType = 99 as QpType; // as a program without types may
    assert.throws(() => pd.createQp({ qpType, sendCq: cq, recvCq: cq }));
  },
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // V8's own function, by the flag above

function memoryInUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Whether so little is in use once what is garbage was found; buffers are given back some time after that. */
async function settlesAt(bytes: number): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage();
    if (memoryInUse() < bytes) return true;
    await new Promise(setImmediate);
  }
  return false;
}

const openFiles = (): number => readdirSync('/proc/self/fd').length;

for (const hosting of HOSTINGS) {
  describe(`nothing is left, hosted ${hosting}, of`, () => {
    // What is done inline or in a thread is the same as in a simulation; a command to another thread takes its time.
    const times = TIMES / SHARES[hosting];
    // Starting threads would take most of the time.
    const [opening, closing] = hosting === 'thread' ? [before, after] : [beforeEach, afterEach];
    let room: Room;
    opening(() => {
      const [context, other] = openContexts(hosting, NET);
      room = { context, other, pd: context.allocPd(), cq: context.createCq({ cqe: 16 }) };
    });
    // Which would be refused if something of the many were left.
    closing(() => {
      room.pd.dealloc();
      room.cq.destroy();
      room.context.close();
      room.other.close();
    });

    for (const [name, live] of Object.entries({ ...LIVES, ...STILLBIRTHS }))
      test(name, async () => {
        live(room);
        const files = openFiles();
        collectGarbage();
        const usedBefore = memoryInUse();
        for (let i = 0; i < times; i += 1) live(room);
        // Threads of earlier tests may be coming to their end.
        assert.ok(openFiles() <= files);
        // What another thread holds it gives back in its own time.
        if (hosting === 'thread') return;
        assert.ok(await settlesAt(usedBefore + MOST_BYTES), `${memoryInUse() - usedBefore} bytes are left`);
      });
  });
}

test('a device that is opened and closed leaves no descriptor', async () => {
  for (const hosting of ['inline', 'thread'] as const) {
    const live = (): void => {
      for (const context of openContexts(hosting, NET)) context.close();
    };
    const files = openFiles();
    for (let i = 0; i < 5; i += 1) live();
    // A thread's own end comes after its NIC's.
    const begun = performance.now();
    while (openFiles() > files + KEPT_FILES && performance.now() - begun < PATIENCE_MS) await sleep(5);
    assert.ok(openFiles() <= files + KEPT_FILES, hosting);
  }
});

test('a file that stands for an XRC domain stays the program’s own', () => {
  const [context, other] = openContexts('simulated', NET);
  const fd = openSync(fileURLToPath(import.meta.url), 'r');
  context.openXrcd({ fd }).close();
  assert.ok(fstatSync(fd).isFile());
  closeSync(fd);
  context.close();
  other.close();
});
