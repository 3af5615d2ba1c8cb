import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as spec from '../../src/spec/index.js';
import * as verbs from '../../src/verbs/index.js';

const tables: readonly [string, (value: number) => string, Readonly<Record<string, number>>][] = [
  ['wcStatusStr', verbs.wcStatusStr, spec.WcStatus],
  ['wcOpcodeStr', verbs.wcOpcodeStr, spec.WcOpcode],
  ['wrOpcodeStr', verbs.wrOpcodeStr, spec.WrOpcode],
  ['eventTypeStr', verbs.eventTypeStr, spec.EventType],
  ['portStateStr', verbs.portStateStr, spec.PortState],
  ['physStateStr', verbs.physStateStr, spec.PhysState],
  ['nodeTypeStr', verbs.nodeTypeStr, spec.NodeType],
  ['transportTypeStr', verbs.transportTypeStr, spec.TransportType],
  ['linkLayerStr', verbs.linkLayerStr, spec.LinkLayer],
  ['atomicCapStr', verbs.atomicCapStr, spec.AtomicCap],
  ['qpStateStr', verbs.qpStateStr, spec.QpState],
  ['qpTypeStr', verbs.qpTypeStr, spec.QpType],
  ['migStateStr', verbs.migStateStr, spec.MigState],
  ['mtuStr', verbs.mtuStr, spec.Mtu],
];

for (const [name, str, constants] of tables) {
  describe(name, () => {
    it('has its own words for every value', () => {
      const words = Object.values(constants).map(str);
      assert.equal(new Set(words).size, words.length);
      for (const word of words) assert.doesNotMatch(word, /unknown \(/);
    });

    it('says so of a value that means nothing', () => assert.equal(str(4242), 'unknown (4242)'));
  });
}

describe('the strings that tools print', () => {
  it('are those that people know', () => {
    assert.equal(verbs.portStateStr(spec.PortState.ACTIVE), 'PORT_ACTIVE');
    assert.equal(verbs.linkLayerStr(spec.LinkLayer.ETHERNET), 'Ethernet');
    assert.equal(verbs.wcStatusStr(spec.WcStatus.RNR_RETRY_EXC_ERR), 'receiver-not-ready retry count exceeded');
    assert.equal(verbs.mtuStr(spec.Mtu.MTU_1024), '1024');
  });
});
