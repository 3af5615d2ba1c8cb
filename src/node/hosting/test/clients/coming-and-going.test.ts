import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Adapter, createAsyncEventRing, createCmEventRing, MAX_CLIENTS } from '../../../../device/adapter/index.js';
import { SimulatedNetwork } from '../../../../device/link/simulated/index.js';
import { doorbellPageShape } from '../../../../device/nic/index.js';
import { crc32 } from '../../../../device/wire/index.js';
import { openDevice, QpState, QpType } from '../../../../entry/index.js';
import { isSharedThread, SharedNic } from '../../threads/nic-handle.js';
import { NicThread } from '../../threads/nic-thread.js';
import { ThreadHost } from '../../threads/thread-host.js';
import { type ClientStart, GATE_CLOSED, ThreadWords } from '../../threads/thread-protocol.js';
import { nativeHostProblem } from '../../../system/index.js';
import { loopback } from '../../../../../test/support/loopback.js';

const ADDRESS = '10.0.0.1';
const MANY = 200;
/** Of a client: its doorbell page and its events. */
const RINGS_BYTES = doorbellPageShape().bytes + createAsyncEventRing(true).byteLength;

describe('of clients that come and go', { skip: nativeHostProblem() ?? false }, () => {
  test('a program has no more rings than of those that it had at one time', () => {
    using context = openDevice({ host: 'thread', address: loopback(1) });
    // What is not collected yet is counted: all rings, were there new ones for each, and a little else of each client.
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < MANY; i += 1) {
      const pair = [openDevice({ device: context.share() }), openDevice({ device: context.share() })];
      for (const client of pair) client.close();
    }
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < (MANY / 10) * RINGS_BYTES, `${grown} bytes for ${2 * MANY} clients`);
  });

  test('each finds its rings empty, whatever the last one left in them', () => {
    using context = openDevice({ host: 'thread', address: loopback(2) });
    for (let i = 0; i < 3; i += 1) {
      using client = openDevice({ device: context.share() });
      assert.throws(() => client.getAsyncEvent(0), { errno: 'ETIMEDOUT' });
      const cq = client.createCq({ cqe: 1 });
      const qp = client
        .allocPd()
        .createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxRecvWr: cq.cqe + 1 } });
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      for (let wrId = 0; wrId <= cq.cqe; wrId += 1) qp.postRecv({ wrId, sgList: [] });
      // Overruns the completion queue, whose event nobody takes.
      qp.modify({ qpState: QpState.ERR });
    }
  });
});

/** A NIC's thread, played by the test, and a program that has the other ends of its gates. */
class Gatekeeper {
  readonly thread: NicThread;
  readonly #state = new SharedArrayBuffer(4 * ThreadWords.COUNT);
  readonly #ports: MessagePort[] = [];

  constructor() {
    const link = new SimulatedNetwork({ seed: 1 }).attach(ADDRESS);
    const { start } = this.#client();
    this.thread = new NicThread({ spec: { address: ADDRESS }, native: true, state: this.#state, first: start });
    const { maxPacketBytes, gid } = link;
    const facts = { address: ADDRESS, gid, maxPacketBytes, crc32Source: 'javascript', clockOriginNs: 0n };
    this.thread.started(new Adapter({ link, crc32, random: () => 1 }), { facts });
  }

  /** @returns a gate's other end */
  share(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#ports.push(port1);
    this.thread.share(port2);
    return port1;
  }

  /** Asks for a client at a gate. @returns whether there is an answer */
  enter(gate: MessagePort): boolean {
    const { start, replies } = this.#client();
    gate.postMessage(start, [start.commands, start.notices]);
    Atomics.add(new Int32Array(this.#state), ThreadWords.KNOCKS, 1);
    this.thread.serve();
    return receiveMessageOnPort(replies) !== undefined;
  }

  close(): void {
    this.thread.stopped();
    for (const port of this.#ports) port.close();
  }

  #client(): { readonly start: ClientStart; readonly replies: MessagePort } {
    const [commands, notices] = [new MessageChannel(), new MessageChannel()];
    this.#ports.push(commands.port1, notices.port1);
    const start = {
      doorbells: new SharedArrayBuffer(doorbellPageShape().bytes),
      asyncEvents: createAsyncEventRing(true),
      cmEvents: createCmEventRing(true),
      poller: new SharedArrayBuffer(4),
      loop: new SharedArrayBuffer(8),
      loopFd: undefined,
      thread: undefined,
      commands: commands.port2,
      notices: notices.port2,
    };
    return { start, replies: commands.port1 };
  }
}

const isClosed = (gate: MessagePort): boolean => receiveMessageOnPort(gate)?.message === GATE_CLOSED;

describe('the gate of a NIC that is shared', () => {
  test('is closed behind the one client that it is for', () => {
    const keeper = new Gatekeeper();
    const [gate, other] = [keeper.share(), keeper.share()];
    assert.ok(keeper.enter(gate));
    assert.ok(isClosed(gate));
    assert.ok(!isClosed(other));
    keeper.close();
  });

  test('is closed when nobody has asked there and as many as a NIC can have clients came after it', () => {
    const keeper = new Gatekeeper();
    const gates = Array.from({ length: MAX_CLIENTS + 2 }, () => keeper.share());
    assert.deepEqual(
      gates.map(isClosed),
      gates.map((_, i) => i < 2),
    );
    assert.ok(keeper.enter(gates[2]));
    keeper.close();
  });

  test('says so to whoever asks there a second time', { skip: nativeHostProblem() ?? false }, () => {
    using context = openDevice({ host: 'thread', address: loopback(3) });
    const shared = context.share();
    assert.ok(isSharedThread(shared));
    const host = new ThreadHost(new SharedNic(shared), () => undefined);
    assert.throws(() => new ThreadHost(new SharedNic(shared), () => undefined), {
      errno: 'EINVAL',
      message: /once more/,
    });
    host.close();
  });
});
