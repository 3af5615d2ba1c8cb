import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, gidFromIp, PortSpace, QpType, RDMA_UDP_QKEY, WrOpcode } from '../../../../device/ibta/index.js';
import { openDatagramPort } from '../../../../api/provider/index.js';
import { alloc } from '../../../../entry/index.js';
import {
  decodeIntroduction,
  encodeDatagramHeader,
  encodeIntroduction,
  type Introduction,
  IntroductionKind,
} from '../../wire/datagram.js';
import { type Sim, type SimHost, simulate } from '../../../../entry/sim.js';
import {
  AddressFamily,
  MsgFlags,
  PollEvents,
  rbind,
  rclose,
  rgetsockname,
  rpoll,
  rrecvfrom,
  rsendto,
  rsocket,
  type Rsocket,
  SocketType,
} from '../../../../entry/rsocket.js';

const PORT = 7174;
const LIAR_PORT = 4444;
const { DATA, CTRL } = IntroductionKind;
const NOTHING = new Uint8Array(0);

/** Somebody who has a UDP port, and a queue pair for datagrams, and says by both whatever they like. */
class Liar {
  readonly answers: Introduction[] = [];
  readonly gid: Uint8Array;
  readonly #port;
  readonly #id;
  readonly #memory = alloc(1 << 20);
  readonly #mr;
  #used = 0;
  readonly #qp;

  constructor(
    readonly host: SimHost,
    private readonly victim: { readonly host: string; readonly port: number },
  ) {
    this.gid = gidFromIp(host.address);
    this.#port = openDatagramPort('test', host.context, {
      host: host.address,
      port: LIAR_PORT,
      onDatagram: (bytes) => {
        const answer = decodeIntroduction(bytes, 4);
        if (answer !== undefined) this.answers.push(answer);
      },
    });
    this.#id = host.createId(undefined, PortSpace.UDP);
    this.#id.bindAddr({ host: host.address });
    this.#qp = this.#id.createQp(undefined, {
      qpType: QpType.UD,
      sqSigAll: true,
      cap: { maxSendWr: 64, maxRecvWr: 1 },
    });
    assert.ok(this.#id.pd);
    this.#mr = this.#id.pd.regMr(this.#memory, AccessFlags.LOCAL_WRITE);
  }

  get qpn(): number {
    return this.#qp.qpNum;
  }

  udp(bytes: Uint8Array): void {
    this.#port.send(bytes, this.victim.host, this.victim.port);
  }

  send(qpn: number, bytes: Uint8Array): void {
    assert.ok(this.#id.pd);
    const at = this.#used;
    this.#used += 4096;
    this.#memory.set(bytes, at);
    const ah = this.#id.pd.createAh({ grh: { dgid: gidFromIp(this.victim.host), hopLimit: 64 } });
    this.#qp.postSend({
      opcode: WrOpcode.SEND,
      sgList: [{ addr: this.#mr.addr + BigInt(at), length: bytes.length, lkey: this.#mr.lkey }],
      ud: { ah, remoteQpn: qpn, remoteQkey: RDMA_UDP_QKEY },
    });
  }
}

function scene(sim: Sim) {
  const host = sim.host('server');
  const server = rsocket(AddressFamily.INET, SocketType.DGRAM, 0, { context: host.context });
  rbind(server, { port: PORT });
  const liar = new Liar(sim.host('liar'), rgetsockname(server));
  return { server, liar };
}

/** All that has come, with who is said to have sent it. */
async function all(sim: Sim, socket: Rsocket): Promise<{ words: string; host: string; port: number }[]> {
  await sim.sleep(1000);
  const found = [];
  const into = new Uint8Array(4096);
  while ((await rpoll([{ fd: socket, events: PollEvents.IN, revents: 0 }], 0)) === 1) {
    const from = { host: '', port: 0 };
    const count = await rrecvfrom(socket, into, MsgFlags.DONTWAIT, from);
    found.push({ words: Buffer.from(into.subarray(0, count)).toString(), ...from });
  }
  return found;
}

function changed(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = value;
  return copy;
}

describe('a socket for datagrams', () => {
  it('takes no notice of packets by UDP that are no introductions', () =>
    simulate(async (sim) => {
      const { server, liar } = scene(sim);
      const good = encodeIntroduction(DATA, liar.gid, liar.qpn, Buffer.from('good'));
      const other = encodeIntroduction(DATA, gidFromIp('fd00::1'), liar.qpn, Buffer.from('of IPv6'));
      for (let length = 0; length < 16; length += 1) liar.udp(good.subarray(0, length));
      for (const at of [0, 3, 4, 5, 6]) liar.udp(changed(good, at, good[at] ^ 0x12));
      for (const qpn of [0, 1, 0xffffff]) liar.udp(encodeIntroduction(DATA, liar.gid, qpn, Buffer.from('nobody')));
      liar.udp(other);
      liar.udp(encodeIntroduction(DATA, liar.gid, liar.qpn, new Uint8Array(2041)));
      assert.deepEqual(await all(sim, server), []);
      liar.udp(good);
      assert.deepEqual(await all(sim, server), [{ words: 'good', host: liar.host.address, port: LIAR_PORT }]);
      // What was too long told who its sender is all the same.
      assert.deepEqual(
        liar.answers.map(({ kind, payload }) => [kind, payload.length]),
        [
          [CTRL, 0],
          [CTRL, 0],
        ],
      );
    }));

  it('takes no answer that it has not asked for', () =>
    simulate(async (sim) => {
      const { server, liar } = scene(sim);
      const there = { host: liar.host.address, port: LIAR_PORT };
      liar.udp(encodeIntroduction(CTRL, liar.gid, liar.qpn, NOTHING));
      await sim.sleep(100);
      await rsendto(server, Buffer.from('?'), 0, there);
      await sim.sleep(100);
      // Asked, since nothing was learnt from the answer before.
      assert.deepEqual(
        liar.answers.map(({ kind, payload }) => [kind, Buffer.from(payload).toString()]),
        [[DATA, '?']],
      );
      liar.udp(encodeIntroduction(CTRL, liar.gid, liar.qpn, NOTHING));
      await sim.sleep(100);
      liar.udp(encodeIntroduction(CTRL, liar.gid, 0xabcdef, NOTHING));
      await sim.sleep(100);
      await rsendto(server, Buffer.from('by its queue pair'), 0, there);
      await sim.sleep(100);
      assert.equal(sim.packets().at(-1)?.qpn, liar.qpn);
    }));

  it('takes no datagram that is shorter than its header, or lies about its sender', () =>
    simulate(async (sim) => {
      const { server, liar } = scene(sim);
      liar.udp(encodeIntroduction(DATA, liar.gid, liar.qpn, NOTHING));
      assert.deepEqual(await all(sim, server), [{ words: '', host: liar.host.address, port: LIAR_PORT }]);
      const [{ qpn }] = liar.answers;
      const header = encodeDatagramHeader(liar.gid, LIAR_PORT);
      for (let length = 0; length < header.length; length += 1) liar.send(qpn, header.subarray(0, length));
      for (const at of [0, 1, 4, 5, 6, 7]) liar.send(qpn, changed(header, at, header[at] ^ 1));
      liar.send(qpn, encodeDatagramHeader(gidFromIp('fd00::1'), LIAR_PORT));
      // Longer than what is posted for it.
      liar.send(qpn, Buffer.concat([header, new Uint8Array(2041)]));
      assert.deepEqual(await all(sim, server), []);
      liar.send(qpn, Buffer.concat([header, Buffer.from('true')]));
      assert.deepEqual(await all(sim, server), [{ words: 'true', host: liar.host.address, port: LIAR_PORT }]);
    }));

  it('outlives a flood of strangers, remembers few of them, and forgets nobody whom it talks to', () =>
    simulate(async (sim) => {
      const { server, liar } = scene(sim);
      const friend = rsocket(AddressFamily.INET, SocketType.DGRAM, 0, { context: sim.host('friend').context });
      await rsendto(friend, Buffer.from('hello'), 0, rgetsockname(server));
      const [{ host: friendHost, port }] = await all(sim, server);
      await rsendto(server, Buffer.from('hello'), 0, { host: friendHost, port });
      await all(sim, friend);
      for (let i = 0; i < 3000; i += 1) {
        const stranger = openDatagramPort('test', liar.host.context, {
          host: liar.host.address,
          port: 0,
          onDatagram: () => undefined,
        });
        stranger.send(encodeIntroduction(DATA, liar.gid, 2 + i, Buffer.from('!')), rgetsockname(server).host, PORT);
        if (i % 100 === 0) await sim.sleep(100);
        stranger.close();
      }
      // No more than the receive buffer has room for waits to be read.
      assert.ok((await all(sim, server)).length <= 64);
      const sent = sim.packets().length;
      await rsendto(server, Buffer.from('still there?'), 0, { host: friendHost, port });
      assert.equal((await all(sim, friend))[0].words, 'still there?');
      assert.equal(sim.packets().length, sent + 1, 'it needs no introduction');
      await Promise.all([rclose(server), rclose(friend)]);
    }));

  it('ends within a bound, and what comes afterwards reaches nobody', () =>
    simulate(async (sim) => {
      const { server, liar } = scene(sim);
      await rsendto(server, Buffer.from('?'), 0, { host: liar.host.address, port: LIAR_PORT });
      liar.host.crash();
      await rsendto(server, Buffer.from('?'), 0, { host: liar.host.address, port: LIAR_PORT });
      await rclose(server);
    }));
});
