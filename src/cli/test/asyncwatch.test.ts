import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { factsOf } from '../devices/ibv-asyncwatch.js';
import { type AsyncEvent, EventType, openDevice } from '../../entry/index.js';
import { ip, isInside, namespaceProblem, runInside, untilUp } from '../../node/links/test/namespace.js';
import { loopback } from '../../../test/support/loopback.js';
import { run, Tool } from './tool.js';

const WATCH = 'ibv_asyncwatch';

const AS_TEXT = [
  'verbena0: async events of the device at 10.93.0.1',
  '  event_type IBV_EVENT_GID_CHANGE (18), port 1',
  '  event_type IBV_EVENT_PORT_ERR (10), port 1',
  '  event_type IBV_EVENT_GID_CHANGE (18), port 1',
  '  event_type IBV_EVENT_PORT_ACTIVE (9), port 1',
];
const AS_JSON = [
  '{"device":"verbena0","address":"10.93.0.2"}',
  '{"name":"IBV_EVENT_GID_CHANGE","eventType":18,"port":1}',
  '{"name":"IBV_EVENT_PORT_ERR","eventType":10,"port":1}',
  '{"name":"IBV_EVENT_GID_CHANGE","eventType":18,"port":1}',
  '{"name":"IBV_EVENT_PORT_ACTIVE","eventType":9,"port":1}',
];

/** The addresses of an interface of this network go and come back. */
function inside(): void {
  test('addresses that go and come back are told, as text and as JSON', async () => {
    const change = (how: string): void => {
      for (const address of ['10.93.0.1', '10.93.0.2']) ip(`addr ${how} ${address}/32 dev va`);
    };
    ip('link add va type veth peer name vb');
    change('add');
    ip('link set va up');
    ip('link set vb up');
    untilUp('va');
    const tools = [
      new Tool([WATCH, '--addr', '10.93.0.1']),
      new Tool([WATCH, '--addr', '10.93.0.2', '--host', 'inline', '--json']),
    ];
    for (const tool of tools) await tool.printed('verbena0');
    change('del');
    for (const tool of tools) await tool.printed('PORT_ERR');
    change('add');
    for (const tool of tools) await tool.printed('PORT_ACTIVE');
    for (const { child } of tools) child.kill('SIGINT');
    const [text, json] = await Promise.all(tools.map(({ ended }) => ended));
    for (const { signal, stderr } of [text, json])
      assert.deepEqual({ signal, stderr }, { signal: 'SIGINT', stderr: '' });
    assert.deepEqual(text.stdout.trimEnd().split('\n'), AS_TEXT);
    assert.deepEqual(json.stdout.trimEnd().split('\n'), AS_JSON);
  });
}

if (isInside) inside();
else {
  describe(WATCH, () => {
    test('events of a port, in a network of their own', { skip: namespaceProblem() }, () => runInside(import.meta.url));

    test('it waits until Ctrl-C', async () => {
      const tool = new Tool([WATCH, '--addr', loopback(1)]);
      await tool.printed('async events');
      tool.child.kill('SIGINT');
      const { signal, stdout } = await tool.ended;
      const told = `verbena0: async events of the device at ${loopback(1)}\n`;
      assert.deepEqual({ signal, stdout }, { signal: 'SIGINT', stdout: told });
    });

    test('a device that is not there is refused', async () => {
      const { code, stderr } = await run([WATCH, '-d', 'mlx5_0']);
      assert.deepEqual({ code, stderr }, { code: 1, stderr: 'IB device mlx5_0 not found\n' });
    });

    test('the lost device has its name, and no port', () => {
      const event: AsyncEvent = { eventType: EventType.DEVICE_FATAL };
      assert.deepEqual(factsOf(event), { name: 'IBV_EVENT_DEVICE_FATAL', eventType: 8, port: 0 });
    });

    test("an event of a program's own object is none that the tool expects", () => {
      using context = openDevice({ host: 'inline', address: loopback(2) });
      using cq = context.createCq({ cqe: 1 });
      assert.deepEqual(factsOf({ eventType: EventType.CQ_ERR, cq }), { name: 'unexpected', eventType: 0, port: 0 });
    });
  });
}
