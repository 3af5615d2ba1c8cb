import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { VerbsError } from '../../../../../entry/index.js';
import type { Link, LinkListener, LinkTarget } from '../../../transport/index.js';
import { tcp } from '../../../transport/tcp/index.js';
import { listen } from '../../../transport/tcp/listening.js';
import { HELLO } from '../../../transport/tcp/wire.js';
import { loopback } from '../../../../../../test/support/loopback.js';
import { LinkEnd } from '../../support/link-end.js';
import { OPTIONS, untilHere } from '../../support/worlds.js';

const LONG_MS = 30_000;
const NOBODY = loopback(77);

class Opened implements AsyncDisposable {
  readonly listeners: LinkListener[] = [];
  readonly servers: Server[] = [];
  readonly links: Link[] = [];
  readonly sockets: Socket[] = [];

  async listen(limits?: { readonly count: number; readonly timeMs: number }): Promise<LinkListener> {
    const listener = await listen(OPTIONS, (link) => this.links.push(link), limits);
    this.listeners.push(listener);
    return listener;
  }

  async serve(onSocket: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      this.sockets.push(socket.on('error', () => undefined));
      onSocket(socket);
    });
    this.servers.push(server.listen(0, NOBODY));
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address !== 'string');
    return address.port;
  }

  async socket({ address: { host, port } }: LinkListener): Promise<Socket> {
    const socket = connectSocket(port, host).on('error', () => undefined);
    this.sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  async connect(target: Partial<LinkTarget>): Promise<Link> {
    const link = await tcp.connect({ ...OPTIONS, host: NOBODY, port: 1, timeoutMs: LONG_MS, ...target });
    this.links.push(link);
    return link;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.links) link.abort();
    for (const socket of this.sockets) socket.destroy();
    for (const listener of this.listeners) {
      listener.close();
      await listener.closed;
    }
    for (const server of this.servers) if (server.listening) await once(server.close(), 'close');
  }
}

function isOver(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve()).resume()));
}

describe('making a link over TCP', () => {
  it('fails with XIO_E_SESSION_REFUSED where nobody listens', async () => {
    await using opened = new Opened();
    const port = await opened.serve(() => undefined);
    await once(opened.servers[0].close(), 'close');
    await assert.rejects(opened.connect({ port }), { name: 'XioError', code: 'XIO_E_SESSION_REFUSED' });
  });

  it('fails with XIO_E_ADDR_ERROR for a name that leads nowhere', async () => {
    await using opened = new Opened();
    // No resolver asks another machine for a name of this length.
    await assert.rejects(opened.connect({ host: 'x'.repeat(300) }), { code: 'XIO_E_ADDR_ERROR' });
  });

  it('fails with XIO_E_ADDR_ERROR from an address that is not its own', async () => {
    await using opened = new Opened();
    const { address } = await opened.listen();
    await assert.rejects(opened.connect({ ...address, localAddress: '192.0.2.1' }), { code: 'XIO_E_ADDR_ERROR' });
  });

  it('begins at the address that is asked for', async () => {
    await using opened = new Opened();
    const { address } = await opened.listen();
    const link = await opened.connect({ ...address, localAddress: loopback(5) });
    assert.equal(link.localAddress?.host, loopback(5));
  });

  it('fails with XIO_E_TIMEOUT when the peer says nothing', async () => {
    await using opened = new Opened();
    const port = await opened.serve(() => undefined);
    await assert.rejects(opened.connect({ port, timeoutMs: 1 }), { code: 'XIO_E_TIMEOUT' });
  });

  for (const [what, said] of [
    ['another protocol', Buffer.from('SSH-2.0-OpenSSH\r\n')],
    ['one letter of another protocol', Buffer.from('H')],
    ['version 2', HELLO.encode({ maxBodyBytes: 0 }).fill(2, 5, 6)],
    ['version 0', HELLO.encode({ maxBodyBytes: 0 }).fill(0, 5, 6)],
    ['version 257', HELLO.encode({ maxBodyBytes: 0 }).fill(1, 4, 6)],
  ] as const)
    it(`fails with XIO_E_INVALID_VERSION when the peer speaks ${what}`, async () => {
      await using opened = new Opened();
      const port = await opened.serve((socket) => void socket.write(said));
      await assert.rejects(opened.connect({ port }), { code: 'XIO_E_INVALID_VERSION' });
    });

  it('fails with XIO_E_CONNECT_ERROR when the peer ends the connection at once, wherever in its hello', async () => {
    await using opened = new Opened();
    for (let bytes = 0; bytes < HELLO.bytes; bytes += 1)
      for (const how of ['end', 'resetAndDestroy'] as const) {
        const port = await opened.serve((socket) => {
          socket.write(HELLO.encode({ maxBodyBytes: 0 }).subarray(0, bytes));
          socket[how]();
        });
        await assert.rejects(opened.connect({ port }), { code: 'XIO_E_CONNECT_ERROR' });
      }
  });

  it('takes a hello that comes byte by byte, and what follows at once', async () => {
    await using opened = new Opened();
    const port = await opened.serve((socket) => {
      const say = async (): Promise<void> => {
        for (const byte of HELLO.encode({ maxBodyBytes: 0 }))
          await new Promise((resolve) => socket.write(Uint8Array.of(byte), resolve));
        socket.write(Uint8Array.of(1, 0, 0, 1, 0, 0, 0, 1, 7, 8));
      };
      socket.setNoDelay(true);
      void say();
    });
    const end = new LinkEnd(await opened.connect({ port }));
    end.link.open(end);
    await untilHere(() => end.got.length === 1);
    assert.deepEqual([end.only.head, end.only.body], [Uint8Array.of(7), Uint8Array.of(8)]);
  });

  it('is given up by a signal, before and in the midst', async () => {
    await using opened = new Opened();
    const reason = new Error('no more');
    await assert.rejects(opened.connect({ signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const port = await opened.serve(() => controller.abort(reason));
    await assert.rejects(opened.connect({ port, signal: controller.signal }), reason);
    await isOver(opened.sockets[0]);
  });

  it('is not ended by a signal once it is made', async () => {
    await using opened = new Opened();
    const { address } = await opened.listen();
    const controller = new AbortController();
    const end = new LinkEnd(await opened.connect({ ...address, signal: controller.signal }));
    end.link.open(end);
    controller.abort();
    await untilHere(() => opened.links.length === 2);
    assert.equal(end.link.canSend, true);
    assert.deepEqual(end.ends, []);
  });

  it('refuses wrong arguments', async () => {
    const good: LinkTarget = { ...OPTIONS, host: NOBODY, port: 1, timeoutMs: LONG_MS };
    const wrongs: readonly Partial<LinkTarget>[] = [
      { host: '' },
      { port: 0 },
      { port: 65_536 },
      { port: 1.5 },
      { localAddress: '' },
      { inlineBytes: -1 },
      { inlineBytes: 8193 },
      { maxBodyBytes: -1 },
      { maxBodyBytes: 2 ** 32 },
    ];
    for (const wrong of wrongs)
      await assert.rejects(
        tcp.connect({ ...good, ...wrong }),
        (error) => error instanceof VerbsError && error.errno === 'EINVAL',
      );
  });
});

describe('listening for links over TCP', () => {
  it('is on loopback, unless another address is asked for', async () => {
    await using opened = new Opened();
    assert.equal((await opened.listen()).address.host, '127.0.0.1');
    const listener = await tcp.listen({ ...OPTIONS, host: loopback(9) }, () => undefined);
    opened.listeners.push(listener);
    assert.equal(listener.address.host, loopback(9));
    assert.ok(listener.address.port > 0);
  });

  it('fails with XIO_E_BIND_FAILED where somebody else listens', async () => {
    await using opened = new Opened();
    const { address } = await opened.listen();
    await assert.rejects(
      tcp.listen({ ...OPTIONS, ...address }, () => undefined),
      (error: unknown) =>
        error instanceof Error &&
        'code' in error &&
        error.code === 'XIO_E_BIND_FAILED' &&
        error.cause instanceof Error &&
        'code' in error.cause &&
        error.cause.code === 'EADDRINUSE',
    );
  });

  it('refuses wrong arguments', async () => {
    for (const wrong of [{ host: '' }, { port: -1 }, { port: 65_536 }, { inlineBytes: 9000 }, { maxBodyBytes: 0.5 }])
      await assert.rejects(
        tcp.listen({ ...OPTIONS, ...wrong }, () => undefined),
        (error) => error instanceof VerbsError && error.errno === 'EINVAL',
      );
  });

  it('ends without its links', async () => {
    await using opened = new Opened();
    const listener = await opened.listen();
    const end = new LinkEnd(await opened.connect(listener.address));
    end.link.open(end);
    await untilHere(() => opened.links.length === 2);
    listener.close();
    listener.close();
    await assert.rejects(opened.connect(listener.address), { code: 'XIO_E_SESSION_REFUSED' });
    assert.deepEqual(end.ends, []);
    assert.equal(end.link.canSend, true);
  });

  it('sends away those who have not said hello when it ends', async () => {
    await using opened = new Opened();
    const listener = await opened.listen();
    const guest = await opened.socket(listener);
    await once(guest, 'data');
    listener.close();
    await isOver(guest);
    assert.deepEqual(opened.links, []);
  });

  it('tells nobody of those who say something else, or go', async () => {
    await using opened = new Opened();
    const listener = await opened.listen();
    const strangers = await Promise.all(Array.from({ length: 4 }, () => opened.socket(listener)));
    strangers[0].write('GET / HTTP/1.1\r\n\r\n');
    strangers[1].write(HELLO.encode({ maxBodyBytes: 0 }).fill(9, 5, 6));
    strangers[2].write(HELLO.encode({ maxBodyBytes: 0 }).subarray(0, 10));
    strangers[2].end();
    strangers[3].resetAndDestroy();
    await Promise.all(strangers.map(isOver));
    await opened.connect(listener.address);
    await untilHere(() => opened.links.length === 2);
  });

  it('tells a peer of another version what is spoken here', async () => {
    await using opened = new Opened();
    const stranger = await opened.socket(await opened.listen());
    const heard: Buffer[] = [];
    stranger.on('data', (bytes: Buffer) => heard.push(bytes));
    stranger.write(HELLO.encode({ maxBodyBytes: 0 }).fill(9, 5, 6));
    await isOver(stranger);
    assert.deepEqual(Buffer.concat(heard), Buffer.from(HELLO.encode(OPTIONS)));
  });

  it('has no more than so many who have not said hello: the oldest goes, and nobody is kept out', async () => {
    await using opened = new Opened();
    const listener = await opened.listen({ count: 3, timeMs: LONG_MS });
    const silent: Socket[] = [];
    for (let i = 0; i < 5; i += 1) {
      const socket = await opened.socket(listener);
      await once(socket, 'data');
      silent.push(socket);
    }
    await Promise.all(silent.slice(0, 2).map(isOver));
    await opened.connect(listener.address);
    await isOver(silent[2]);
    assert.deepEqual(
      silent.map(({ closed }) => closed),
      [true, true, true, false, false],
    );
  });

  it('has them no longer than so long', async () => {
    await using opened = new Opened();
    const guest = await opened.socket(await opened.listen({ count: 3, timeMs: 1 }));
    await isOver(guest);
  });

  it('lets the process end, when it is told to', async () => {
    await using opened = new Opened();
    const listener = await opened.listen();
    listener.unref();
    listener.unref();
    listener.ref();
    await opened.connect(listener.address);
  });
});
