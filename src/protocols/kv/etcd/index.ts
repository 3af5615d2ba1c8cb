/** Several key-value servers that find each other by etcd. */
export { etcdMembership } from './etcd-membership.js';
export { type EtcdRegistration, type EtcdRegistrationOptions, registerInEtcd } from './etcd-registration.js';
export type { EtcdOptions } from './options.js';
