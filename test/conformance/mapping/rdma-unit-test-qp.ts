import { type Mapping, testsOf } from './types.js';

const pairs = testsOf('qp-creation', 'queue pairs');
const rc = testsOf('qp-modify', 'RC queue pairs');
const ud = testsOf('qp-modify', 'UD queue pairs');
const states = testsOf('qp-states', 'queue pairs by state');
const toPeer = testsOf('rc-peer-state', 'RC to a peer');

const handles =
  'Objects have no handles that could be broken here: it is one that was ended, and one of another device.';
const ended = 'Objects have no handles that could be broken here: it is one that was ended.';
const needs = 'need all that the transition asks for';
const refusedAtOnce = 'This device refuses the request with EINVAL (man ibv_post_send); nothing of it is left in RTS.';

export const mapping: Mapping = {
  'QpTest.Create': { test: pairs('of type RC are made as they were asked for, in RESET, and can be ended') },
  'QpTest.CreateWithInlineMax': {
    test: [36, 96, 216, 580, 1000].map((bytes) =>
      pairs(`asked for ${bytes} bytes of inline data have room for as much, or are refused`),
    ),
  },
  'QpTest.CreateWithInvalidSendCq': {
    test: [pairs('are refused with a sendCq that was ended'), pairs('are refused with a sendCq of another device')],
    note: handles,
  },
  'QpTest.CreateWithInvalidRecvCq': {
    test: [pairs('are refused with a recvCq that was ended'), pairs('are refused with a recvCq of another device')],
    note: handles,
  },
  'QpTest.CreateWithInvalidSrq': {
    test: [
      pairs('are refused with a shared receive queue that was ended'),
      pairs('are refused with a shared receive queue of another device'),
    ],
    note: handles,
  },
  'QpTest.UnknownType': { test: pairs('of a type that does not exist are refused') },
  'QpTest.CreateUd': { test: pairs('of type UD are made as they were asked for, in RESET, and can be ended') },
  'QpTest.ZeroSendWr': { test: pairs('can be made with a maxSendWr of 0') },
  'QpTest.QueueRefs': {
    test: [
      pairs('keep the completion queue that is their sendCq from being ended'),
      pairs('keep the completion queue that is their recvCq from being ended'),
    ],
  },
  'QpTest.MaxQpWr': {
    test: [
      pairs('can have a maxSendWr of maxQpWr, and not one more'),
      pairs('can have a maxRecvWr of maxQpWr, and not one more'),
    ],
  },
  'QpTest.MaxSge': {
    test: [
      pairs('can have a maxSendSge of maxSge, and not one more'),
      pairs('can have a maxRecvSge of maxSge, and not one more'),
    ],
  },
  'QpTest.Modify': { test: [rc(`RESET to INIT: ${needs}`), rc(`INIT to RTR: ${needs}`), rc(`RTR to RTS: ${needs}`)] },
  'QpTest.ModifyInvalidResetToRtrTransition': { test: rc('in RESET go to RESET, INIT alone') },
  'QpTest.ModifyInvalidInitToRtsTransition': { test: rc('in INIT go to RESET, INIT, RTR, ERR alone') },
  'QpTest.ModifyInvalidRtsToRtrTransition': { test: rc('in RTS go to RESET, RTS, SQD, ERR alone') },
  'QpTest.ModifyBadResetToInitStateTransition': { test: rc(`RESET to INIT: ${needs}`) },
  'QpTest.ModifyBadInitToRtrStateTransition': { test: rc(`INIT to RTR: ${needs}`) },
  'QpTest.ModifyBadRtrToRtsStateTransition': { test: rc(`RTR to RTS: ${needs}`) },
  'QpTest.UdModify': {
    test: [ud(`RESET to INIT: ${needs}`), ud('INIT to RTR: need nothing else'), ud(`RTR to RTS: ${needs}`)],
  },
  'QpTest.DeallocPdWithOutstandingQp': {
    test: testsOf('pd-lifetime', 'protection domains')('cannot be ended while a queue pair is in them'),
  },
  'QpTest.ModifyInvalidQp': { test: pairs('take no modify after their end'), note: ended },
  'QpTest.QueryInvalidQp': { test: pairs('take no query after their end'), note: ended },
  'QpTest.DestroyInvalidQp': { test: pairs('take no destroy after their end'), note: ended },
  'QpStateTest.DestroyFromReset': { test: states('of type RC in RESET can be ended') },
  'QpStateTest.DestroyFromInit': { test: states('of type RC in INIT can be ended') },
  'QpStateTest.ReuseQp': { test: states('can be used anew after ERR and RESET') },
  'QpStateTest.QpIdRollover': {
    test: [
      states('go on while a thousand others are made and ended'),
      pairs('have numbers of their own, 2000 of them at once'),
    ],
    note: 'The numbers of this device are drawn at random from 24 bits, so that they do not wrap after the last.',
  },
  'QpStateTest.QpReadWhileTargetEntersRts': { test: states('answer READs in RTR, and while they go on to RTS') },
  'QpStateTest.PostSendReset': {
    test: states('in RESET take no send request, and nothing of it is left'),
    note: refusedAtOnce,
  },
  'QpStateTest.PostRecvReset': {
    test: states('in RESET take no receive request, and a SEND to them ends in RETRY_EXC_ERR'),
    note: 'This device refuses the receive request with EINVAL (man ibv_post_recv).',
  },
  'QpStateTest.PostSendInit': {
    test: states('in INIT take no send request, and nothing of it is left'),
    note: refusedAtOnce,
  },
  'QpStateTest.PostRecvInit': {
    test: states('in INIT take receive requests that no SEND reaches: it ends in RETRY_EXC_ERR'),
  },
  'QpStateTest.PostSendRtr': {
    test: states('in RTR take no send request, and nothing of it is left'),
    note: refusedAtOnce,
  },
  'QpStateTest.PostRecvRtr': { test: states('in RTR take receive requests that serve once they are in RTS') },
  'QpStateTest.PostSendErr': { test: states('in ERR flush what is posted to either queue') },
  'QpStateTest.PostSendErrConcurrent': {
    test: ['first', 'second'].map((round) =>
      states(`that go to ERR amid READs end each well or flushed, and all later ones flushed, on a ${round} pair`),
    ),
    note: 'A queue pair belongs to one JavaScript thread; the state changes between two posts, while READs are under way.',
  },
  'QpStateTest.PostSendErrDelayed': {
    test: states('in ERR flush one batch after the other, however late'),
    note: 'Other work comes between the batches in place of seconds.',
  },
  'QpStateTest.PostRecvErr': { test: states('in ERR flush what is posted to either queue') },
  'QpStateTest.RtsSendToRtr': { test: states('in RTR receive what a peer in RTS sends') },
  'QpStateTest.ModRtsToError': { test: states('from RTS to ERR need nothing but the state') },
  'QpPostTest.OverflowSendWr': { test: states('with a full send queue refuse one more request, and name it') },
  'ResponderQpStateTest.ResponderNotReadyToReceive': {
    test: ['READ', 'WRITE'].flatMap((request) =>
      ['RESET', 'INIT'].map((state) => toPeer(`in state ${state}, ${request} ends in RETRY_EXC_ERR`)),
    ),
  },
};
