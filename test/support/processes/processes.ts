import { settingVariables } from '../../../src/platform/settings/settings.ts'
import { DASHBOARD_SECRET, http, UNLIMITED } from '../harness.ts'
import { type Launched, launch } from './launched.ts'

export interface Api extends Launched {
  readonly url: string
}

/** Every setting, empty, so that no local `.env` is used. */
const unset = Object.fromEntries(settingVariables().map(name => [name, '']))

export const startProgram = (name: string, env: Record<string, string>): Launched =>
  launch(process.execPath, [`src/bin/${name}.ts`], { ...unset, PORT: '0', LOG_LEVEL: 'silent', ...env })

export const SECRETS = {
  DASHBOARD_SECRET,
  CURSOR_SIGNING_KEY: 'a-secret-key-of-the-tests-0123456789',
  ENCRYPTION_KEY: '5a'.repeat(32),
}

export async function startApi(databaseUrl: string, env: Record<string, string> = {}): Promise<Api> {
  const settings = { DATABASE_URL: databaseUrl, ...UNLIMITED, ...SECRETS, ...env }
  const api = startProgram('api', settings)
  const [, port] = await api.untilOutput(/Listening on .* port (\d+)/)
  return { ...api, url: `http://127.0.0.1:${port}` }
}

export async function startPart(
  name: 'relay' | 'worker',
  databaseUrl: string,
  temporalAddress: string,
  env: Record<string, string> = {},
): Promise<Launched> {
  const part = startProgram(name, {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    ...SECRETS,
    ...env,
  })
  await part.untilOutput(/is running/)
  return part
}

export async function createOwner(url: string): Promise<string> {
  const { body, text } = await http(url, 'POST', '/customers', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    body: { name: 'Owner', email: 'owner@example.com', type: 'business', country: 'DE' },
  })
  if (!body?.key) throw new Error(text)
  return body.key
}
