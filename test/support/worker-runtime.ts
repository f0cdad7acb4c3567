import { afterAll } from '@jest/globals'
import { type OpenRuntime, openRuntime, type RuntimeOptions } from '../../src/app/runtime.ts'
import { readSettings } from '../../src/platform/settings/settings.ts'
import { secretSettings, type TestService } from './harness.ts'
import { IN_GERMANY } from './services/settings.ts'

/** Opens the runtime of a worker beside a service; it is closed after the tests of the file. */
export async function openWorkerRuntime(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  env: Readonly<Record<string, string>> = {},
  options: Pick<RuntimeOptions, 'outside' | 'waiting'> = {},
): Promise<OpenRuntime> {
  const settings = readSettings({ LOG_LEVEL: 'silent', DATABASE_POOL: '10', ...IN_GERMANY, ...env })
  const runtime = await openRuntime({
    settings: { ...settings, ...secretSettings, databaseUrl },
    shared: true,
    ...options,
  })
  afterAll(async () => {
    await runtime.threads.stop()
    await runtime.database.close()
  })
  return runtime
}
