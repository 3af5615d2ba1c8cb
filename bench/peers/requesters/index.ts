import { grpc } from './grpc.js';
import { http2 } from './http2.js';
import { net } from './net.js';
import type { RequestWay } from './requester.js';
import { xioOver } from './xio.js';

export type RequestWayName = 'rdma' | 'tcp' | 'net' | 'http2' | 'grpc';
export const REQUEST_WAYS: Readonly<Record<RequestWayName, RequestWay>> = {
  rdma: xioOver('rdma'),
  tcp: xioOver('tcp'),
  net,
  http2,
  grpc,
};
export type { Asking, Requester } from './requester.js';
