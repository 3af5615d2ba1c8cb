/** rdma_cma.h: events, connections, queue pairs of identifiers, and multicast groups. */
import { absent, type Answer, area, call, constants, here, struct } from '../table.js';
import { ECE, MASK } from './reasons.js';

const BYTES = 'as long as the message can hold, zeros at its end';
const MOST = 'the most that the device has, as when the field is absent';
const LENGTH = absent('`privateData` knows its length.');

/** Of what is asked for, and of what an event says. */
const asked = (name: string): Answer => here([`ConnParam.${name}`, `ConnParamReceived.${name}`]);

export const cmConnections = area(
  'rdma_cm: events and connections',
  constants(
    'rdma_cm_event_type',
    'CmEventType',
    'RDMA_CM_EVENT_',
    `ADDR_RESOLVED ADDR_ERROR ROUTE_RESOLVED ROUTE_ERROR CONNECT_REQUEST CONNECT_RESPONSE CONNECT_ERROR UNREACHABLE
    REJECTED ESTABLISHED DISCONNECTED DEVICE_REMOVAL MULTICAST_JOIN MULTICAST_ERROR ADDR_CHANGE TIMEWAIT_EXIT
    ADDRINFO_RESOLVED ADDRINFO_ERROR USER INTERNAL`,
    {
      ADDR_CHANGE: here('CmEventType.ADDR_CHANGE', 'never comes: there is no bonding here'),
      INTERNAL: here('CmEventType.INTERNAL', 'never comes, as in C'),
    },
  ),
  constants('enum of RDMA_MAX_RESP_RES', here('RDMA_MAX_RESP_RES', MOST), 'RDMA_MAX_', 'RESP_RES INIT_DEPTH', {
    RESP_RES: 'RDMA_MAX_RESP_RES',
    INIT_DEPTH: 'RDMA_MAX_INIT_DEPTH',
  }),
  struct(
    'rdma_conn_param',
    here(['ConnParam', 'ConnParamReceived'], 'what calls take, and what events say'),
    `private_data private_data_len responder_resources initiator_depth flow_control retry_count rnr_retry_count srq
    qp_num`,
    {
      private_data: here(['ConnParam.privateData', 'ConnParamReceived.privateData'], `in events ${BYTES}`),
      private_data_len: here('PrivateDataBytes', 'the most for each call'),
      responder_resources: asked('responderResources'),
      initiator_depth: asked('initiatorDepth'),
      flow_control: asked('flowControl'),
      retry_count: asked('retryCount'),
      rnr_retry_count: asked('rnrRetryCount'),
      srq: asked('srq'),
      qp_num: asked('qpNum'),
    },
  ),
  struct('rdma_ud_param', 'UdParamReceived', 'private_data private_data_len ah_attr qp_num qkey', {
    private_data: here(
      ['UdParamReceived.privateData', 'CmEvent.multicastContext'],
      'of groups, where C puts the context of the join, that is `multicastContext`',
    ),
    private_data_len: LENGTH,
  }),
  struct('rdma_cm_event', 'CmEvent', 'id listen_id event status param param.conn param.ud param.arg', {
    status: here(['CmEvent.status', 'RejectReason', 'SidrStatus'], 'negative errnos as in C; `error` says it in words'),
  }),
  call(
    'rdma_get_cm_event',
    here(['EventChannel.getCmEvent', 'EventChannel.tryGetCmEvent'], 'or `for await (const event of channel)`'),
  ),
  call('rdma_ack_cm_event', 'CmEvent.ack'),
  call('rdma_event_str', 'cmEventStr'),
  call('rdma_write_cm_event', 'CmId.writeCmEvent'),
  call('rdma_create_qp', here(['CmId.createQp', 'IdQpInitAttr'], 'returns the QP; `cap` as granted is `qp.cap`')),
  call('rdma_create_qp_ex', here(['CmId.createQp', 'CmId.createTargetQp'], 'XRC_RECV is made by the latter')),
  call('rdma_destroy_qp', 'CmId.destroyQp'),
  call('rdma_connect', here('CmId.connect', 'no parameters where C takes NULL; `connect()` does all the steps')),
  call('rdma_establish', 'CmId.establish'),
  call('rdma_listen', here('CmId.listen', 'a wildcard listens on all devices; `listen()` does all the steps')),
  call('rdma_get_request', 'CmId.getRequest'),
  call('rdma_accept', 'CmId.accept'),
  call('rdma_reject', 'CmId.reject'),
  call('rdma_reject_ece', ECE),
  call('rdma_notify', 'CmId.notify'),
  call('rdma_disconnect', 'CmId.disconnect'),
  call(
    'rdma_init_qp_attr',
    here('CmId.initQpAttr', 'what `qp.modify` takes; `minRnrTimer` is 12, 0.64 ms, not 0, 655 ms'),
  ),
  call('rdma_set_local_ece', ECE),
  call('rdma_get_remote_ece', ECE),
  constants('rdma_cm_join_mc_attr_mask', MASK, 'RDMA_CM_JOIN_MC_ATTR_', 'ADDRESS JOIN_FLAGS RESERVED'),
  constants('rdma_cm_mc_join_flags', 'McJoinFlag', 'RDMA_MC_JOIN_FLAG_', 'FULLMEMBER SENDONLY_FULLMEMBER RESERVED', {
    RESERVED: absent('Not a flag: the number of them.'),
  }),
  struct('rdma_cm_join_mc_attr_ex', 'JoinMcAttr', 'comp_mask join_flags addr', { comp_mask: MASK }),
  call('rdma_join_multicast', here('CmId.joinMulticast', 'the context comes back as `event.multicastContext`')),
  call('rdma_join_multicast_ex', 'CmId.joinMulticastEx'),
  call(
    'rdma_leave_multicast',
    here('CmId.leaveMulticast', 'EBUSY while its events are not acknowledged, where the C call waits'),
  ),
);
