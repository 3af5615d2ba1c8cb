import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Cause } from '../verdicts/cause.js';
import { readCaptures, storiesOf } from '../read.js';
import { alloc, SendFlags } from '../../../entry/index.js';
import { type CaptureOptions, type Sim, simulate } from '../../../entry/sim.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-explain-sim-'));
after(() => rmSync(folder, { recursive: true }));

/** A SEND between two hosts, and what is told of it by the capture that the simulation writes. */
async function causesOf(disturb: (sim: Sim) => void, options: CaptureOptions = {}): Promise<Cause[]> {
  const file = await simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const accepted = server
      .listen({ port: 7174 })
      .next()
      .then((request) => request.accept({ prepare: (id) => id.postRecv(0n, id.regMsgs(alloc(64)).sge()) }));
    const connection = await client.connect({ host: 'server', port: 7174, retryCount: 2 });
    await accepted;
    disturb(sim);
    connection.postSend(0n, connection.regMsgs(alloc(64)).sge(), SendFlags.SIGNALED);
    await connection.sendComp();
    return sim.writeCapture(join(folder, 'run.pcapng'), options);
  });
  return [...storiesOf(await readCaptures([file]))].map(({ verdict }) => verdict.cause);
}

describe('explain reads captures of simulations as those of all their hosts', () => {
  it('when nothing went wrong', async () => {
    assert.deepEqual(await causesOf(() => undefined), [Cause.ANSWERED]);
  });

  it('when requests are lost', async () => {
    assert.deepEqual(await causesOf((sim) => sim.cut('client', 'server')), [Cause.REQUESTS_LOST]);
  });

  it('when requests come damaged', async () => {
    assert.deepEqual(await causesOf((sim) => sim.corrupt({ from: 'client' })), [Cause.REQUESTS_DAMAGED]);
  });

  it('when answers are lost', async () => {
    assert.deepEqual(await causesOf((sim) => sim.cut('server', 'client')), [Cause.ANSWERS_LOST]);
  });

  it('or as that of the hosts that are named', async () => {
    assert.deepEqual(await causesOf((sim) => sim.cut('server', 'client'), { at: 'client' }), [Cause.NO_ANSWER]);
  });
});
