import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { descriptorLimit, type DescriptorRange, descriptorRanges } from '../launcher/descriptor-ranges.js';
import { CmEventType } from '../../entry/index.js';
import { loopback } from '../../../test/support/loopback.js';
import { CProgram, compilerProblem } from './c-program.js';
import { cannotRun, run } from './support.js';
import { Command, numbers, programs, sockaddr } from './ucma-support.js';

const ENOUGH = 8192;
const CHANNELS = 1000;

describe('the numbers of descriptors', () => {
  for (const limit of [1024, ENOUGH, 2 ** 20]) {
    it(`lie apart, and below a limit of ${limit}`, () => {
      const ranges = Object.values<DescriptorRange>({ ...descriptorRanges(limit) }).sort(
        (a, b) => a.first - b.first || a.end - b.end,
      );
      for (const [i, { first, end }] of ranges.entries()) {
        assert.ok(first <= end && end <= limit);
        assert.ok(i === 0 || ranges[i - 1].end <= first);
      }
    });
  }

  it('of event channels can be used with select(2) first', () => {
    const { rdmaCm, moreRdmaCm } = descriptorRanges(ENOUGH);
    assert.ok(rdmaCm.end <= 1024);
    assert.ok(moreRdmaCm.end - moreRdmaCm.first > CHANNELS);
  });
});

test('a look at the devices reports to those open files alone that have an event', (t) => {
  using both = programs();
  const { server, client, ucma } = both;
  const [ofServer, ofClient] = [server, client].map(({ file }) => t.mock.method(file.parts, 'news').mock);
  const { id } = client.create();
  server.create();
  client.tell(Command.RESOLVE_IP, Buffer.concat([Buffer.alloc(28), sockaddr('10.0.0.1', 1), numbers(id, 1000)]));
  const queue = both.contexts[0].createCq({ cqe: 1 });
  for (let i = 0; i < 100 && ofClient.callCount() === 0; i += 1) {
    queue.poll(1);
    ucma.pump();
  }
  assert.ok(ofClient.callCount() > 0);
  assert.equal(ofServer.callCount(), 0);
  client.expect(CmEventType.ADDR_RESOLVED);
});

const few = descriptorLimit() < ENOUGH ? `a program may have only ${descriptorLimit()} descriptors here` : false;
const skip = cannotRun !== false ? cannotRun : (compilerProblem() ?? few);

describe('a program with many event channels', { skip }, () => {
  let program: CProgram | undefined;
  before(() => void (program = new CProgram('channels')));
  after(() => program?.remove());

  it('gets the events of each', async () => {
    const { out, errors } = await run([program?.path ?? '', loopback(1), String(CHANNELS)]);
    assert.equal(out, `${CHANNELS} channels, ${CHANNELS} events\n`, errors);
  });
});
