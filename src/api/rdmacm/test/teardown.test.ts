import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, type CmId, createId, PortSpace } from '../../../entry/index.js';
import { holdingsOf } from '../../../../test/support/holdings.js';
import { next, PORT, Pair } from './support.js';

const GROUP = { host: '239.1.2.3' };
/** Later than any message that parting takes, and than TIMEWAIT. */
const LATER_US = 600e6;

/** As programs end one: its queue pair first (`man rdma_destroy_id`). */
function end(id: CmId): void {
  if (id.qp !== undefined) id.destroyQp();
  id.destroy();
}

/** From making to end, with a look at the devices in between. */
const LIVES: Readonly<Record<string, (pair: Pair, meanwhile: () => void) => void>> = {
  'an identifier with a port': ({ passive }, meanwhile) => {
    const id = createId(passive, PortSpace.TCP);
    id.bindAddr({ port: PORT });
    meanwhile();
    end(id);
  },
  'an identifier with a queue pair': (pair, meanwhile) => {
    const id = pair.resolve();
    id.createQp();
    meanwhile();
    end(id);
  },
  'a listener': (pair, meanwhile) => {
    const id = pair.listen();
    meanwhile();
    end(id);
  },
  'a listener with a request that nobody has answered': (pair, meanwhile) => {
    const listener = pair.listen();
    const { id, request } = pair.request();
    meanwhile();
    end(request.id);
    end(listener);
    next(pair.active, CmEventType.REJECTED);
    end(id);
  },
  'a connection': (pair, meanwhile) => {
    const listener = pair.listen();
    const ends = pair.connect();
    meanwhile();
    ends[0].disconnect();
    next(pair.passive, CmEventType.DISCONNECTED);
    ends[1].disconnect();
    next(pair.active, CmEventType.DISCONNECTED);
    for (const id of [...ends, listener]) end(id);
  },
  'a connection that nobody parts from': (pair, meanwhile) => {
    const listener = pair.listen();
    const ends = pair.connect();
    meanwhile();
    for (const id of [...ends, listener]) end(id);
  },
  'a member of a multicast group': ({ active }, meanwhile) => {
    const id = createId(active, PortSpace.UDP);
    id.bindAddr({ port: PORT });
    id.createQp();
    id.joinMulticast(GROUP);
    next(active, CmEventType.MULTICAST_JOIN);
    meanwhile();
    end(id);
  },
};

describe('once it is ended, no device keeps anything of', () => {
  for (const [name, live] of Object.entries(LIVES))
    test(name, () => {
      using pair = new Pair();
      const look = (): unknown => [pair.a, pair.b].map(holdingsOf);
      const endsAs = (): unknown => {
        live(pair, () => undefined);
        pair.cluster.run(pair.cluster.nowUs + LATER_US);
        return look();
      };
      // What identifiers share is made with the first and stays.
      const before = endsAs();
      live(pair, () => assert.notDeepEqual(look(), before, 'it shows while it is there'));
      assert.deepEqual(endsAs(), before);
    });
});
