import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PortSpace, createEventChannel, createId, openDevice } from '../../../entry/index.js';
import { loopback } from '../../../../test/support/loopback.js';

test('a device closes while news of it is under way to the event loop', () => {
  const asked = openDevice({ address: loopback(1), host: 'thread' });
  using asking = openDevice({ address: loopback(2), host: 'thread' });
  const channel = createEventChannel({ contexts: [asked] });
  const listener = createId(channel, PortSpace.TCP);
  listener.bindAddr({ port: 7 });
  listener.listen();
  // Somebody waits for events in the event loop, which this test never gives a turn.
  channel[Symbol.asyncIterator]()
    .next()
    .catch(() => {});
  const client = createId(undefined, PortSpace.TCP, { contexts: [asking] });
  client.resolveAddr({ host: asked.address, port: 7 });
  client.resolveRoute();
  client.createQp();
  client.migrate(createEventChannel({ contexts: [asking] }));
  client.connect();
  while (asked.counters()['cm_rx_msgs_req'] !== 1);
  asked.close();
  assert.throws(() => asked.queryPort(), /ibv_query_port/);
});
