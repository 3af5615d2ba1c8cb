import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { explain, registerMemory } from '../../../providers/soft/index.js';
import { AddressSpace, nativeHostProblem, ProcessMemory } from '../../system/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { ALL_ACCESS, drainOne, Pair, pattern } from '../../../providers/soft/test/support/pair.js';
import { Program } from './programs.js';

const PAGE = 4096;
const BYTES = 64 * PAGE;
const skip = nativeHostProblem() ?? false;

class Mapped implements AsyncDisposable {
  private constructor(
    readonly program: Program,
    readonly memory: ProcessMemory,
  ) {}

  static async start(): Promise<Mapped> {
    const program = new Program('mapped-memory', [String(BYTES)]);
    const address = Number(await program.message());
    return new Mapped(program, new ProcessMemory(new AddressSpace(program.pid), address, BYTES));
  }

  async tell(order: object): Promise<Uint8Array> {
    this.program.send(order);
    return Uint8Array.from((await this.program.message()) as number[]); // what the program answers
  }

  show(offset: number, length: number): Promise<Uint8Array> {
    return this.tell({ show: { offset, length } });
  }

  /** Unmaps the page at `offset`. */
  async unmap(offset: number): Promise<void> {
    await this.tell({ unmap: { offset, length: PAGE } });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.program[Symbol.asyncDispose]();
  }
}

describe('memory of another process', { skip }, () => {
  it('is read and written at any byte', async () => {
    await using mapped = await Mapped.start();
    const content = pattern(3 * PAGE);
    await mapped.tell({ fill: [...content] });
    const copy = new Uint8Array(PAGE);
    assert.equal(mapped.memory.read(4095, copy, 7, 1000), 1000);
    assert.deepEqual(copy.subarray(7, 1007), content.subarray(4095, 5095));
    assert.equal(mapped.memory.write(4090, Uint8Array.of(1, 2, 3, 4), 1, 3), 3);
    assert.deepEqual([...(await mapped.show(4089, 5))], [content[4089], 2, 3, 4, content[4093]]);
  });

  it('adds and swaps words', async () => {
    await using mapped = await Mapped.start();
    const found = new BigUint64Array(1);
    const bytes = new Uint8Array(found.buffer);
    assert.equal(mapped.memory.atomic(8, { compare: undefined, operand: 2n ** 64n - 1n }, bytes), 8);
    assert.equal(mapped.memory.atomic(8, { compare: 7n, operand: 1n }, bytes), 8);
    assert.equal(found[0], 2n ** 64n - 1n);
    assert.equal(mapped.memory.atomic(8, { compare: 2n ** 64n - 1n, operand: 5n }, bytes), 8);
    assert.deepEqual([...(await mapped.show(8, 8))], [5, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('ends at the first byte that is not mapped', async () => {
    await using mapped = await Mapped.start();
    await mapped.unmap(2 * PAGE);
    const copy = new Uint8Array(4 * PAGE);
    assert.equal(mapped.memory.read(PAGE, copy, 0, 2 * PAGE), PAGE);
    assert.equal(mapped.memory.write(PAGE, copy, 0, 3 * PAGE), PAGE);
    assert.equal(mapped.memory.read(2 * PAGE, copy, 0, 1), 0);
    assert.equal(mapped.memory.atomic(2 * PAGE + 8, { compare: undefined, operand: 1n }, copy), 0);
  });

  it('has not one byte once the process has ended', async () => {
    const mapped = await Mapped.start();
    await mapped[Symbol.asyncDispose]();
    assert.equal(mapped.memory.read(0, new Uint8Array(8), 0, 8), 0);
    assert.equal(mapped.memory.write(0, new Uint8Array(8), 0, 8), 0);
  });
});

describe('a region in the memory of another process', { skip }, () => {
  let mapped: Mapped;
  before(async () => {
    mapped = await Mapped.start();
  });
  after(() => mapped[Symbol.asyncDispose]());

  const IOVA = 0x5000_0000_0000;
  const open = (): Pair => new Pair('inline', NET);
  const register = (pair: Pair, side: 'a' | 'b') =>
    registerMemory(pair[side].pd, mapped.memory, { iova: IOVA, access: ALL_ACCESS });

  it('takes WRITEs and answers READs', async () => {
    using pair = open();
    const { a } = pair;
    const there = register(pair, 'b');
    a.mr.bytes.set(pattern(50_000));
    const rdma = { remoteAddr: there.addr + 11n, rkey: there.rkey };
    a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 50_000)], rdma });
    assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
    assert.deepEqual(await mapped.show(11, 50_000), a.mr.bytes.slice(0, 50_000));
    a.mr.bytes.fill(0);
    a.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 50_000)], rdma });
    assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
    assert.deepEqual(a.mr.bytes.slice(0, 50_000), pattern(50_000));
  });

  it('is sent from and received into', async () => {
    using pair = open();
    const [from, to] = [register(pair, 'a'), register(pair, 'b')];
    await mapped.tell({ fill: [...pattern(30_000, 9)] });
    pair.b.qp.postRecv({ sgList: [to.sge(100_000, 30_000)] });
    pair.a.qp.postSend({ opcode: WrOpcode.SEND, sgList: [from.sge(0, 30_000)] });
    assert.equal(drainOne(pair.b.cq).byteLen, 30_000);
    assert.deepEqual(await mapped.show(100_000, 30_000), pattern(30_000, 9));
  });

  it('refuses a WRITE whose last page its program has unmapped, and says so', async () => {
    await using other = await Mapped.start();
    using pair = open();
    const { a, b } = pair;
    const there = registerMemory(b.pd, other.memory, { iova: IOVA, access: ALL_ACCESS });
    await other.unmap(3 * PAGE);
    b.qp.postRecv({ sgList: [] });
    const rdma = { remoteAddr: there.addr, rkey: there.rkey };
    a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, 3 * PAGE + 1)], rdma });
    assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
    const flushed = drainOne(b.cq);
    assert.equal(flushed.status, WcStatus.WR_FLUSH_ERR);
    assert.match(explain(flushed), /memory that the peer named turned out to be unmapped/);
  });

  it('ends a SEND from memory that its program has unmapped in LOC_PROT_ERR, and says so', async () => {
    await using other = await Mapped.start();
    using pair = open();
    const { a } = pair;
    const from = registerMemory(a.pd, other.memory, { iova: IOVA, access: ALL_ACCESS });
    await other.unmap(3 * PAGE);
    a.qp.postSend({ opcode: WrOpcode.SEND, sgList: [from.sge(0, 4 * PAGE)] });
    const failed = drainOne(a.cq);
    assert.equal(failed.status, WcStatus.LOC_PROT_ERR);
    assert.match(explain(failed), /byte at 0x500000003000.* is not there; the key is good/);
  });
});
