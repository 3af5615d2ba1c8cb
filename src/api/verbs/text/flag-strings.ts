import {
  AccessFlags,
  AdviseMrFlags,
  CreateCqAttrFlags,
  DeviceCapFlags,
  flagNames,
  OdpGeneralCaps,
  OdpTransportCaps,
  PlacementType,
  QpAttrMask,
  QpCreateFlags,
  QpCreateSendOpsFlags,
  RawPacketCaps,
  ReregMrFlags,
  SendFlags,
  SrqAttrMask,
  WcExFlags,
  WcFlags,
  XrcdOpenFlags,
} from '../../../device/ibta/index.js';

const of =
  (table: Readonly<Record<string, number>>) =>
  (bits: number): string =>
    flagNames(table, bits);

// All write `LOCAL_WRITE|REMOTE_READ`, `0` for none, and bits that mean nothing in hexadecimal.

export const accessFlagsStr = of(AccessFlags);
export const adviseMrFlagsStr = of(AdviseMrFlags);
export const createCqAttrFlagsStr = of(CreateCqAttrFlags);
export const deviceCapFlagsStr = of(DeviceCapFlags);
export const odpGeneralCapsStr = of(OdpGeneralCaps);
export const odpTransportCapsStr = of(OdpTransportCaps);
export const placementTypeStr = of(PlacementType);
export const qpAttrMaskStr = of(QpAttrMask);
export const qpCreateFlagsStr = of(QpCreateFlags);
export const qpCreateSendOpsFlagsStr = of(QpCreateSendOpsFlags);
export const rawPacketCapsStr = of(RawPacketCaps);
export const reregMrFlagsStr = of(ReregMrFlags);
export const sendFlagsStr = of(SendFlags);
export const srqAttrMaskStr = of(SrqAttrMask);
export const wcExFlagsStr = of(WcExFlags);
export const wcFlagsStr = of(WcFlags);
export const xrcdOpenFlagsStr = of(XrcdOpenFlags);
