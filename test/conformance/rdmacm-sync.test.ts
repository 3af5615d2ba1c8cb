import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { CmEventType, createEp, getAddrInfo } from '../../src/entry/index.js';
import type { Report } from './programs/rdmacm-listener.js';
import { conformance, ON_A_MACHINE } from './provider.js';
import { assertArrived, postForMessage, ROUNDS, sendMessage, Talker } from './rdmacm-support.js';
import { useDevices } from './support.js';

const PROGRAM = new URL('./programs/rdmacm-listener.js', import.meta.url);

/** The next thing that the thread says. */
async function reportOf(worker: Worker): Promise<Report> {
  // `once` gives the arguments of the event, and the program says nothing else.
  const [report] = (await once(worker, 'message')) as [Report];
  return report;
}

conformance(
  'synchronous identifiers',
  (provider) => {
    const devices = useDevices(provider, 1);

    test('connect, talk and disconnect without a channel', async () => {
      const worker = new Worker(PROGRAM, { workerData: provider.name });
      const place = await reportOf(worker);
      assert.ok('port' in place, 'problem' in place ? place.problem : undefined);
      const [address] = await getAddrInfo(place.host, place.port);
      using id = createEp(address, undefined, {}, { contexts: [devices[0]] });
      id.connect();
      assert.equal(id.event?.event, CmEventType.ESTABLISHED);
      using talker = new Talker(id);
      for (let round = 0; round < ROUNDS; round += 1) {
        postForMessage(talker, round);
        sendMessage(talker, round);
        assertArrived(talker, round, 0);
      }
      id.disconnect();
      const ended = once(worker, 'exit');
      assert.deepEqual(await reportOf(worker), { problem: undefined });
      await ended;
    });
  },
  ON_A_MACHINE,
);
