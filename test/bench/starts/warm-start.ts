import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { removePostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { serve } from '../child.ts'

/** Seconds of `npm start` until the service is ready, with existing data. */
export async function warmStart(folder: string): Promise<number> {
  const dataDir = join(folder, 'start')
  mkdirSync(dataDir)
  await begin(dataDir, folder)
  const seconds = await begin(dataDir, folder)
  await removePostgres(dataDir)
  return seconds
}

async function begin(dataDir: string, folder: string): Promise<number> {
  const began = performance.now()
  const env = { HOME: process.env.HOME ?? '', DATA_DIR: dataDir, PORT: '0' }
  const service = await serve(['npm', 'start'], join(folder, 'start.log'), env)
  const seconds = (performance.now() - began) / 1000
  await service.stop()
  return seconds
}
