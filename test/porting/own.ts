/** What is exported and stands for nothing in libibverbs or librdmacm. An export that is named whole brings its members along. */

export interface OwnNames {
  readonly title: string;
  readonly names: readonly string[];
}

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

export const ownNames: readonly OwnNames[] = [
  {
    title: 'Opening a device, and where it is',
    names: list(
      'OpenOptions HostChoice HostKind LinkKind SharedDevice Context.share Context.address Context.host Context.crc32Source',
    ),
  },
  {
    title: 'Why something failed',
    names:
      list(`Context.explain explain Explainable ExplainableEvent formatMicroseconds Problem Syndrome MwBindReason XrcSrqReason WorkCompletion.detail
      WorkCompletion.peer AsyncEvent.vendorErr QpEvent.vendorErr Errno VerbsError.name VerbsError.code VerbsError.call VerbsError.advice`),
  },
  { title: 'Counters', names: list('Context.counters Qp.counters readStatistics PublishedStatistics PublishedQp') },
  {
    title: 'Memory and addresses',
    names:
      list(`CompCntr.type CompCntr.counts CompCntr.words RegistrableMemory DeviceMemory Mr.iova Mr.access Mr.bytes Mr.sge AllocOptions Address WrId gidFromIp ipFromGid formatGid
      gidsEqual isIpv4Gid Ah.attr`),
  },
  {
    title: 'Connections the Node way',
    names: list(`connect ConnectOptions ConnectionOptions Connection listen ListenOptions Listener ConnectionRequest
      RequestHandler ServeOptions RefusedError`),
  },
  {
    title: 'rdma_cm: what C keeps in the kernel, has in a call alone, or not at all',
    names:
      list(`RejectReason SidrStatus PrivateDataBytes EventChannelOptions CreateIdOptions CreateEpOptions ResolveAddrOptions DeviceChoice
      CmOptionValues IdQpInitAttr.qpType CmRoute.pathMtu ConnParam.qpType ConnParam.qkey CmEvent.error Messages`),
  },
  {
    title: 'Members that C keeps to itself, or has in a call alone',
    names: list(`Qp.cap Qp.postRecvSge Srq.srqType Srq.maxWr Srq.maxSge Srq.postRecvSge XrcTargetQp.xrcd
      XrcTargetQpQuery ParentDomain.pd ParentDomain.td Cq.workCompletion SendWr.flush`),
  },
  {
    title: 'Numbers that C has no names for',
    names: list(
      'PhysState XrcdOpenFlags mtuBytes mtuFromBytes ackTimeoutUs rnrTimerUs portSpeed PSN_MASK psnAdd psnDiff',
    ),
  },
  {
    title: 'Names of constants and flags',
    names: list(`nameOf flagNames accessFlagsStr adviseMrAdviceStr adviseMrFlagsStr atomicCapStr
      createCqAttrFlagsStr deviceCapFlagsStr gidTypeStr linkLayerStr migStateStr mtuStr mwTypeStr odpGeneralCapsStr
      odpTransportCapsStr physStateStr placementTypeStr qpAttrMaskStr qpCreateFlagsStr qpCreateSendOpsFlagsStr qpStateStr
      qpTypeStr rateStr rejectReasonStr rawPacketCapsStr reregMrFlagsStr selectivityLevelStr sendFlagsStr srqAttrMaskStr srqTypeStr
      syndromeStr transportTypeStr wcExFlagsStr wcFlagsStr wcOpcodeStr xrcdOpenFlagsStr`),
  },
];
