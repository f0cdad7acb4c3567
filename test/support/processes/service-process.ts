import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningInstance } from '../../../src/dev/instance-file.ts'
import { settingVariables } from '../../../src/platform/settings/settings.ts'
import { type Launched, launch } from './launched.ts'

/** Every setting, empty, so that no local `.env` is used. */
const unset = Object.fromEntries(settingVariables().map(name => [name, '']))

export function command(name: string, dataDir: string, env: Record<string, string> = {}): Launched {
  return launch(process.execPath, ['src/bin/launcher/launch.mjs', name], {
    ...unset,
    DATA_DIR: dataDir,
    PORT: '0',
    ...env,
  })
}

export async function startService(dataDir: string, env: Record<string, string> = {}): Promise<Launched> {
  const service = command('start', dataDir, env)
  await service.untilOutput(/The service is ready/)
  return service
}

export const instanceFile = (dataDir: string) => join(dataDir, 'instance.json')

export function instanceOf(dataDir: string): RunningInstance {
  return JSON.parse(readFileSync(instanceFile(dataDir), 'utf8'))
}

export async function stopService(service: Launched): Promise<number | null> {
  service.kill('SIGTERM')
  return service.exit
}
