import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceOn, isFailure } from '../rdmacm/common/event-text.js';
import { toldIfSilent } from '../rdmacm/common/silence.js';
import { exitCodeOf } from '../rdmacm/common/status.js';
import { CmEventType, RejectReason, SidrStatus } from '../../entry/index.js';

const EXITS = [
  { status: 0, code: 0 },
  { status: 8, code: 8 },
  { status: -1, code: 255 },
  { status: -110, code: 146 },
  { status: 256, code: 1 },
];
for (const { status, code } of EXITS) {
  test(`a status of ${status} is ${code} to the shell`, () => {
    assert.equal(exitCodeOf(status), code);
  });
}

const ADVICE = [
  {
    event: CmEventType.REJECTED,
    status: RejectReason.INVALID_SERVICE_ID,
    says: /^Nothing listens at that port there; /,
  },
  { event: CmEventType.REJECTED, status: RejectReason.CONSUMER_DEFINED, says: /^The program there turned it down; / },
  { event: CmEventType.REJECTED, status: RejectReason.STALE_CONN, says: /^Stale connection\.$/ },
  { event: CmEventType.UNREACHABLE, status: -110, says: /^Nothing answers there; / },
  { event: CmEventType.UNREACHABLE, status: SidrStatus.UNSUPPORTED, says: /^Nothing listens at that port there; / },
  { event: CmEventType.UNREACHABLE, status: SidrStatus.REJECT, says: /^The program there turned it down; / },
  { event: CmEventType.CONNECT_ERROR, status: -71, says: /^The connection broke / },
];
for (const { event, status, says } of ADVICE) {
  test(`event ${event} with status ${status} is a failure, and explained`, () => {
    assert.ok(isFailure({ event }));
    assert.match(adviceOn({ event, status, error: undefined }), says);
  });
}

test('a disconnection is no failure', () => {
  assert.equal(isFailure({ event: CmEventType.DISCONNECTED }), false);
});

test('silence is told of, and the wait goes on', async () => {
  const told: string[] = [];
  const { promise, resolve } = deferred();
  const tell = (text: string): void => {
    told.push(text);
    resolve('came');
  };
  assert.equal(await toldIfSilent(promise, 'it may be gone', { ms: 1, tell }), 'came');
  assert.deepEqual(told, ['Nothing has come from the peer for 0.001 s; it may be gone.\n']);
});

test('what comes in time is not commented on', async () => {
  const tell = (text: string): void => assert.fail(text);
  assert.equal(await toldIfSilent(Promise.resolve(1), 'it may be gone', { ms: 60_000, tell }), 1);
});

function deferred(): { promise: Promise<string>; resolve: (value: string) => void } {
  const noop = (): void => undefined;
  const made = { promise: Promise.resolve(''), resolve: noop as (value: string) => void };
  made.promise = new Promise((resolve) => (made.resolve = resolve));
  return made;
}
