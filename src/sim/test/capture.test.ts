import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CaptureRecord, crc32, datagramIcrc, parseFrame, readCapture } from '../../device/wire/index.js';
import { WcStatus } from '../../entry/index.js';
import { type Sim, simulate } from '../../entry/sim.js';
import { connected, send } from './support.js';

describe('packets of a simulation', () => {
  it('are records with the names that the field has for things', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      await send(atClient);
      const [req] = sim.packets({ cm: 'REQ' });
      const [message] = sim.packets({ opcode: 'RC_SEND_ONLY' });
      const [ack] = sim.packets({ opcode: 'RC_ACKNOWLEDGE' });
      assert.deepEqual(
        {
          ...message,
          index: 0,
          psn: 0,
          sentUs: 0,
          deliveredUs: message.deliveredUs.length,
          text: '',
          bytes: 0,
          payload: message.payload.length,
        },
        {
          index: 0,
          sentUs: 0,
          from: 'client',
          to: 'server',
          opcode: 'RC_SEND_ONLY',
          qpn: atServer.qp.qpNum,
          psn: 0,
          ackRequest: true,
          solicited: false,
          payload: 5,
          text: '',
          fate: ['delivered'],
          deliveredUs: 1,
          bytes: 0,
        },
      );
      assert.deepEqual([ack.ack, ack.msn, ack.psn], ['ACK', 1, message.psn]);
      assert.equal(req.cmMessage?.attribute === 0x10 && req.cmMessage.localQpn, atClient.qp.qpNum);
    }));

  it('say why a receiver was not ready, and for how long', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, 0);
      sim.when({ ack: 'RNR_NAK', nth: 2 }, () => atServer.postRecv(0n, atServer.regMsgs(new Uint8Array(64)).sge()));
      assert.equal((await send(atClient)).status, WcStatus.SUCCESS);
      const naks = sim.packets({ ack: 'RNR_NAK' }).map(({ rnrTimerUs }) => rnrTimerUs);
      assert.deepEqual(naks, [640, 640]);
    }));

  it('are forgotten when there are too many, and that is said', () =>
    simulate({ captureBytes: 600 }, async (sim) => {
      await connected(sim);
      assert.throws(() => sim.packets(), { errno: 'ENOBUFS', message: /oldest 1 packets/ });
    }));
});

describe('a capture file of a simulation', () => {
  async function written(address: string | undefined): Promise<CaptureRecord[]> {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-sim-'));
    try {
      return await simulate(async (sim: Sim) => {
        const options = address === undefined ? {} : { address };
        const [server, client] = [
          sim.host('server', options),
          sim.host('client', address ? { address: 'fd00::9' } : {}),
        ];
        sim.drop({ cm: 'REQ', nth: 1 });
        server.listen({ port: 1 }).close();
        await assert.rejects(client.connect({ host: 'server', port: 1 }));
        return [...readCapture(readFileSync(sim.writeCapture(join(folder, 'run.pcapng'))))];
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  for (const address of [undefined, 'fd00::1'])
    it(`holds each packet as it was sent and as it came, over IPv${address === undefined ? 4 : 6}`, async () => {
      const records = await written(address);
      const sound = records.map(({ linkType, data }) => {
        const frame = parseFrame(linkType, data);
        if (typeof frame === 'string') return frame;
        const at = frame.offset + frame.length - 4;
        return (
          new DataView(data.buffer, data.byteOffset).getUint32(at, true) === datagramIcrc(crc32, data, frame) >>> 0
        );
      });
      assert.deepEqual(
        records.map(({ direction }) => direction),
        ['out', 'out', 'in', 'out', 'in'],
      );
      assert.deepEqual(sound, [true, true, true, true, true]);
    });

  it('says in comments what became of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-sim-'));
    try {
      const text = await simulate(async (sim) => {
        sim.drop({ opcode: 'RC_SEND_ONLY', nth: 1 });
        await send((await connected(sim)).atClient);
        return readFileSync(sim.writeCapture(join(folder, 'run.pcapng')), 'latin1');
      });
      assert.deepEqual(text.match(/client > server: dropped/g)?.length, 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
