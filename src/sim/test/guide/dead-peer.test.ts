import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, connect, type Connection, listen, SendFlags, WcStatus } from 'verbena';
import { simulate } from 'verbena/sim';

const FILE_BYTES = 1024 * 1024;

/** Offers memory to one peer, with its address and key in the private data of the REP. */
async function offer(memory: Uint8Array): Promise<Connection> {
  const listener = listen({ port: 7174 });
  const request = await listener.next();
  const where = Buffer.alloc(12);
  return request.accept({
    privateData: where,
    prepare: (id) => {
      const mr = id.regWrite(memory);
      where.writeBigUInt64BE(mr.addr, 0);
      where.writeUInt32BE(mr.rkey, 8);
    },
  });
}

/** Writes a file into a peer's memory. If the peer is lost, it reconnects and starts over. */
async function upload(file: Uint8Array): Promise<{ attempts: number; failures: string[] }> {
  const failures: string[] = [];
  for (let attempts = 1; ; attempts += 1) {
    const connection = await connect({ host: 'server', port: 7174, retryCount: 3 }).catch(() => undefined);
    if (connection === undefined) continue;
    const where = Buffer.from(connection.privateData);
    const mr = connection.regMsgs(file);
    const rdma = { remoteAddr: where.readBigUInt64BE(0), rkey: where.readUInt32BE(8) };
    connection.postWrite(0n, mr.sge(), SendFlags.SIGNALED, rdma.remoteAddr, rdma.rkey);
    const wc = await connection.sendComp();
    if (wc.status === WcStatus.SUCCESS) return { attempts, failures };
    failures.push(connection.qp.context.explain(wc));
    connection[Symbol.dispose]();
  }
}

test('an upload survives a peer that dies in the middle of a WRITE and restarts', () =>
  simulate(async (sim) => {
    const server = sim.host('server');
    const client = sim.host('client');
    const file = alloc(FILE_BYTES).fill(7);
    const [first, second] = [alloc(FILE_BYTES), alloc(FILE_BYTES)];

    void server.run(() => offer(first));
    // The power fails at the hundredth packet and returns after 30 s.
    sim.when({ opcode: 'RC_WRITE_MIDDLE', nth: 100 }, () => {
      server.crash();
      sim.at(sim.nowUs + 30_000_000, () => {
        server.restart();
        void server.run(() => offer(second));
      });
    });
    const { attempts, failures } = await client.run(() => upload(file));

    assert.ok(attempts > 1);
    assert.equal(failures.length, 1);
    assert.match(failures[0], /^retry count exceeded: 4 transmissions of PSN .* no answer in 2\.1 s/);
    // A part of the first WRITE arrived: a WRITE is not a transaction.
    assert.ok(first.includes(7) && first.includes(0));
    assert.deepEqual(second, file);
  }));
