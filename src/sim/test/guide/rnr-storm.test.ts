import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, connect, listen, SendFlags, WcStatus } from 'verbena';
import { type Sim, simulate } from 'verbena/sim';

const MESSAGE_BYTES = 64;

/**
 * Takes messages one by one, and is slow: there is never more than one receive request, and often none. It is the receiver who
 * says how often its peer may come again.
 */
async function takeSlowly(sim: Sim, count: number, rnrRetryCount: number): Promise<void> {
  const request = await listen({ port: 7174 }).next();
  const connection = await request.accept({ rnrRetryCount });
  const mr = connection.regMsgs(alloc(MESSAGE_BYTES));
  for (let i = 0; i < count; i += 1) {
    await sim.sleep(5000);
    connection.postRecv(0n, mr.sge());
    await connection.recvComp();
  }
}

async function sendAtOnce(count: number): Promise<WcStatus[]> {
  const connection = await connect({ host: 'server', port: 7174 });
  const mr = connection.regMsgs(alloc(MESSAGE_BYTES));
  for (let i = 0; i < count; i += 1) connection.postSend(BigInt(i), mr.sge(), SendFlags.SIGNALED);
  const statuses: WcStatus[] = [];
  while (statuses.length < count) statuses.push((await connection.sendComp()).status);
  return statuses;
}

test('with rnrRetryCount 7, which is for ever, a slow receiver costs RNR NAKs but no message', () =>
  simulate(async (sim) => {
    const server = sim.host('server');
    const client = sim.host('client');
    void server.run(() => takeSlowly(sim, 10, 7));
    const statuses = await client.run(() => sendAtOnce(10));

    assert.ok(statuses.every((status) => status === WcStatus.SUCCESS));
    // The storm: each NAK asks for silence, and when that is over the receiver is not ready yet.
    const naks = sim.packets({ ack: 'RNR_NAK', from: server });
    assert.ok(naks.length >= 50, `${naks.length} RNR NAKs`);
    for (const { psn, sentUs: nakUs, rnrTimerUs = 0 } of naks) {
      const [again] = sim.packets({ from: client, psn, where: ({ sentUs }) => sentUs > nakUs });
      assert.ok(again.sentUs - nakUs >= rnrTimerUs);
    }
  }));

test('with rnrRetryCount 2 the third RNR NAK ends it', () =>
  simulate(async (sim) => {
    const server = sim.host('server');
    const client = sim.host('client');
    void server.run(() => takeSlowly(sim, 10, 2));
    const statuses = await client.run(() => sendAtOnce(3));

    assert.deepEqual(statuses, [WcStatus.RNR_RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR]);
    assert.equal(sim.packets({ ack: 'RNR_NAK' }).length, 3);
  }));
