import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import { UcpDissector } from '../../ucp/dissector/index.js';
import { AmId, Messages, RtsOpcode, UcsStatus } from '../../ucp/wire/index.js';
import type { UcpWorkerOptions } from '../../ucp/worker/worker-options.js';
import { Choices } from '../../../../test/fuzz/random.js';
import { pattern } from '../../ucp/test/support/transports.js';
import { type AnyWorkers, connected, connectedByUd, metByAddress } from '../../ucp/test/support/workers.js';
import { printed } from '../../../cli/test/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-dissectors-'));
after(() => rmSync(folder, { recursive: true }));

/** What each packet means; where both sides were captured, each is there twice, and told once. */
async function meanings(capture: string): Promise<string[]> {
  const all = (await printed('dump', capture)).split('\n').flatMap((line) => /\[ucp: (.*)\]/.exec(line)?.[1] ?? []);
  return [...new Set(all)];
}

/** The same without the numbers of datagrams. */
async function messages(capture: string): Promise<string[]> {
  const words = (await meanings(capture)).map((said) => said.replace(/ \(psn .*\)$/, ''));
  return [...new Set(words)];
}

type Ways = Readonly<Record<string, (sim: Sim, options?: UcpWorkerOptions) => Promise<AnyWorkers>>>;
const WAYS: Ways = { rc: connected, ud: connectedByUd };

/** Writes down what two workers do. */
async function captured(
  name: string,
  made: (sim: Sim) => Promise<AnyWorkers>,
  act: (workers: AnyWorkers) => Promise<void>,
): Promise<string> {
  const file = join(folder, `${name}.pcapng`);
  await simulate(async (sim) => {
    const workers = await made(sim);
    await act(workers);
    await workers.close();
    sim.writeCapture(file);
  });
  return file;
}

function includes(said: readonly string[], wanted: readonly string[]): void {
  for (const words of wanted) assert.ok(said.includes(words), `${words} is not among\n${said.join('\n')}`);
}

async function send({ server, there }: AnyWorkers, length: number): Promise<void> {
  const receiving = server.tagReceive(new Uint8Array(length), 7);
  await there.tagSend(pattern(length), 7);
  await receiving;
}

for (const [way, made] of Object.entries(WAYS))
  describe(`messages of UCP in a capture of ${way}`, () => {
    it('are told by what they mean', async () => {
      const file = await captured(way, made, async (workers) => {
        await send(workers, 20);
        const receiving = workers.server.tagReceive(new Uint8Array(5), 9);
        await workers.there.tagSendSync(pattern(5), 9);
        await receiving;
      });
      const said = await messages(file);
      includes(said, ['eager tag 7, 20 B', 'eager sync tag 9, 5 B', 'sync ACK ok']);
      assert.deepEqual(
        said.filter((words) => words.includes('unknown')),
        [],
      );
    });

    it('that come in parts are told with what they are parts of', async () => {
      const file = await captured(
        `${way}-parts`,
        (sim) => made(sim, { thresholds: { rndv: 100_000 } }),
        (workers) => send(workers, 10_000),
      );
      const said = (await messages(file)).join('\n');
      assert.match(said, /^eager tag 7, first \d+ B of 10000 B/m);
      assert.match(said, /^eager, \d+ B at \d+/m);
    });
  });

describe('what ends of UCP tell each other when they connect', () => {
  it('is told on rc', async () => {
    const file = await captured('rc-hello', connected, (workers) => send(workers, 20));
    assert.match((await meanings(file))[0], /^rc, window \d+, buffers of 4160 B$/);
  });

  for (const transport of ['rc', 'ud'] as const)
    it(`is told on ${transport} with whom a worker is asked for by its address`, async () => {
      const file = await captured(
        `${transport}-meeting`,
        (sim) => metByAddress(sim, transport),
        (workers) => send(workers, 20),
      );
      const words = { rc: 'rc, window 64, buffers of 4160 B', ud: 'ud, which queue pair\\?' };
      assert.match((await meanings(file))[0], new RegExp(`^${words[transport]}, for worker 0x[0-9a-f]+$`));
    });

  it('is told on ud, with the numbers of each datagram', async () => {
    const file = await captured('ud-hello', connectedByUd, (workers) => send(workers, 20));
    const said = await meanings(file);
    assert.equal(said[0], 'ud, which queue pair?');
    assert.match(said[1], /^ud, queue pair 0x[0-9a-f]+$/);
    assert.match(said[2], /^CREQ \d+ of [\d.]+, endpoint \d+, datagrams up to 4096 B \(psn 1, ack 0.*\)$/);
    assert.match(said[3], /^CREP, endpoint \d+, datagrams up to 4096 B \(psn 1, ack 1.*\)$/);
    assert.ok(said.some((words) => /^eager tag 7, 20 B \(psn \d+, ack \d+.*\)$/.test(words)));
    assert.ok(said.some((words) => words.startsWith('GONE')));
  });
});

describe('a rendezvous in a capture', () => {
  const LONG = 1 << 20;
  const SCHEMES = {
    get_zcopy: 'RTS 1 MiB tag 7, READ, ATS',
    put_zcopy: 'RTS 1 MiB tag 7, RTR, WRITE, ATP',
    am: 'RTS 1 MiB tag 7, RTR, DATA of 1 MiB',
  } as const;

  for (const [rndvScheme, words] of Object.entries(SCHEMES))
    it(`is one thing: ${words}`, async () => {
      const scheme = rndvScheme as keyof typeof SCHEMES;
      const file = await captured(
        scheme,
        (sim) => connected(sim, { thresholds: { rndvScheme: scheme } }),
        (workers) => send(workers, LONG),
      );
      const [first, line] = (await printed('explain', file)).split('exchanges of messages\n')[1].split('\n');
      assert.match(first, new RegExp(`ucp: ${words}: [\\d.]+ .?s$`));
      assert.equal(line, '');
      const json = (await printed('explain', '--json', file))
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as { exchange?: string; tookUs?: number });
      const exchange = json.find((one) => one.exchange !== undefined);
      assert.equal(exchange?.exchange, `ucp: ${words}`);
      assert.ok((exchange.tookUs ?? 0) > 0);
    });

  it('is named at each step', async () => {
    const options = { thresholds: { rndvScheme: 'get_zcopy' } } as const;
    const file = await captured(
      'steps',
      (sim) => connected(sim, options),
      (workers) => send(workers, LONG),
    );
    const said = (await messages(file)).join('\n');
    assert.match(said, /^RTS 1 MiB tag 7$/m);
    assert.match(said, /^READ .* of RTS 1 MiB tag 7$/m);
    assert.match(said, /^ATS ok: RTS 1 MiB tag 7, READ, ATS$/m);
  });
});

describe('the dissector of UCP', () => {
  const way = { timeUs: 0, from: '10.0.0.1 0x11', to: '10.0.0.2 0x12', psn: 0, isCut: false };
  const nothing = { operation: 'SEND', immediate: undefined, byteLength: undefined, way } as const;

  it('tells a grant', () => {
    const said = new UcpDissector().message({ ...nothing, byteLength: 1, payload: Uint8Array.of(0xe0) });
    assert.equal(said, 'grant');
  });

  it('calls unknown what nobody sends', () => {
    const said = new UcpDissector().message({ ...nothing, byteLength: 3, payload: Uint8Array.of(30, 0, 0) });
    assert.equal(said, 'unknown message 30, 2 B');
  });

  it('says nothing of datagrams of whom it has seen no handshake', () => {
    const payload = Uint8Array.of(1, 0, 0, 0x11, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0);
    assert.equal(new UcpDissector().datagram({ source: '10.0.0.1', payload, way }), undefined);
  });

  it('tells what senders ask for beside their messages', () => {
    const says = (first: number): string | undefined =>
      new UcpDissector().message({ ...nothing, byteLength: 17, payload: new Uint8Array(17).with(0, first) });
    assert.equal(says(0x02), 'eager tag 0, 8 B');
    assert.equal(says(0x22), 'eager tag 0, 8 B, asks for a grant');
    assert.equal(says(0xc2), 'eager tag 0, 8 B, grant, asks for a grant at once');
  });

  it('says what is wrong with a message, unless the capture has cut it', () => {
    // The first of several, whose length lies at its end.
    const payload = new Uint8Array(60).with(0, 24);
    const says = (isCut: boolean): string | undefined =>
      new UcpDissector().message({ ...nothing, byteLength: 60, payload, way: { ...way, isCut } });
    assert.equal(says(false), 'unknown AM_FIRST: the first 27 bytes are of a message of 0');
    assert.equal(says(true), 'AM_FIRST, cut by the capture');
  });

  it('tells announced messages from the same memory apart', () => {
    const dissector = new UcpDissector();
    const bytes = new Uint8Array(256);
    const rts = (requestId: number, psn: number): string | undefined => {
      const head = { header: 7n, epId: 1, requestId, address: 4096n, size: 100, opcode: RtsOpcode.TAG };
      const length = Messages.RNDV_RTS.encode(bytes.subarray(1), {
        head,
        rkey: undefined,
        userHeader: bytes.subarray(0, 0),
      });
      bytes[0] = AmId.RNDV_RTS;
      return dissector.message({
        ...nothing,
        payload: bytes.slice(0, 1 + length),
        byteLength: 1 + length,
        way: { ...way, psn },
      });
    };
    const back = { ...way, from: way.to, to: way.from };
    const read = (psn: number): string | undefined =>
      dissector.access({ operation: 'READ', address: 4096n, length: 100, rkey: 1, way: { ...back, psn } });
    for (const id of [1, 2]) assert.equal(rts(id, id), 'RTS 100 B tag 7');
    for (const psn of [5, 6, 5, 6]) read(psn);
    assert.deepEqual(
      dissector.exchanges.map(({ words }) => words),
      ['RTS 100 B tag 7, READ', 'RTS 100 B tag 7, READ'],
    );
  });

  it('takes for the first of a conversation only who names its own queue pair, and none of the peer', () => {
    const request = new Uint8Array(65);
    request.set([0xff, 0xff, 0xff, 0x20, 1, 0, 0, 0, 1, 0, 0, 0, 0x11]);
    const says = (payload: Uint8Array): string | undefined =>
      new UcpDissector().datagram({ source: '10.0.0.1', payload, way });
    assert.match(says(request) ?? '', /^CREQ 0 of /);
    assert.equal(says(request.with(12, 0x10)), undefined);
    assert.equal(says(request.with(0, 5)), undefined);
  });

  it('tells how long something took until its end was seen first', () => {
    const dissector = new UcpDissector();
    const bytes = new Uint8Array(256).fill(0, 1);
    const noBytes = bytes.subarray(0, 0);
    const head = { header: 7n, epId: 1, requestId: 5, address: 4096n, size: 100, opcode: RtsOpcode.TAG };
    const rts = Messages.RNDV_RTS.encode(bytes.subarray(1), { head, rkey: undefined, userHeader: noBytes });
    bytes[0] = AmId.RNDV_RTS;
    dissector.message({ ...nothing, payload: bytes.slice(0, 1 + rts), byteLength: 1 + rts });
    const reply = { head: { requestId: 5, status: UcsStatus.UCS_OK }, size: undefined };
    const ats = Messages.RNDV_ATS.encode(bytes.subarray(1), reply);
    bytes[0] = AmId.RNDV_ATS;
    for (const timeUs of [30, 40]) {
      const back = { timeUs, from: way.to, to: way.from, psn: 0, isCut: false };
      dissector.message({ ...nothing, payload: bytes.slice(0, 1 + ats), byteLength: 1 + ats, way: back });
    }
    assert.deepEqual(
      dissector.exchanges.map(({ tookUs }) => tookUs),
      [30],
    );
  });

  it('never throws, whatever a capture holds', () => {
    const choices = new Choices(19);
    const dissector = new UcpDissector();
    const request = new Uint8Array(65);
    request.set([0xff, 0xff, 0xff, 0x20, 1, 0, 0, 0, 1, 0, 0, 0, 0x11]);
    dissector.datagram({ source: '10.0.0.1', payload: request, way });
    for (let i = 0; i < 20_000; i += 1) {
      const payload = new Uint8Array(choices.below(120));
      for (let at = 0; at < payload.length; at += 1) payload[at] = choices.chance(60) ? 0 : choices.u32();
      const seen = { ...way, psn: choices.below(4) };
      assert.equal(
        typeof dissector.message({ ...nothing, byteLength: payload.length, payload, way: seen }),
        payload.length === 0 ? 'undefined' : 'string',
      );
      assert.equal(
        typeof dissector.datagram({ source: '10.0.0.1', payload, way: seen }),
        payload.length < 8 ? 'undefined' : 'string',
      );
      dissector.hello(payload);
      const operation = choices.of(['READ', 'WRITE'] as const);
      dissector.access({
        operation,
        address: BigInt(choices.below(1 << 20)),
        length: choices.below(99),
        rkey: 1,
        way: seen,
      });
    }
    for (const { words } of dissector.exchanges) assert.match(words, /^RTS /);
  });
});
