import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { portSpeed } from '../index.js';

describe('portSpeed', () => {
  const ports: readonly [
    what: string,
    activeWidth: number,
    activeSpeed: number,
    activeSpeedEx: number,
    speed: number,
  ][] = [
    ['one lane of 25 Gb/s', 1, 32, 0, 250],
    ['four lanes of 2.5 Gb/s', 2, 1, 0, 100],
    ['eight lanes of 100 Gb/s', 4, 128, 0, 8000],
    ['twelve lanes of 10 Gb/s', 8, 4, 0, 1200],
    ['two lanes of 50 Gb/s', 16, 64, 0, 1000],
    ['four lanes of 200 Gb/s, which 8 bits cannot say', 2, 128, 256, 8000],
    ['no lanes', 0, 32, 0, 0],
    ['no speed', 1, 0, 0, 0],
  ];
  for (const [what, activeWidth, activeSpeed, activeSpeedEx, speed] of ports) {
    it(`of ${what} is ${speed}`, () => {
      assert.equal(portSpeed({ activeWidth, activeSpeed, activeSpeedEx }), speed);
    });
  }
});
