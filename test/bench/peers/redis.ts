import { spawnSync } from 'node:child_process'
import { lastingPort } from '../../support/processes/lasting-port.ts'
import { type Running, start } from '../child.ts'
import type { Place } from './compare.ts'

export interface Redis extends Running {
  readonly port: number
}

export const redisAbsence = (): string | null =>
  spawnSync('redis-server', ['--version']).status === 0 ? null : 'redis-server is not on the PATH'

/** Redis with the settings that the peer's makers give it. */
export async function openRedis({ folder, closeLater }: Place, settings: readonly string[]): Promise<Redis> {
  const port = await lastingPort()
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  const redis = await start(
    { command: ['redis-server', ...own, ...settings], log: `${folder}/redis.log`, env: {} },
    /Ready to accept connections/,
  )
  closeLater(redis.stop)
  return { ...redis, port }
}
