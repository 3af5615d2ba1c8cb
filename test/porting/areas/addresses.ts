/** Address handles, multicast and rates. */
import { absent, area, call, constants, here, macro, struct } from '../table.js';
import { HANDLE } from './reasons.js';

const SOURCE_PORT = absent('The source port of UDP is 4791 always; nothing is to be chosen.');

export const addresses = area(
  'Addresses, multicast and rates',
  struct('ibv_global_route', 'GlobalRoute', 'dgid flow_label sgid_index hop_limit traffic_class'),
  struct('ibv_grh', here(['GrhHeader', 'parseGrh']), 'version_tclass_flow paylen next_hdr hop_limit sgid dgid', {
    version_tclass_flow: ['GrhHeader.version', 'GrhHeader.trafficClass', 'GrhHeader.flowLabel'],
    paylen: absent('`WorkCompletion.byteLen` tells the length.'),
    next_hdr: 'GrhHeader.nextHeader',
    sgid: 'GrhHeader.sourceGid',
    dgid: 'GrhHeader.destinationGid',
  }),
  constants(
    'ibv_rate',
    'Rate',
    'IBV_',
    `RATE_MAX RATE_2_5_GBPS RATE_5_GBPS RATE_10_GBPS RATE_20_GBPS RATE_30_GBPS RATE_40_GBPS RATE_60_GBPS RATE_80_GBPS
    RATE_120_GBPS RATE_14_GBPS RATE_56_GBPS RATE_112_GBPS RATE_168_GBPS RATE_25_GBPS RATE_100_GBPS RATE_200_GBPS
    RATE_300_GBPS RATE_28_GBPS RATE_50_GBPS RATE_400_GBPS RATE_600_GBPS RATE_800_GBPS RATE_1200_GBPS`,
  ),
  call('ibv_rate_to_mult', 'rateToMult'),
  call('mult_to_ibv_rate', 'multToRate'),
  call('ibv_rate_to_mbps', 'rateToMbps'),
  call('mbps_to_ibv_rate', 'mbpsToRate'),
  struct(
    'ibv_ah_attr',
    here(['AhAttr', 'AhAttrInit'], 'AhAttrInit is what calls take'),
    'grh dlid sl src_path_bits static_rate is_global port_num',
    { grh: ['AhAttr.grh', 'AhAttrInit.grh'] },
  ),
  struct('ibv_ah', 'Ah', 'context pd handle', { handle: HANDLE }),
  call('ibv_create_ah', 'Pd.createAh'),
  call('ibv_init_ah_from_wc', 'Context.initAhFromWc'),
  call('ibv_create_ah_from_wc', 'Pd.createAhFromWc'),
  call('ibv_destroy_ah', 'Ah.destroy'),
  call('ibv_attach_mcast', 'Qp.attachMcast'),
  call('ibv_detach_mcast', 'Qp.detachMcast'),
  call('ibv_resolve_eth_l2_from_gid', absent('The system finds MAC addresses; the NIC sends by IP.')),
  call('ibv_flow_label_to_udp_sport', SOURCE_PORT),
  macro('IB_ROCE_UDP_ENCAP_VALID_PORT_MIN', SOURCE_PORT),
  macro('IB_ROCE_UDP_ENCAP_VALID_PORT_MAX', SOURCE_PORT),
  macro('IB_GRH_FLOWLABEL_MASK', absent('A flow label is a number up to 0xfffff.')),
);
