import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Mtu } from '../../ibta/index.js';
import { SimulatedNetwork } from '../../link/simulated/index.js';
import { DoorbellPage, doorbellPageShape, Nic, Ring } from '../index.js';
import { crc32 } from '../../wire/index.js';

it(
  'a driver that claims more doorbells than the page holds is believed up to what it can have rung',
  { timeout: 2000 },
  () => {
    const link = new SimulatedNetwork({ seed: 1 }).attach('10.0.0.1');
    const doorbells = new SharedArrayBuffer(doorbellPageShape().bytes);
    const words = new Int32Array(doorbells);
    let looked = 0;
    const nic = new Nic({
      sink: link.sink,
      events: { completionEvent: () => undefined, asyncEvent: () => undefined },
      crc32,
      random: () => 0x1234,
      gids: [link.gid],
      portMtu: Mtu.MTU_4096,
      doorbells,
    });
    words[Ring.PRODUCER] = 400_000_000;
    const begun = process.cpuUsage();
    nic.ringDoorbells();
    looked = process.cpuUsage(begun).user;
    assert.ok(looked < 500_000, `${String(looked)} us`);
    assert.equal(DoorbellPage.ENTRIES, 65536);
  },
);
