/** A key-value store for clients of Redis. */
export type { GatewayTotals } from './commands/index.js';
export type { RedisGatewayOptions } from './options.js';
export { RedisGateway, serveRedis } from './redis-gateway.js';
export type { GatewayStore } from './commands/command.js';
