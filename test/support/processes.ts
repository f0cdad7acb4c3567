import { DASHBOARD_SECRET, http } from './harness.ts'
import { type Launched, launch } from './launched.ts'

/** One API process of several on a database. */
export interface Api extends Launched {
  readonly url: string
}

/** Runs `src/bin/api.ts` as an operator would. */
export async function startApi(databaseUrl: string, env: Record<string, string> = {}): Promise<Api> {
  const api = launch(process.execPath, ['src/bin/api.ts'], {
    DATABASE_URL: databaseUrl,
    DASHBOARD_SECRET,
    SECRET_KEY: 'a-secret-key-of-the-tests-0123456789',
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOG_LEVEL: 'silent',
    PORT: '0',
    ...env,
  })
  const [, port] = await api.says(/Listening on .* port (\d+)/)
  return { ...api, url: `http://127.0.0.1:${port}` }
}

/** A new owner's key. */
export async function join(url: string): Promise<string> {
  const { body, text } = await http(url, 'POST', '/customers', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    body: { name: 'Owner', email: 'owner@example.com', type: 'business', country: 'DE' },
  })
  if (!body?.key) throw new Error(text)
  return body.key
}
