import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, Errno, QpState, QpType, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertRefused, assertStatuses, pattern, World } from './pair.js';
import { FrameHost, RawQp } from './raw-packet.js';

const LOCAL_WRITE = AccessFlags.LOCAL_WRITE;
const frame = (length: number, seed = 1): Uint8Array => pattern(length, seed);

function sending(): { host: FrameHost; qp: RawQp } {
  const host = new FrameHost();
  return { host, qp: new RawQp(host).toRts() };
}

for (const length of [14, 60, 1514, 9018]) {
  test(`a frame of ${length} bytes leaves as it is`, () => {
    const { host, qp } = sending();
    const memory = host.register(frame(length), 0);
    const wrId = qp.send([memory.sge()]);
    host.run();
    const completions = qp.sendCq.poll();
    assertCompleted(completions, [wrId]);
    assert.deepEqual([completions[0].opcode, completions[0].byteLen], [WcOpcode.SEND, length]);
    assert.deepEqual(host.sent, [frame(length)]);
    const { rdmaSends, sentPkts, sentBytes } = host.nic.counters;
    assert.deepEqual([rdmaSends, sentPkts, sentBytes], [1, 1, length]);
  });
}

test('a frame is put together from its pieces', () => {
  const { host, qp } = sending();
  const memory = host.register(frame(200), 0);
  qp.send([memory.sge(100, 14), memory.sge(0, 50), memory.sge(190, 10)]);
  host.run();
  const whole = frame(200);
  assert.deepEqual([...host.sent[0]], [...whole.slice(100, 114), ...whole.slice(0, 50), ...whole.slice(190)]);
});

test('a frame leaves inline', () => {
  const { host, qp } = sending();
  qp.sendInline(frame(60));
  host.run();
  assert.deepEqual(host.sent, [frame(60)]);
});

test('a frame that completes without an entry gives its slot back', () => {
  const { host, qp } = sending();
  qp.send([host.register(frame(60), 0).sge()], WrOpcode.SEND, 0);
  host.run();
  assert.equal(qp.sq.inUse, 0);
  assert.deepEqual(qp.sendCq.poll(), []);
});

test('frames leave in the order in which they were posted', () => {
  const { host, qp } = sending();
  for (let i = 0; i < 50; i += 1) qp.sendInline(frame(60, i));
  host.run();
  assert.deepEqual(
    host.sent,
    Array.from({ length: 50 }, (_, i) => frame(60, i)),
  );
  assert.equal(qp.sendCq.poll().length, 50);
});

test('a frame that the link refuses fails with its errno, and those behind it are flushed', () => {
  const { host, qp } = sending();
  host.errno = Errno.EMSGSIZE;
  const refused = qp.sendInline(frame(60));
  const behind = qp.sendInline(frame(60));
  host.run();
  const completions = qp.sendCq.poll();
  assertStatuses(completions, [
    [refused, WcStatus.GENERAL_ERR],
    [behind, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.equal(completions[0].vendorErr, Syndrome.LINK_REFUSED);
  assert.deepEqual(completions[0].detail.slice(0, 2), [60, Errno.EMSGSIZE]);
  assert.equal(qp.state, QpState.SQE);
  assert.equal(host.nic.counters.sendErr, 1);
});

test('in SQE frames are received', () => {
  const { host, qp } = sending();
  host.errno = Errno.ENETDOWN;
  qp.sendInline(frame(60));
  host.run();
  const memory = host.register(new Uint8Array(100), LOCAL_WRITE);
  const wrId = qp.recv(memory.sge());
  host.arrive(frame(70));
  assertCompleted(qp.recvCq.poll(), [wrId]);
});

test('from SQE a QP goes back to RTS', () => {
  const { host, qp } = sending();
  host.errno = Errno.ENETDOWN;
  qp.sendInline(frame(60));
  host.run();
  host.errno = 0;
  qp.sendCq.poll();
  qp.modify({ qpState: QpState.RTS });
  const wrId = qp.sendInline(frame(61));
  host.run();
  assertCompleted(qp.sendCq.poll(), [wrId]);
  assert.deepEqual(host.sent, [frame(61)]);
});

test('what has no Ethernet header is not a frame', () => {
  const { host, qp } = sending();
  const wrId = qp.sendInline(frame(13));
  host.run();
  assertStatuses(qp.sendCq.poll(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
  assert.deepEqual(host.sent, []);
});

test('a frame longer than any can be fails', () => {
  const { host, qp } = sending();
  const memory = host.register(new Uint8Array(70_000), 0);
  const wrId = qp.send([memory.sge()]);
  host.run();
  assertStatuses(qp.sendCq.poll(), [[wrId, WcStatus.LOC_LEN_ERR]]);
  assert.deepEqual(host.sent, []);
});

test('a frame in memory of nobody fails', () => {
  const { host, qp } = sending();
  const wrId = qp.send([{ addr: 0x1000n, length: 60, lkey: 0x77 }]);
  host.run();
  assertStatuses(qp.sendCq.poll(), [[wrId, WcStatus.LOC_PROT_ERR]]);
});

for (const [name, opcode] of Object.entries(WrOpcode)) {
  if (opcode === WrOpcode.SEND) continue;
  test(`${name} is not a request of a raw packet QP`, () => {
    const { host, qp } = sending();
    const wrId = qp.send([host.register(frame(60), 0).sge()], opcode);
    host.run();
    assertStatuses(qp.sendCq.poll(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
    assert.deepEqual(host.sent, []);
  });
}

test('a frame that arrives fills a receive request from its first byte on', () => {
  const host = new FrameHost();
  const qp = new RawQp(host).toRtr();
  const memory = host.register(new Uint8Array(200), LOCAL_WRITE);
  const wrId = qp.recv(memory.sge(0, 20), memory.sge(100, 60));
  host.arrive(frame(70));
  const [completion] = qp.recvCq.poll();
  assert.deepEqual(
    [completion.wrId, completion.status, completion.opcode, completion.byteLen, completion.wcFlags],
    [wrId, WcStatus.SUCCESS, WcOpcode.RECV, 70, 0],
  );
  assert.deepEqual([...memory.bytes.slice(0, 20), ...memory.bytes.slice(100, 150)], [...frame(70)]);
  assert.ok(memory.bytes.slice(150).every((byte) => byte === 0));
});

test('every raw packet QP from RTR on has its copy of a frame', () => {
  const host = new FrameHost();
  const memory = host.register(new Uint8Array(300), LOCAL_WRITE);
  const qps = [new RawQp(host).toRtr(), new RawQp(host).toRts(), new RawQp(host)];
  qps[2].modify({ qpState: QpState.INIT, portNum: 1 });
  qps.forEach((qp, i) => qp.recv(memory.sge(100 * i, 100)));
  host.arrive(frame(80));
  assert.deepEqual(
    qps.map((qp) => qp.recvCq.poll().length),
    [1, 1, 0],
  );
  assert.deepEqual(memory.bytes.slice(0, 80), frame(80));
  assert.deepEqual(memory.bytes.slice(100, 180), frame(80));
  assert.equal(host.nic.counters.rdmaRecvs, 2);
  assert.equal(host.opened, 1);
});

test('a frame that finds no receive request is dropped and counted', () => {
  const host = new FrameHost();
  const qp = new RawQp(host).toRtr();
  host.arrive(frame(80));
  assert.equal(host.nic.counters.rxNoReceive, 1);
  assert.deepEqual(qp.recvCq.poll(), []);
});

test('a frame longer than its receive request ends the request and not the QP', () => {
  const host = new FrameHost();
  const qp = new RawQp(host).toRtr();
  const memory = host.register(new Uint8Array(200), LOCAL_WRITE);
  const short = qp.recv(memory.sge(0, 79));
  const long = qp.recv(memory.sge(100, 80));
  host.arrive(frame(80));
  host.arrive(frame(80));
  const completions = qp.recvCq.poll();
  assertStatuses(completions, [
    [short, WcStatus.LOC_LEN_ERR],
    [long, WcStatus.SUCCESS],
  ]);
  assert.equal(completions[0].vendorErr, Syndrome.LOCAL_LENGTH);
  assert.deepEqual(completions[0].detail.slice(0, 2), [80, 79]);
  assert.ok(memory.bytes.slice(0, 79).every((byte) => byte === 0));
  assert.equal(qp.state, QpState.RTR);
});

test('a receive request that names memory it may not ends the QP', () => {
  const host = new FrameHost();
  const qp = new RawQp(host).toRtr();
  const memory = host.register(new Uint8Array(200), 0);
  const bad = qp.recv(memory.sge());
  const next = qp.recv(memory.sge());
  host.arrive(frame(80));
  assertStatuses(qp.recvCq.poll(), [
    [bad, WcStatus.LOC_PROT_ERR],
    [next, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.equal(qp.state, QpState.ERR);
});

test('a QP that was destroyed gets no frames', () => {
  const host = new FrameHost();
  const qp = new RawQp(host).toRtr();
  qp.recv(host.register(new Uint8Array(200), LOCAL_WRITE).sge());
  host.nic.control.destroyQp(qp.qpn);
  host.arrive(frame(80));
  assert.deepEqual(qp.recvCq.poll(), []);
});

test('ERR flushes both queues', () => {
  const { host, qp } = sending();
  const received = qp.recv(host.register(new Uint8Array(200), LOCAL_WRITE).sge());
  qp.modify({ qpState: QpState.ERR });
  const sent = qp.sendInline(frame(60));
  host.run();
  assertStatuses(qp.sendCq.poll(), [[sent, WcStatus.WR_FLUSH_ERR]]);
  assertStatuses(qp.recvCq.poll(), [[received, WcStatus.WR_FLUSH_ERR]]);
});

test('a rate given on the way to RTS paces the frames', () => {
  const host = new FrameHost();
  const qp = new RawQp(host).toRtr();
  // 80 Mbit/s are ten bytes a µs; a bucket of 1 ms of it, and at least one packet of any service, leaves at once.
  qp.modify({ qpState: QpState.RTS, rateLimit: 80_000 });
  const memory = host.register(frame(1000), 0);
  for (let i = 0; i < 40; i += 1) qp.send([memory.sge()]);
  host.run(1e6);
  assert.equal(host.sent.length, 40);
  const inOneBurst = host.sentAtUs.filter((atUs) => atUs === 0).length;
  assert.ok(inOneBurst === 10 || inOneBurst === 11, `${inOneBurst} frames at once`);
  const lastUs = host.sentAtUs[39];
  assert.ok(Math.abs(lastUs - (39_000 - 10_000) / 10) < 110, `the last one left at ${lastUs} µs`);
});

test('a rate can be changed, and lifted, in RTS', () => {
  const { host, qp } = sending();
  qp.modify({ qpState: QpState.RTS, rateLimit: 8 });
  const memory = host.register(frame(9000), 0);
  for (let i = 0; i < 5; i += 1) qp.send([memory.sge()]);
  host.run(1000);
  assert.equal(host.sent.length, 1);
  qp.modify({ qpState: QpState.RTS, rateLimit: 0 });
  host.run(1001);
  assert.equal(host.sent.length, 5);
});

test('modifyRateLimit paces frames', () => {
  const { host, qp } = sending();
  host.nic.control.modifyRateLimit(qp.qpn, 8_000, 100, 0);
  const memory = host.register(frame(1000), 0);
  for (let i = 0; i < 3; i += 1) qp.send([memory.sge()]);
  host.run(1e6);
  const [first, second, third] = host.sentAtUs;
  // One byte a µs, and a bucket of 100 bytes before; the timer counts in steps of 4 µs.
  assert.ok(Math.abs(second - first - 900) <= 4 && Math.abs(third - second - 1000) <= 4, host.sentAtUs.join(', '));
});

test('RESET forgets how large bursts might be', () => {
  /** Frames that leave at once by a rate that comes with the attributes. */
  const atOnce = (past: (host: FrameHost, qp: RawQp) => void): number => {
    const host = new FrameHost();
    const qp = new RawQp(host).toRts();
    past(host, qp);
    qp.modify({ qpState: QpState.RESET });
    qp.toRtr().modify({ qpState: QpState.RTS, rateLimit: 80_000 });
    const memory = host.register(frame(1000), 0);
    for (let i = 0; i < 40; i += 1) qp.send([memory.sge()]);
    host.run();
    return host.sent.length;
  };
  const asNew = atOnce(() => undefined);
  assert.equal(
    atOnce((host, qp) => host.nic.control.modifyRateLimit(qp.qpn, 80_000, 30_000, 0)),
    asNew,
  );
});

test('a frame that arrives while the port is down reaches nobody, and is counted', () => {
  const { host, qp } = sending();
  const memory = host.register(new Uint8Array(100), AccessFlags.LOCAL_WRITE);
  qp.recv(memory.sge());
  host.nic.port.up = false;
  host.arrive(frame(70));
  host.nic.port.up = true;
  assert.deepEqual(qp.recvCq.poll(), []);
  assert.equal(host.nic.counters.rxPortDown, 1);
});

test('on a link without frames no raw packet QP can be made', () => {
  const host = new World().host('10.0.0.1');
  assertRefused('EOPNOTSUPP', () => host.qp({ type: QpType.RAW_PACKET }));
});
