import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unsupported, VerbsError } from '../../api/verbs/index.js';
import { ToolError } from '../kit/errors.js';
import type { HostingOptions } from '../kit/options.js';
import { isHere, openFirst, spinningHosts } from '../kit/spinning.js';

const hosts = (...args: Parameters<typeof spinningHosts>): unknown[] =>
  spinningHosts(...args).map(({ host = 'default' }) => host);

test('a tool that spins runs its NIC inline where its threads and those of its peer need more processors than there are', () => {
  assert.deepEqual(hosts({}, true, 3), ['inline', 'default']);
  assert.deepEqual(hosts({}, true, 4), ['default']);
  assert.deepEqual(hosts({}, false, 1), ['inline', 'default']);
  assert.deepEqual(hosts({}, false, 2), ['default']);
});

test('what was asked for wins: --host, and VERBENA_HOST', () => {
  assert.deepEqual(hosts({ host: 'thread' }, true, 1), ['thread']);
  process.env['VERBENA_HOST'] = 'thread';
  try {
    assert.deepEqual(hosts({}, true, 1), ['default']);
  } finally {
    delete process.env['VERBENA_HOST'];
  }
});

const lacking = new VerbsError('ibv_open_device', { errno: 'ENOSYS', message: 'no system calls', advice: '' });

test('where inline is not possible, it is a thread', async () => {
  const tried: unknown[] = [];
  const opened = await openFirst(spinningHosts<HostingOptions>({}, true, 1), ({ host = 'thread' }) => {
    tried.push(host);
    if (host === 'inline') throw new ToolError("Couldn't get context", 1, { cause: lacking });
    return host;
  });
  assert.deepEqual({ tried, opened }, { tried: ['inline', 'thread'], opened: 'thread' });
});

test('other failures are told, and so is that of the last choice', async () => {
  const taken = new VerbsError('ibv_open_device', unsupported('taken'));
  const open = (failure: Error) => () => {
    throw failure;
  };
  await assert.rejects(openFirst(spinningHosts({}, true, 1), open(taken)), taken);
  await assert.rejects(openFirst(spinningHosts({ host: 'inline' }, true, 1), open(lacking)), lacking);
});

test('a peer at an address of this machine is here', () => {
  assert.deepEqual(['127.0.0.9', '::1', '192.0.2.1'].map(isHere), [true, true, false]);
});
