import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PortSpace } from '../../ibta/index.js';
import { CmAttribute, splitServiceId } from '../../wire/index.js';
import { TestNetwork } from './support/network.js';
import { deviceAndRawPeer, PORT } from './support/two-devices.js';
import { CmDevice } from './support/cm-device.js';

function cmDevice(): CmDevice {
  return new CmDevice(new TestNetwork(), 'a', '10.0.0.1');
}

describe('a port', () => {
  test('is the one that was asked for', () => {
    const a = cmDevice();
    assert.equal(a.bind(a.newId(), 4791), 4791);
  });

  test('for whoever wants any is of Linux’s range, and free', () => {
    const a = cmDevice();
    const ports = Array.from({ length: 2000 }, () => a.bind(a.newId(), 0));
    assert.equal(new Set(ports).size, ports.length);
    assert.ok(ports.every((port) => port >= 32768 && port <= 60999));
  });

  test('for whoever wants any ends when there are no more: EADDRNOTAVAIL', () => {
    const a = cmDevice();
    for (let i = 32768; i <= 60999; i += 1) a.bind(a.newId(), 0);
    assert.throws(() => a.bind(a.newId(), 0), { errno: 'EADDRNOTAVAIL' });
    a.bind(a.newId(), 32767);
  });

  test('that another has is in use', () => {
    const a = cmDevice();
    a.bind(a.newId(), PORT);
    assert.throws(() => a.bind(a.newId(), PORT), { errno: 'EADDRINUSE' });
  });

  test('of another port space is another port', () => {
    const a = cmDevice();
    for (const portSpace of Object.values(PortSpace)) a.bind(a.newId(portSpace), PORT);
  });

  test('is given back with its identifier', () => {
    const a = cmDevice();
    const id = a.newId();
    a.bind(id, PORT);
    a.destroy(id);
    a.bind(a.newId(), PORT);
  });

  test('is one for an identifier', () => {
    const a = cmDevice();
    const id = a.newId();
    a.bind(id, PORT);
    assert.throws(() => a.bind(id, PORT + 1), { errno: 'EINVAL' });
    a.bind(a.newId(), PORT + 1);
  });

  for (const port of [-1, 65536, 1.5, NaN])
    test(`is not ${port}`, () => {
      const a = cmDevice();
      assert.throws(() => a.bind(a.newId(), port), { errno: 'EINVAL' });
    });

  test('that was refused leaves the identifier as it was', () => {
    const a = cmDevice();
    a.bind(a.newId(), PORT);
    const id = a.newId();
    assert.throws(() => a.bind(id, PORT), { errno: 'EADDRINUSE' });
    assert.equal(a.bind(id, PORT + 1), PORT + 1);
  });
});

describe('a port that is shared', () => {
  test('takes all who say so to have it', () => {
    const a = cmDevice();
    for (let i = 0; i < 3; i += 1) a.bind(a.newId(), PORT, true);
  });

  test('takes nobody who does not, nor whoever does when the first did not', () => {
    const a = cmDevice();
    a.bind(a.newId(), PORT, true);
    assert.throws(() => a.bind(a.newId(), PORT, false), { errno: 'EADDRINUSE' });
    a.bind(a.newId(), PORT + 1, false);
    assert.throws(() => a.bind(a.newId(), PORT + 1, true), { errno: 'EADDRINUSE' });
  });

  test('has no listener before it is one identifier’s', () => {
    const a = cmDevice();
    const [first, second] = [a.newId(), a.newId()];
    for (const id of [first, second]) a.bind(id, PORT, true);
    for (const id of [first, second])
      assert.throws(() => a.commands.cmListen({ id, backlog: 0 }), { errno: 'EADDRINUSE' });
    a.destroy(first);
    a.commands.cmListen({ id: second, backlog: 0 });
  });

  test('is shared from when its holder says so, and as long', () => {
    const a = cmDevice();
    const first = a.newId();
    a.bind(first, PORT);
    a.commands.cmShare({ id: first, reuseAddr: true });
    const second = a.newId();
    a.bind(second, PORT, true);
    a.commands.cmShare({ id: first, reuseAddr: false });
    assert.throws(() => a.bind(a.newId(), PORT, true), { errno: 'EADDRINUSE' });
  });

  test('is not shared by a listener, nor by an identifier without a port', () => {
    const a = cmDevice();
    const id = a.listen(PORT);
    assert.throws(() => a.commands.cmShare({ id, reuseAddr: true }), { errno: 'EINVAL' });
    assert.throws(() => a.commands.cmShare({ id: a.newId(), reuseAddr: true }), { errno: 'EINVAL' });
  });

  test('takes nobody more once one listens', () => {
    const a = cmDevice();
    const id = a.newId();
    a.bind(id, PORT, true);
    a.commands.cmListen({ id, backlog: 0 });
    assert.throws(() => a.bind(a.newId(), PORT, true), { errno: 'EADDRINUSE' });
  });

  test('is in use until the last has given it back', () => {
    const a = cmDevice();
    const [first, second] = [a.newId(), a.newId()];
    for (const id of [first, second]) a.bind(id, PORT, true);
    a.destroy(first);
    assert.throws(() => a.bind(a.newId(), PORT), { errno: 'EADDRINUSE' });
    a.destroy(second);
    a.bind(a.newId(), PORT);
  });
});

describe('listening', () => {
  test('needs a port', () => {
    const a = cmDevice();
    assert.throws(() => a.commands.cmListen({ id: a.newId(), backlog: 0 }), { errno: 'EINVAL' });
  });

  test('twice is refused', () => {
    const a = cmDevice();
    const id = a.listen(PORT);
    assert.throws(() => a.commands.cmListen({ id, backlog: 0 }), { errno: 'EINVAL' });
  });

  test('is refused to whoever has asked for a connection', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    const { id } = b.connect(rawPeer, PORT);
    assert.throws(() => b.commands.cmListen({ id, backlog: 0 }), { errno: 'EINVAL' });
  });
});

describe('asking for a connection', () => {
  test('takes any port, and says so', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    network.settle();
    const { privateData, serviceId } = rawPeer.heard(CmAttribute.REQ);
    const port = (privateData[2] << 8) | privateData[3];
    assert.ok(port >= 32768 && port <= 60999);
    assert.deepEqual(splitServiceId(serviceId), { portSpace: PortSpace.TCP, port: PORT });
  });

  test('keeps the port that the identifier has', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const id = b.newId();
    b.bind(id, 555);
    b.connect(rawPeer, PORT, { id });
    network.settle();
    const { privateData } = rawPeer.heard(CmAttribute.REQ);
    assert.equal((privateData[2] << 8) | privateData[3], 555);
  });

  test('takes no port from a listener', () => {
    const { network, b, rawPeer, listenId } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    b.destroy(listenId);
    network.settle();
    b.listen(PORT);
  });
});
