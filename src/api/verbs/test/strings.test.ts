import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as spec from '../../../device/ibta/index.js';
import * as verbs from '../index.js';

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
  ['gidTypeStr', verbs.gidTypeStr, spec.GidType],
  ['srqTypeStr', verbs.srqTypeStr, spec.SrqType],
  ['mwTypeStr', verbs.mwTypeStr, spec.MwType],
  ['adviseMrAdviceStr', verbs.adviseMrAdviceStr, spec.AdviseMrAdvice],
  ['selectivityLevelStr', verbs.selectivityLevelStr, spec.SelectivityLevel],
  ['syndromeStr', verbs.syndromeStr, spec.Syndrome],
  ['rateStr', verbs.rateStr, spec.Rate],
];

const flagTables: readonly [string, (bits: number) => string, Readonly<Record<string, number>>][] = [
  ['accessFlagsStr', verbs.accessFlagsStr, spec.AccessFlags],
  ['adviseMrFlagsStr', verbs.adviseMrFlagsStr, spec.AdviseMrFlags],
  ['createCqAttrFlagsStr', verbs.createCqAttrFlagsStr, spec.CreateCqAttrFlags],
  ['deviceCapFlagsStr', verbs.deviceCapFlagsStr, spec.DeviceCapFlags],
  ['odpGeneralCapsStr', verbs.odpGeneralCapsStr, spec.OdpGeneralCaps],
  ['odpTransportCapsStr', verbs.odpTransportCapsStr, spec.OdpTransportCaps],
  ['placementTypeStr', verbs.placementTypeStr, spec.PlacementType],
  ['qpAttrMaskStr', verbs.qpAttrMaskStr, spec.QpAttrMask],
  ['qpCreateFlagsStr', verbs.qpCreateFlagsStr, spec.QpCreateFlags],
  ['qpCreateSendOpsFlagsStr', verbs.qpCreateSendOpsFlagsStr, spec.QpCreateSendOpsFlags],
  ['rawPacketCapsStr', verbs.rawPacketCapsStr, spec.RawPacketCaps],
  ['reregMrFlagsStr', verbs.reregMrFlagsStr, spec.ReregMrFlags],
  ['sendFlagsStr', verbs.sendFlagsStr, spec.SendFlags],
  ['srqAttrMaskStr', verbs.srqAttrMaskStr, spec.SrqAttrMask],
  ['wcExFlagsStr', verbs.wcExFlagsStr, spec.WcExFlags],
  ['wcFlagsStr', verbs.wcFlagsStr, spec.WcFlags],
  ['xrcdOpenFlagsStr', verbs.xrcdOpenFlagsStr, spec.XrcdOpenFlags],
];

for (const [name, str, table] of flagTables) {
  describe(name, () => {
    it('names every bit, and says 0 of none', () => {
      const all = Object.values(table).reduce((mask, bit) => mask | bit, 0);
      assert.deepEqual(str(all).split('|').sort(), Object.keys(table).sort());
      assert.equal(str(0), '0');
    });
  });
}

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
    assert.equal(verbs.gidTypeStr(spec.GidType.ROCE_V2), 'RoCE v2');
    assert.equal(verbs.rateStr(spec.Rate.RATE_2_5_GBPS), '2.5 Gb/s');
  });
});
