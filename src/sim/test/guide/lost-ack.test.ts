import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, connect, listen, SendFlags, WcStatus } from 'verbena';
import { simulate } from 'verbena/sim';

// The program under test. It does not know about simulations.
async function serve(): Promise<string> {
  const buffer = alloc(64);
  const request = await listen({ port: 7174 }).next();
  const connection = await request.accept({ prepare: (id) => id.postRecv(0n, id.regMsgs(buffer).sge()) });
  const { byteLen } = await connection.recvComp();
  return Buffer.from(buffer).toString('utf8', 0, byteLen);
}

async function greet(host: string): Promise<WcStatus> {
  const connection = await connect({ host, port: 7174 });
  const mr = connection.regMsgs(alloc(64));
  mr.bytes.set(Buffer.from('hello'));
  connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
  return (await connection.sendComp()).status;
}

test('a message whose ACK is lost is sent again and delivered once', () =>
  simulate(async (sim) => {
    const server = sim.host('server');
    const client = sim.host('client');
    sim.drop({ opcode: 'RC_ACKNOWLEDGE', from: server, nth: 1 });

    const served = server.run(serve);
    const status = await client.run(() => greet('server'));

    assert.equal(status, WcStatus.SUCCESS);
    assert.equal(await served, 'hello');
    // It was sent twice with the same PSN, an ACK timeout apart.
    const [first, second, ...more] = sim.packets({ opcode: 'RC_SEND_ONLY', from: client });
    assert.equal(more.length, 0);
    assert.equal(second.psn, first.psn);
    assert.ok(second.sentUs - first.sentUs > 100_000);
    // The server recognized the repeat, and only acknowledged it again.
    assert.equal(server.counters()['duplicate_request'], 1);
  }));
