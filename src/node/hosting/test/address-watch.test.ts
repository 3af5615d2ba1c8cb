import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, EventType, openDevice, PortState, readStatistics } from '../../../entry/index.js';
import { administer } from '../../../entry/sim.js';
import { ip, isInside, namespaceProblem, runInside, untilUp } from '../../links/test/namespace.js';

const PATIENCE_MS = 60_000;
const { GID_CHANGE, PORT_ERR, PORT_ACTIVE } = EventType;

async function awaited(context: Context, count: number): Promise<EventType[]> {
  const seen: EventType[] = [];
  for await (const { eventType } of context.asyncEvents()) {
    seen.push(eventType);
    if (seen.length === count) break;
  }
  return seen;
}

const waited = (context: Context, count: number): EventType[] =>
  Array.from({ length: count }, () => context.getAsyncEvent(PATIENCE_MS).eventType);

function inside(): void {
  before(() => {
    ip('link set lo up');
    ip('link add va type veth peer name vb');
    ip('link set va up');
    ip('link set vb up');
    untilUp('va');
  });
  after(() => ip('link del va'));

  for (const host of ['inline', 'thread'] as const) {
    describe(`a NIC hosted ${host}`, () => {
      test('notices that its address goes, and comes back', () => {
        ip('addr add 10.86.0.1/24 dev va');
        using context = openDevice({ host, address: '10.86.0.1' });
        ip('addr del 10.86.0.1/24 dev va');
        assert.deepEqual(waited(context, 2), [GID_CHANGE, PORT_ERR]);
        assert.deepEqual([context.queryPort().state, context.queryGidTable()], [PortState.DOWN, []]);
        ip('addr add 10.86.0.1/24 dev va');
        assert.deepEqual(waited(context, 2), [GID_CHANGE, PORT_ACTIVE]);
        assert.deepEqual([context.queryPort().state, context.queryGidTable().length], [PortState.ACTIVE, 1]);
        ip('addr del 10.86.0.1/24 dev va');
      });

      test('notices that its interface goes down, while the program awaits events', async () => {
        ip('addr add 10.86.0.2/24 dev va');
        using context = openDevice({ host, address: '10.86.0.2' });
        const down = awaited(context, 2);
        ip('link set va down');
        assert.deepEqual(await down, [GID_CHANGE, PORT_ERR]);
        const up = awaited(context, 2);
        ip('link set va up');
        assert.deepEqual(await up, [GID_CHANGE, PORT_ACTIVE]);
        ip('addr del 10.86.0.2/24 dev va');
      });

      test('leaves a port down that the administrator took down, until he brings it up again', () => {
        ip('addr add 10.86.0.4/24 dev va');
        using context = openDevice({ host, address: '10.86.0.4' });
        administer(context, { linkUp: false });
        assert.deepEqual(waited(context, 1), [PORT_ERR]);
        ip('addr del 10.86.0.4/24 dev va');
        assert.deepEqual(waited(context, 1), [GID_CHANGE]);
        ip('addr add 10.86.0.4/24 dev va');
        assert.deepEqual(waited(context, 1), [GID_CHANGE]);
        assert.equal(context.queryPort().state, PortState.DOWN);
        administer(context, { linkUp: true });
        assert.deepEqual(waited(context, 1), [PORT_ACTIVE]);
        ip('addr del 10.86.0.4/24 dev va');
      });

      test('brings a port without its address up once that is there', () => {
        ip('addr add 10.86.0.5/24 dev va');
        using context = openDevice({ host, address: '10.86.0.5' });
        ip('addr del 10.86.0.5/24 dev va');
        assert.deepEqual(waited(context, 2), [GID_CHANGE, PORT_ERR]);
        administer(context, { linkUp: false });
        administer(context, { linkUp: true });
        assert.equal(context.queryPort().state, PortState.DOWN);
        ip('addr add 10.86.0.5/24 dev va');
        assert.deepEqual(waited(context, 2), [GID_CHANGE, PORT_ACTIVE]);
        ip('addr del 10.86.0.5/24 dev va');
      });

      test('shows other programs that it is down, though nobody waits for it', async () => {
        ip('addr add 10.86.0.3/24 dev va');
        using context = openDevice({ host, address: '10.86.0.3' });
        const state = (): PortState | undefined =>
          readStatistics().find(({ address }) => address === context.address)?.portState;
        assert.equal(state(), PortState.ACTIVE);
        ip('addr del 10.86.0.3/24 dev va');
        const begun = performance.now();
        while (state() === PortState.ACTIVE && performance.now() - begun < PATIENCE_MS) await sleep(20);
        assert.equal(state(), PortState.DOWN);
      });
    });
  }
}

if (isInside) describe('in a network of its own', inside);
else {
  test('NICs watch their real address', { skip: namespaceProblem() }, () => runInside(import.meta.url));
}
