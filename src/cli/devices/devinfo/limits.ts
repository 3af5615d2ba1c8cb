import { AtomicCap, type DeviceAttr, DeviceCapFlags } from '../../../entry/index.js';
import { deviceRow, flagRows, hex, named } from './rows.js';

const ATOMIC_CAPS = new Map<number, string>([
  [AtomicCap.NONE, 'ATOMIC_NONE'],
  [AtomicCap.HCA, 'ATOMIC_HCA'],
  [AtomicCap.GLOB, 'ATOMIC_GLOB'],
]);

/** Sizes and capabilities of `queryDevice`. */
export function limits(attr: DeviceAttr): string[] {
  const capFlags = attr.deviceCapFlags >>> 0;
  return [
    deviceRow('max_mr_size', hex(attr.maxMrSize)),
    deviceRow('page_size_cap', hex(attr.pageSizeCap)),
    deviceRow('max_qp', attr.maxQp),
    deviceRow('max_qp_wr', attr.maxQpWr),
    deviceRow('device_cap_flags', hex(capFlags, 8)),
    ...flagRows(capFlags, DeviceCapFlags),
    deviceRow('max_sge', attr.maxSge),
    deviceRow('max_sge_rd', attr.maxSgeRd),
    deviceRow('max_cq', attr.maxCq),
    deviceRow('max_cqe', attr.maxCqe),
    deviceRow('max_mr', attr.maxMr),
    deviceRow('max_pd', attr.maxPd),
    deviceRow('max_qp_rd_atom', attr.maxQpRdAtom),
    deviceRow('max_ee_rd_atom', attr.maxEeRdAtom),
    deviceRow('max_res_rd_atom', attr.maxResRdAtom),
    deviceRow('max_qp_init_rd_atom', attr.maxQpInitRdAtom),
    deviceRow('max_ee_init_rd_atom', attr.maxEeInitRdAtom),
    deviceRow('atomic_cap', named(ATOMIC_CAPS, attr.atomicCap, 'invalid atomic capability')),
    deviceRow('max_ee', attr.maxEe),
    deviceRow('max_rdd', attr.maxRdd),
    deviceRow('max_mw', attr.maxMw),
    deviceRow('max_raw_ipv6_qp', attr.maxRawIpv6Qp),
    deviceRow('max_raw_ethy_qp', attr.maxRawEthyQp),
    deviceRow('max_mcast_grp', attr.maxMcastGrp),
    deviceRow('max_mcast_qp_attach', attr.maxMcastQpAttach),
    deviceRow('max_total_mcast_qp_attach', attr.maxTotalMcastQpAttach),
    deviceRow('max_ah', attr.maxAh),
    deviceRow('max_fmr', attr.maxFmr),
    ...(attr.maxFmr === 0 ? [] : [deviceRow('max_map_per_fmr', attr.maxMapPerFmr)]),
    deviceRow('max_srq', attr.maxSrq),
    ...(attr.maxSrq === 0 ? [] : [deviceRow('max_srq_wr', attr.maxSrqWr), deviceRow('max_srq_sge', attr.maxSrqSge)]),
    deviceRow('max_pkeys', attr.maxPkeys),
    deviceRow('local_ca_ack_delay', attr.localCaAckDelay),
  ];
}
