import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../../../../../test/support/loopback.js';
import { openDevice } from '../../../../entry/index.js';
import {
  AddressFamily,
  rbind,
  rclose,
  rconnect,
  rgetsockname,
  rrecv,
  rrecvfrom,
  rsend,
  rsendto,
  rsocket,
  type Rsocket,
  SocketType,
} from '../../../../entry/rsocket.js';

const { INET } = AddressFamily;
const { DGRAM } = SocketType;
const PORT = 7174;

const bytes = (words: string): Uint8Array => Buffer.from(words);

async function receivedFrom(socket: Rsocket): Promise<[string, { host: string; port: number }]> {
  const into = new Uint8Array(100);
  const from = { host: '', port: 0 };
  const count = await rrecvfrom(socket, into, 0, from);
  return [Buffer.from(into.subarray(0, count)).toString(), from];
}

async function received(socket: Rsocket): Promise<string> {
  const into = new Uint8Array(100);
  return Buffer.from(into.subarray(0, await rrecv(socket, into))).toString();
}

/** A socket on a device of its own. */
function socketAt(address: string) {
  const context = openDevice({ host: 'inline', address });
  return { context, socket: rsocket(INET, DGRAM, 0, { context }) };
}

describe('a socket for datagrams at a wildcard address', () => {
  it('takes what comes to each device of the program, also to one that it opens later, and answers from there', async () => {
    using first = openDevice({ host: 'inline', address: loopback(1) });
    using second = openDevice({ host: 'inline', address: loopback(2) });
    const server = rsocket(INET, DGRAM);
    rbind(server, { port: PORT });
    assert.deepEqual(rgetsockname(server), { host: '0.0.0.0', port: PORT });
    using later = openDevice({ host: 'inline', address: loopback(3) });
    for (const { address } of [first, second, later]) {
      const { context, socket } = socketAt(loopback(9));
      await rconnect(socket, { host: address, port: PORT });
      for (const words of ['by UDP', 'by the queue pair']) {
        await rsend(socket, bytes(words));
        const [what, from] = await receivedFrom(server);
        assert.deepEqual([what, from], [words, rgetsockname(socket)]);
        // A connected socket takes what its peer sends only.
        await rsendto(server, bytes(`answer of ${address}`), 0, from);
        assert.equal(await received(socket), `answer of ${address}`);
      }
      await rclose(socket);
      context.close();
    }
    await rclose(server);
  });

  it('goes on where one of the devices is closed', async () => {
    const first = openDevice({ host: 'inline', address: loopback(11) });
    using second = openDevice({ host: 'inline', address: loopback(12) });
    const server = rsocket(INET, DGRAM);
    rbind(server, { port: PORT });
    first.close();
    const client = socketAt(loopback(19));
    await rsendto(client.socket, bytes('still there'), 0, { host: second.address, port: PORT });
    assert.equal(await received(server), 'still there');
    await Promise.all([rclose(client.socket), rclose(server)]);
    client.context.close();
  });

  it('is refused where another socket has the port on one device, and leaves it to others then', async () => {
    using first = openDevice({ host: 'inline', address: loopback(21) });
    using second = openDevice({ host: 'inline', address: loopback(22) });
    const other = rsocket(INET, DGRAM);
    rbind(other, { host: second.address, port: PORT });
    const all = rsocket(INET, DGRAM);
    assert.throws(() => rbind(all, { port: PORT }), { errno: 'EADDRINUSE' });
    const again = rsocket(INET, DGRAM);
    rbind(again, { host: first.address, port: PORT });
    await Promise.all([rclose(other), rclose(again)]);
    rbind(all, { port: PORT });
    await rclose(all);
  });

  it('has its port on all devices when it is connected, and sends from the device that leads there', async () => {
    using first = openDevice({ host: 'inline', address: loopback(31) });
    const there = rsocket(INET, DGRAM);
    rbind(there, { host: first.address, port: 0 });
    const socket = rsocket(INET, DGRAM);
    rbind(socket, {});
    await rconnect(socket, rgetsockname(there));
    await rsend(socket, bytes('hello'));
    const [what, from] = await receivedFrom(there);
    assert.equal(what, 'hello');
    assert.equal(from.port, rgetsockname(socket).port);
    await rsendto(there, bytes('answer'), 0, from);
    assert.equal(await received(socket), 'answer');
    await Promise.all([rclose(there), rclose(socket)]);
  });
});
