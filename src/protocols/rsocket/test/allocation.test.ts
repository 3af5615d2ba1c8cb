import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Sizes, StreamProtocol } from '../protocol/index.js';
import { type ConnectionData, SPAN_BYTES, type Span } from '../wire/connection-data.js';
import { immediateOf, Operation } from '../wire/message.js';
import { bytesPerRound, NO_OBJECT_BYTES } from '../../../../test/support/allocation.js';

const SIZES: Sizes = {
  sqSize: 384,
  rqSize: 384,
  inlineBytes: 64,
  sendBufferBytes: 131_072,
  receiveBufferBytes: 131_072,
  iomapSize: 0,
};
const HALF: Span = { addr: 0x7f12_3456_7000n, key: 1, length: SIZES.receiveBufferBytes / 2 };
const PEER: ConnectionData = {
  version: 1,
  byteOrder: 'little',
  hasIomap: true,
  credits: SIZES.rqSize,
  iomapSize: 0,
  targets: { addr: 0n, key: 0, length: 2 },
  data: HALF,
};

function end(): StreamProtocol {
  return new StreamProtocol(SIZES, PEER, { target: () => HALF, mapping: () => assert.fail('nothing is mapped') });
}

/** Sends a message, which arrives, is read, and is acknowledged. */
function send(from: StreamProtocol, to: StreamProtocol, wanted: number): void {
  const byteLength = from.chunk(wanted, from.firstChunk);
  assert.ok(byteLength > 0);
  from.sentData(byteLength);
  assert.equal(to.hear(immediateOf(Operation.DATA, byteLength), byteLength), 'data');
  from.completedData(byteLength);
  to.incoming.consume(byteLength);
}

function tell(from: StreamProtocol, to: StreamProtocol): void {
  for (let control = from.nextControl(); control !== undefined; control = from.nextControl()) {
    assert.equal(to.hear(control.immediate, control.hasGrant ? SPAN_BYTES : 0), 'credit');
    from.completedControl();
  }
}

// What names a half of the buffer is told seldom, and makes some.
for (const bytes of [64, 200])
  it(`an end that is warm makes no object for ${bytes} bytes that are sent, come and are read, nor for credit`, () => {
    const [a, b] = [end(), end()];
    const each = bytesPerRound(() => {
      send(a, b, bytes);
      tell(b, a);
      send(b, a, bytes);
      tell(a, b);
    });
    assert.ok(each < NO_OBJECT_BYTES, `${each} bytes each time`);
  });
