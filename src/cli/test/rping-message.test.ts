import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSAGE_BYTES, readMessage, textBytes, textOf, writeMessage, writePing } from '../rdmacm/rping/message.js';
import { Progress, State, Stopped } from '../rdmacm/rping/state.js';

test('a message is address, key and length, the highest byte of each first', () => {
  const message = Buffer.alloc(MESSAGE_BYTES);
  writeMessage(message, { addr: 0x7f12_3456_789a_bcden, rkey: 0x0102_0304, lengthBytes: 0x64 });
  assert.equal(message.toString('hex'), '7f123456789abcde0102030400000064');
});

test('a message says what it was made of', () => {
  const told = { addr: 0xffff_ffff_ffff_fff0n, rkey: 0xffff_ffff, lengthBytes: 65535 };
  const message = Buffer.alloc(MESSAGE_BYTES);
  writeMessage(message, told);
  assert.deepEqual(readMessage(message), told);
});

const PINGS = [
  { ping: 0, text: 'rdma-ping-0: ABCDEFGHIJKLM' },
  { ping: 1, text: 'rdma-ping-1: BCDEFGHIJKLMN' },
  { ping: 57, text: 'rdma-ping-57: zABCDEFGHIJK' },
  { ping: 58, text: 'rdma-ping-58: ABCDEFGHIJKL' },
];
for (const { ping, text } of PINGS) {
  test(`ping ${ping} is its number, then letters from one that moves on with it`, () => {
    const buffer = Buffer.alloc(text.length + 1, 0xff);
    writePing(buffer, ping);
    assert.equal(buffer.toString('latin1'), `${text}\0`);
  });
}

test('a text without a NUL is as long as its buffer', () => {
  const buffer = Buffer.from('abc');
  assert.deepEqual([textBytes(buffer), textOf(buffer)], [3, 'abc']);
});

test('a text ends at its NUL, which goes over the wire with it', () => {
  const buffer = Buffer.from('ab\0c');
  assert.deepEqual([textBytes(buffer), textOf(buffer)], [3, 'ab']);
});

test('states come to the one who waits in their order, however late', async () => {
  const progress = new Progress();
  progress.advance(State.RDMA_READ_ADV);
  progress.advance(State.RDMA_READ_COMPLETE);
  await progress.expect('RDMA_READ_ADV');
  await progress.expect('RDMA_READ_COMPLETE');
  const waiting = progress.expect('RDMA_WRITE_ADV');
  progress.advance(State.RDMA_WRITE_ADV);
  await waiting;
});

test('a peer that leaves stops the conversation, which is no failure', async () => {
  const progress = new Progress();
  progress.advance(State.DISCONNECTED);
  await assert.rejects(
    progress.expect('RDMA_READ_ADV'),
    (error) => error instanceof Stopped && !error.failed && error.message === 'wait for RDMA_READ_ADV state 10',
  );
});

test('an error stops it, which is a failure, for everyone who asks', async () => {
  const progress = new Progress();
  progress.advance(State.ERROR);
  progress.advance(State.CONNECTED);
  for (const wanted of ['CONNECTED', 'RDMA_WRITE_ADV'] as const) {
    await assert.rejects(
      progress.expect(wanted),
      (error) => error instanceof Stopped && error.failed && error.message === `wait for ${wanted} state 11`,
    );
  }
});

test('waiting for the end is over when it comes, and when it has come', async () => {
  const progress = new Progress();
  const over = progress.over(60_000);
  progress.advance(State.DISCONNECTED);
  await over;
  await progress.over(60_000);
});
