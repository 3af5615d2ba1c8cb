import assert from 'node:assert/strict';
import { closeSync } from 'node:fs';
import { describe, it } from 'node:test';
import { PathCalls } from '../sysfs/path-calls.js';
import { StandInDirectories } from '../sysfs/stand-in-directories.js';
import { GuestContext } from '../uverbs/guest-context.js';
import { answerIoctl } from '../uverbs/ioctl.js';
import { Structs } from '../uverbs/structs.js';
import { RdmaCmFile } from '../ucma/rdma-cm-file.js';
import { Ucma } from '../ucma/ucma.js';
import * as Requests from '../ucma/structs/requests.js';
import { Errno, openDevice, PortSpace } from '../../entry/index.js';
import { SimulatedCluster } from '../../entry/sim.js';
import { NativeBlock, nativeHostProblem } from '../../node/system/index.js';
import { Choices } from '../../../test/fuzz/random.js';
import { FakeCalls } from './fuzz/fake-calls.js';
import { FuzzMemory } from './fuzz/memory.js';
import { writeFrame } from './fuzz/uverbs-frame.js';

/** No lie, ever. */
class Honest extends Choices {
  override chance(percent: number): boolean {
    return percent > 90;
  }
}

/** A program with a device open, whose calls a signal takes back when that is asked for. */
function program() {
  const context = new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
  const openClient = () => openDevice({ device: context.share() });
  const device = { name: 'rxe0', address: '10.0.0.1', interfaceName: 'lo', context, openClient };
  const file = new GuestContext(device, process.pid, undefined);
  const [calls, memory, choices] = [new FakeCalls(), new FuzzMemory(), new Honest(1)];
  const give = (number: number, request: Uint8Array, signal = false) => {
    const frame = writeFrame(memory, { number, request }, choices);
    const ending = calls.make([0, 0, frame.at], (waiting) => answerIoctl(file, waiting), signal);
    return { ending, answer: frame.answer };
  };
  const { ID_WITH_RESPONSE, CREATE_ID } = Requests;
  const cm = new RdmaCmFile({
    node: { kind: 'device', driver: 'rdma_cm', index: 0, major: 10, minor: 1 },
    pid: process.pid,
    ucma: new Ucma([context]),
    calls,
    fileAt: () => undefined,
    due: () => undefined,
  });
  const { at, bytes } = memory.commands;
  const write = (number: number, request: Uint8Array, signal = false) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    view.setUint32(0, number, true);
    view.setUint16(4, request.length, true);
    view.setUint16(6, 512, true);
    bytes.set(request, 8);
    return calls.make([0, at, 8 + request.length], (waiting) => cm.write(waiting), signal);
  };
  const response = BigInt(at + 4096);
  const number = () => new DataView(bytes.buffer, bytes.byteOffset + 4096).getUint32(0, true);
  return {
    file,
    calls,
    give,
    createId: (signal = false) => {
      const request = CREATE_ID.encodePadded({ uid: 1n, response, portSpace: PortSpace.TCP, qpType: 2 });
      const ending = write(0, request, signal);
      return { ending, id: number() };
    },
    destroyId: (id: number, signal = false) => write(1, ID_WITH_RESPONSE.encodePadded({ response, id }), signal),
    getEvent: (signal = false) => write(12, Requests.GET_EVENT.encodePadded({ response }), signal),
    resolve: (id: number) =>
      write(
        3,
        Requests.RESOLVE_IP.encodePadded({
          id,
          timeoutMs: 100,
          to: { family: 2, port: 1, ipv4: Uint8Array.of(10, 0, 0, 1), ipv6: new Uint8Array(16), scopeId: 0 },
        }),
      ),
    cm,
    responseBytes: () => bytes.slice(4096, 4096 + 336),
    clear: () => void bytes.fill(0, 4096, 4096 + 336),
    [Symbol.dispose]: () => {
      calls.closeAll();
      file.close();
      cm.close();
      context.close();
      memory.release();
    },
  };
}

const { EMPTY, HANDLE } = Structs;

describe('a command whose call a signal takes back', { skip: nativeHostProblem() ?? false }, () => {
  it('makes nothing twice when it is made again', () => {
    using game = program();
    assert.equal(game.give(3, EMPTY.encodePadded({}), true).ending, 'taken back');
    assert.deepEqual([...game.file.pds], []);
    assert.equal(game.give(3, EMPTY.encodePadded({})).ending, 0);
    assert.equal([...game.file.pds].length, 1);
  });

  it('has ended an object, and says so when it is made again', () => {
    using game = program();
    const { handle } = HANDLE.readPadded(game.give(3, EMPTY.encodePadded({})).answer);
    const end = HANDLE.encodePadded({ handle });
    assert.equal(game.give(4, end, true).ending, 'taken back');
    assert.equal(game.give(4, end).ending, 0);
    assert.equal(game.give(4, end).ending, -Errno.ENOENT);
  });

  it('is told to nobody who has gone on', () => {
    using game = program();
    const { handle } = HANDLE.readPadded(game.give(3, EMPTY.encodePadded({})).answer);
    const end = HANDLE.encodePadded({ handle });
    game.give(4, end, true);
    assert.equal(game.give(3, EMPTY.encodePadded({})).ending, 0);
    assert.equal(game.give(4, end).ending, -Errno.ENOENT);
  });

  it('gives a program one descriptor for one channel', () => {
    using game = program();
    game.give(17, EMPTY.encodePadded({}), true);
    const { answer, ending } = game.give(17, EMPTY.encodePadded({}));
    assert.equal(ending, 0);
    assert.deepEqual([...game.calls.fds], [Structs.CREATE_COMP_CHANNEL.answer.readPadded(answer).fd]);
    assert.equal(game.file.channels.size, 1);
  });

  it('ends an identifier of rdma_cm once', () => {
    using game = program();
    const { id } = game.createId();
    assert.equal(game.destroyId(id, true), 'taken back');
    assert.ok(Number(game.destroyId(id)) > 0);
    assert.equal(game.destroyId(id), -Errno.ENOENT);
  });

  it('does not write the event that it waited for into memory that may be something else by then', () => {
    using game = program();
    const { id } = game.createId();
    // The kernel blocks it, or has its thread run the handler of a signal.
    assert.equal(game.getEvent(), 'let through');
    game.clear();
    assert.ok(Number(game.resolve(id)) > 0);
    game.cm.push();
    assert.deepEqual(game.responseBytes(), new Uint8Array(336));
    assert.ok(Number(game.getEvent()) > 0);
  });
});

describe('entries of a folder', { skip: nativeHostProblem() ?? false }, () => {
  it('are read again when a signal takes back the call that read them', () => {
    const folder = '/sys/class/infiniband';
    const entries = new Map([['rxe0', { kind: 'text', text: () => '' } as const]]);
    const standIns = new StandInDirectories([folder]);
    const paths = new PathCalls({
      machine: 'x64',
      roots: new Map([[folder, { kind: 'directory', entries }]]),
      standIns,
      directories: { first: 0, end: 0 },
      deviceOf: () => undefined,
      processOf: (tid) => tid,
      openDevice: () => false,
    });
    const [calls, buffer, fd] = [new FakeCalls(), new NativeBlock(256), standIns.open(folder)];
    const read = (signal: boolean) =>
      calls.make([fd, buffer.address, 256], (waiting) => void paths.serveEntries(waiting), signal);
    assert.equal(read(true), 'taken back');
    assert.ok(Number(read(false)) > 0);
    assert.equal(read(true), 'taken back');
    assert.equal(read(false), 0);
    closeSync(fd);
    standIns.close();
  });
});
