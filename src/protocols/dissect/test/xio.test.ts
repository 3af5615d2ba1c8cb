import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { XioDissector } from '../../xio/dissector/index.js';
import type { XioSession } from '../../xio/index.js';
import { Choices } from '../../../../test/fuzz/random.js';
import { type Net, NETS } from '../../xio/test/support/nets.js';
import { pattern } from '../../xio/test/support/worlds.js';
import { printed } from '../../../cli/test/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-dissectors-'));
after(() => rmSync(folder, { recursive: true }));

const MIB = 1 << 20;
const HEADER = pattern(5, 9);

/** What each packet means, told once where both sides were captured. */
async function meanings(capture: string): Promise<string[]> {
  const all = (await printed('dump', capture)).split('\n').flatMap((line) => /\[xio: (.*)\]/.exec(line)?.[1] ?? []);
  return [...new Set(all)];
}

async function exchanges(capture: string): Promise<string[]> {
  return (await printed('explain', '--json', capture))
    .trim()
    .split('\n')
    .flatMap((text) => (JSON.parse(text) as { exchange?: string }).exchange ?? [])
    .map((words) => words.replace(/^xio: /, '').replace(/SESSION [0-9a-f]{8}/, 'SESSION id'));
}

/** Writes down what a client does with a server that answers each request. */
async function captured(
  name: string,
  serve: (session: XioSession) => void,
  act: (session: XioSession, net: Net) => Promise<void>,
): Promise<string> {
  const file = join(folder, `${name}.pcapng`);
  await NETS.rdma(async (net) => {
    await net.listen(serve);
    const session = await net.connect({ url: net.urlOf(net.server, undefined, '/files') });
    await act(session, net);
    await session.close();
    for (const server of net.servers) server.close();
    net.sim.writeCapture(file);
  });
  return file;
}

function includes(said: readonly string[], wanted: readonly (string | RegExp)[]): void {
  for (const words of wanted) {
    const isThere = said.some((one) => (typeof words === 'string' ? one === words : words.test(one)));
    assert.ok(isThere, `${String(words)} is not among\n${said.join('\n')}`);
  }
}

const echo = (session: XioSession): void =>
  void session.on('request', ({ header, body }) => ({ header, body: Uint8Array.from(body) }));

describe('messages of xio in a capture', () => {
  it('are told by what they mean', async () => {
    const file = await captured('short', echo, async (session) => {
      await session.request(HEADER, pattern(20, 1));
    });
    const said = await meanings(file);
    includes(said, [
      'window 64, buffers of 9216 B, bodies up to 16 MiB',
      /^SESSION [0-9a-f]{8} connection 0 "\/?files"$/,
      'SESSION_ANSWER accepted, has up to 0',
      'REQUEST 1, header 5 B, body 20 B',
      'RESPONSE 1 to 1, header 5 B, body 20 B',
      /^FIN \d+$/,
    ]);
    assert.deepEqual(
      said.filter((words) => words.includes('unknown')),
      [],
    );
    includes(await exchanges(file), ['SESSION id connection 0, accepted', 'REQUEST 1 20 B, RESPONSE 20 B']);
  });

  it('are told with how their bodies travel', async () => {
    const file = await captured('long', echo, async (session) => {
      await session.request(HEADER, pattern(MIB, 1), { into: new Uint8Array(MIB) });
      await session.request(HEADER, pattern(MIB, 1));
    });
    includes(await meanings(file), [
      'REQUEST 1, header 5 B, body 1 MiB to be READ',
      /^READ .* of REQUEST 1$/,
      /^WRITE 1 MiB of RESPONSE to 1$/,
      'RESPONSE 1 to 1, header 5 B, body 1 MiB written',
      'RESPONSE 2 to 2, header 5 B, body 1 MiB to be READ',
      /^READ .* of RESPONSE to 2$/,
    ]);
    includes(await exchanges(file), ['REQUEST 1 1 MiB, READ, WRITE, RESPONSE 1 MiB']);
  });

  it('are told with what receipts and cancellations are about', async () => {
    const serve = (session: XioSession): void => {
      session.on('request', async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return {};
      });
      void (async () => {
        for await (const message of session.messages()) assert.equal(message.body.length, 7);
      })();
    };
    const file = await captured('about', serve, async (session, net) => {
      await session.send({ body: pattern(7, 1) }, { receipt: true });
      const controller = new AbortController();
      const call = session.request(HEADER, undefined, { signal: controller.signal });
      await net.sim.sleep(1000);
      controller.abort();
      await assert.rejects(call);
    });
    includes(await meanings(file), [
      'ONE_WAY 1, body 7 B, receipt asked for',
      /^RECEIPT \d+ of ONE_WAY 1 7 B$/,
      'CANCEL 3 of REQUEST 2 0 B',
    ]);
    includes(await exchanges(file), ['ONE_WAY 1 7 B, RECEIPT', 'REQUEST 2 0 B, CANCEL, RESPONSE 0 B']);
  });

  it('are told with why a session was refused, and where one was sent on to', async () => {
    const refused = join(folder, 'refused.pcapng');
    await NETS.rdma(async (net) => {
      await net.listen((session) => session.reject('no room', { code: 'XIO_E_SESSION_REFUSED' }));
      await assert.rejects(net.connect());
      for (const server of net.servers) server.close();
      net.sim.writeCapture(refused);
    });
    includes(await meanings(refused), ['SESSION_ANSWER refused XIO_E_SESSION_REFUSED "no room", has up to 0']);
    const moved = join(folder, 'moved.pcapng');
    await NETS.rdma(async (net) => {
      const other = net.sim.host('other');
      await net.listen(echo, {}, other);
      await net.listen((session) => {
        session.accept();
        session.on('request', () => {
          session.redirect([net.urlOf(other)]);
          return {};
        });
      });
      const session = await net.connect();
      await session.request(HEADER);
      await net.settled(session.request(HEADER));
      await session.close();
      for (const server of net.servers) server.close();
      net.sim.writeCapture(moved);
    });
    includes(await meanings(moved), [/^MOVE \d+ to rdma:\/\/[\d.]+:2061$/]);
  });

  it('that are sent again on the next link are the same', async () => {
    const served: XioSession[] = [];
    let cut: () => void = () => undefined;
    const serve = (session: XioSession): void => {
      served.push(session);
      session.on('request', ({ header }) => {
        cut();
        return { header };
      });
    };
    const file = await captured('again', serve, async (session, net) => {
      cut = () => {
        cut = () => undefined;
        net.cut();
      };
      await net.settled(session.request(HEADER, pattern(20, 1)));
    });
    includes(await meanings(file), [/^SESSION [0-9a-f]{8} connection 0, goes on, has up to 0 "\/?files"$/]);
    assert.equal((await exchanges(file)).filter((words) => words.startsWith('REQUEST 1 20 B')).length, 1);
  });

  it('are told with which memory they grant, and what is done there', async () => {
    const serve = (session: XioSession): void => {
      const share = session.share(pattern(MIB, 3), { access: 'read-write' });
      session.on('request', () => ({ body: share.token }));
    };
    const file = await captured('grants', serve, async (session) => {
      const { body } = await session.request(HEADER);
      await session.read(Uint8Array.from(body), 4096, new Uint8Array(1024));
    });
    includes(await meanings(file), [
      /^REQUEST 2: MAP grant [0-9a-f]{8}$/,
      /^RESPONSE 2 to 2: grant [0-9a-f]{8}, 1 MiB, by RDMA$/,
      /^READ 1 KiB at 4096 of grant [0-9a-f]{8}$/,
      /^READ 8 B at 0 of the seal of grant [0-9a-f]{8}$/,
    ]);
  });
});

describe('the dissector of xio', () => {
  const way = { timeUs: 0, from: '10.0.0.1 0x11', to: '10.0.0.2 0x12', psn: 0, isCut: false };
  const nothing = { operation: 'SEND', immediate: undefined, way } as const;

  it('says what is wrong with a message, unless the capture has cut it', () => {
    const payload = new Uint8Array(24).with(2, 9);
    const says = (isCut: boolean): string | undefined =>
      new XioDissector().message({ ...nothing, byteLength: 24, payload, way: { ...way, isCut } });
    assert.equal(says(false), 'unknown: a frame has operation 9, which does not exist');
    assert.equal(says(true), 'cut by the capture');
  });

  it('tells credit, and what only asks whether the peer is there', () => {
    const dissector = new XioDissector();
    const credit = dissector.message({ ...nothing, byteLength: 24, payload: new Uint8Array(24).with(1, 40) });
    const asked = dissector.message({
      ...nothing,
      operation: 'WRITE',
      byteLength: 0,
      payload: new Uint8Array(0),
    });
    assert.deepEqual([credit, asked], ['credit to 40', 'WRITE of nothing']);
  });

  it('leaves connections of other protocols to those', () => {
    assert.equal(new XioDissector().hello(new Uint8Array(56)), undefined);
  });

  it('never throws, whatever a capture holds', () => {
    const choices = new Choices(23);
    const dissector = new XioDissector();
    const head = [0x58, 0x49, 0x4f, 0x50, 0, 0, 0];
    for (let i = 0; i < 20_000; i += 1) {
      const payload = new Uint8Array(choices.below(260));
      for (let at = 0; at < payload.length; at += 1) payload[at] = choices.chance(60) ? 0 : choices.u32();
      if (choices.chance(70) && payload.length >= 112) {
        // As far as it takes to get past the prefix and the first fields of a head.
        payload.fill(0, 0, 112);
        const headBytes = choices.of([88, payload.length - 24]);
        payload.set([0, 0, choices.of([1, 2, 3]), 0, 0, headBytes], 0);
        payload.set([...head, choices.of([1, 0x12, 0x14, 0x22, 0x24])], 24);
        payload[24 + 15] = headBytes - 16;
        payload[24 + 23] = choices.below(4);
        payload[24 + 55] = choices.below(4);
        payload[24 + 69] = choices.of([0, 16, 4, 2]);
        payload[24 + 71] = headBytes - 88;
      }
      const seen = { ...way, psn: choices.below(4) };
      const said = dissector.message({ ...nothing, byteLength: payload.length, payload, way: seen });
      assert.equal(typeof said, payload.length === 0 ? 'undefined' : 'string');
      dissector.hello(payload);
      const operation = choices.of(['READ', 'WRITE'] as const);
      const address = BigInt(choices.below(1 << 20));
      dissector.access({ operation, address, length: choices.below(99), rkey: 1, way: seen });
    }
    assert.ok(dissector.exchanges.length > 0);
  });
});
