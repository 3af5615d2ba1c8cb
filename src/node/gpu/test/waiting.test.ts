import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HostKind, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { pattern, type Side } from '../../../providers/soft/test/support/pair.js';
import { Devices, GPU_HOSTINGS, KIND, withoutGpu } from './support.js';

const BYTES = 200_001;

/** The next completion, or undefined once an event has been asked for that tells of it. */
function look({ cq }: Side): WcStatus | undefined {
  const found = cq.poll(1).at(0);
  if (found !== undefined) return found.status;
  cq.reqNotify(false);
  // Whoever arms a queue looks once more, since what came before that raises no event.
  return cq.poll(1).at(0)?.status;
}

/** Waits in the event loop. */
async function awaited(side: Side): Promise<WcStatus> {
  for (let found = look(side); ; found = look(side)) {
    if (found !== undefined) return found;
    const { value } = await side.channel[Symbol.asyncIterator]().next();
    value?.ackEvents(1);
  }
}

async function blocked(side: Side): Promise<WcStatus> {
  for (let found = look(side); ; found = look(side)) {
    if (found !== undefined) return Promise.resolve(found);
    side.channel.getCqEvent().ackEvents(1);
  }
}

function suite(host: HostKind): void {
  let devices: Devices;
  before(() => {
    devices = new Devices(host, NET);
  });
  after(() => devices[Symbol.dispose]());

  for (const [how, wait] of [
    ['in the event loop', awaited],
    ['blocking', blocked],
  ] as const)
    it(`tells who waits ${how} when a message is there`, async () => {
      using pair = devices.connectWith(BYTES);
      const { a, b } = pair;
      const [from, to] = [pair.memory(a, true, 1), pair.memory(b, true, 2)];
      for (let turn = 0; turn < 3; turn += 1) {
        b.qp.postRecv({ sgList: [to.mr.sge()] });
        a.qp.postSend({ opcode: WrOpcode.SEND, sgList: [from.mr.sge()], sendFlags: SendFlags.SIGNALED });
        assert.deepEqual(await Promise.all([wait(b), wait(a)]), [WcStatus.SUCCESS, WcStatus.SUCCESS]);
      }
      assert.deepEqual(to.content, pattern(BYTES, 1));
    });
}

for (const host of GPU_HOSTINGS)
  describe(`memory of a GPU, by ${KIND}, for who waits, with a NIC hosted ${host}`, { skip: withoutGpu }, () =>
    suite(host),
  );
