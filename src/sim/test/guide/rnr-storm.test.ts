import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, connect, listen, SendFlags, WcStatus } from 'verbena';
import { type Sim, simulate } from 'verbena/sim';

const MESSAGE_BYTES = 64;

/**
 * Receives messages slowly: at most one receive request is posted, and often none. The receiver's rnrRetryCount decides how
 * often its peer retries.
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

test('with rnrRetryCount 7, which has no limit, a slow receiver causes RNR NAKs and loses no message', () =>
  simulate(async (sim) => {
    const server = sim.host('server');
    const client = sim.host('client');
    void server.run(() => takeSlowly(sim, 10, 7));
    const statuses = await client.run(() => sendAtOnce(10));

    assert.ok(statuses.every((status) => status === WcStatus.SUCCESS));
    // The storm: each NAK requests a pause, after which the receiver is still not ready.
    const naks = sim.packets({ ack: 'RNR_NAK', from: server });
    assert.ok(naks.length >= 50, `${naks.length} RNR NAKs`);
    for (const { psn, sentUs: nakUs, rnrTimerUs = 0 } of naks) {
      const [again] = sim.packets({ from: client, psn, where: ({ sentUs }) => sentUs > nakUs });
      assert.ok(again.sentUs - nakUs >= rnrTimerUs);
    }
  }));

test('with rnrRetryCount 2 the third RNR NAK ends the connection', () =>
  simulate(async (sim) => {
    const server = sim.host('server');
    const client = sim.host('client');
    void server.run(() => takeSlowly(sim, 10, 2));
    const statuses = await client.run(() => sendAtOnce(3));

    assert.deepEqual(statuses, [WcStatus.RNR_RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR]);
    assert.equal(sim.packets({ ack: 'RNR_NAK' }).length, 3);
  }));
