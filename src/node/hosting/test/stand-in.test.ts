import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type LinkKind, openDevice, SendFlags, type WorkCompletion, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drain, drainOne, makeSide, pattern, type Side } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, type EndInfo, Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

/**
 * A peer with an ACK timeout of 34 ms and seven retries gives up after 0.3 to 1.1 s of silence. `VERBENA_TEST_COMPUTE_MS` has programs
 * compute for longer after the requests.
 */
const IMPATIENT = { timeout: 13, bytes: 1 << 20 };
const COMPUTE_MS = Number(process.env['VERBENA_TEST_COMPUTE_MS'] ?? 2500);
const BYTES = 1 << 20;
const HALF = BYTES / 2;
const SIGNALED = SendFlags.SIGNALED;

/** Until it comes, a program computes. */
class End implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'verbena-'));
  readonly path = join(this.#folder, 'end');

  come(): void {
    writeFileSync(this.path, '');
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

function endsOf(message: unknown): EndInfo[] {
  const { ends } = message as { ends: unknown[] }; // of the program of this test
  return ends.map(asEndInfo);
}

/** A program with an inline NIC and its stand-in, and so many queue pairs that lead there. */
async function meet(
  program: Program,
  sides: readonly Side[],
): Promise<readonly { readonly side: Side; readonly peer: EndInfo }[]> {
  const ends = endsOf(await program.message());
  const pairs = sides.map((side, i) => ({ side, peer: ends[i] }));
  for (const { side, peer } of pairs) connectTo(side, peer, IMPATIENT);
  program.send({ peers: sides.map(infoOf) });
  await program.message();
  return pairs;
}

/** What {@link postAll} posts. */
const REQUESTS = 4;

function postAll(side: Side, peer: EndInfo): void {
  const { qp, mr } = side;
  const at = (offset: number): { remoteAddr: bigint; rkey: number } => ({
    remoteAddr: BigInt(peer.addr) + BigInt(offset),
    rkey: peer.rkey,
  });
  mr.bytes.set(pattern(1000, 9), 0);
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [mr.sge(0, 64)] });
  qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [mr.sge(0, 1000)], rdma: at(4096) });
  qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SIGNALED, sgList: [mr.sge(HALF, HALF)], rdma: at(HALF) });
  qp.postSend({
    opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
    sendFlags: SIGNALED,
    sgList: [mr.sge(8192, 8)],
    atomic: { ...at(128), compareAdd: 5n },
  });
}

function assertSuccess(completions: readonly WorkCompletion[]): void {
  assert.deepEqual(
    completions.map(({ status }) => status),
    completions.map(() => WcStatus.SUCCESS),
  );
}

for (const link of ['udp', 'shm'] as const satisfies readonly LinkKind[])
  describe(`a program that computes, reached by ${link}`, () => {
    test('loses no connection: requests of several queue pairs complete afterwards', async () => {
      await using program = new Program('computes', ['auto', link, loopback(2), '4']);
      using context = openDevice({ host: 'thread', link, address: loopback(1) });
      const sides = Array.from({ length: 4 }, () => makeSide(context, IMPATIENT));
      const pairs = await meet(program, sides);
      const [idle, ...busy] = pairs;
      using end = new End();
      program.send({ computeUntil: end.path });
      await program.message();
      for (const { side, peer } of busy) postAll(side, peer);
      await setTimeout(COMPUTE_MS);
      end.come();
      for (const { side } of busy) {
        assertSuccess(drain(side.cq, REQUESTS));
        assert.deepEqual(side.mr.bytes.subarray(HALF), pattern(HALF));
      }
      await program.message();
      postAll(idle.side, idle.peer);
      assertSuccess(drain(idle.side.cq, REQUESTS));
    });

    test('completes its own READ that was under way', async () => {
      await using program = new Program('computes', ['auto', link, loopback(4), '1']);
      using context = openDevice({ host: 'thread', link, address: loopback(3) });
      const side = makeSide(context, IMPATIENT);
      await meet(program, [side]);
      using end = new End();
      program.send({ readUntil: end.path });
      program.send(infoOf(side));
      await program.message();
      await setTimeout(COMPUTE_MS);
      end.come();
      assert.deepEqual(await program.message(), { status: 'SUCCESS' });
    });
  });

test('without a stand-in the connection of a program that computes ends', async () => {
  await using program = new Program('computes', ['inline', 'udp', loopback(6), '1']);
  using context = openDevice({ host: 'thread', link: 'udp', address: loopback(5) });
  const side = makeSide(context, IMPATIENT);
  const [{ peer }] = await meet(program, [side]);
  using end = new End();
  program.send({ computeUntil: end.path });
  await program.message();
  postAll(side, peer);
  assert.equal(drainOne(side.cq).status, WcStatus.RETRY_EXC_ERR);
});
