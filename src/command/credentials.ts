import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Io, usageError } from './io.ts'

/** Whom the command speaks to, and with what. */
export interface Connection {
  readonly url: string
  readonly key: string | undefined
  readonly dashboardSecret: string | undefined
  /** Where it was found, for people: `AGENTPAY_URL`, `profile work`, `npm start of this checkout`. */
  readonly source: string
}

/** What the running sandbox of `npm start` says of itself. */
interface Instance {
  readonly url: string
  readonly apiKey: string
  readonly dashboardSecret: string
}

type Environment = Io['env']

/**
 * The environment wins, then the sandbox of `npm start`. A secret that was kept for one address is never sent to
 * another: where `AGENTPAY_URL` names another one, only what stands in the environment beside it is used.
 */
export function findConnection({ env }: Pick<Io, 'env'>, profile?: string): Connection | undefined {
  if (profile !== undefined) throw usageError(`There is no profile ${profile}.`)
  const kept = sandboxOf(env)
  const url = env.AGENTPAY_URL || kept?.url
  if (!url) return undefined
  const isKept = kept !== undefined && originOf(url) === originOf(kept.url)
  return {
    url: checked(url),
    key: env.AGENTPAY_KEY || (isKept ? kept.key : undefined),
    dashboardSecret: env.AGENTPAY_DASHBOARD_SECRET || (isKept ? kept.dashboardSecret : undefined),
    source: env.AGENTPAY_URL ? 'AGENTPAY_URL' : (kept?.source ?? ''),
  }
}

/** The sandbox of the checkout that the command belongs to: its file exists only while it runs. */
export function sandboxOf({ DATA_DIR = '.data' }: Environment): Connection | undefined {
  const checkout = resolve(import.meta.dirname, '../..')
  try {
    const text = readFileSync(resolve(checkout, DATA_DIR, 'instance.json'), 'utf8')
    const { url, apiKey, dashboardSecret } = JSON.parse(text) as Instance
    return { url, key: apiKey, dashboardSecret, source: 'npm start of this checkout' }
  } catch {
    return undefined
  }
}

const originOf = (url: string): string => parsed(url).origin

function parsed(url: string): URL {
  const found = URL.parse(url)
  if (!found || !/^https?:$/.test(found.protocol))
    throw usageError(`The address of the service is a URL such as https://pay.example.com, not ${url}`)
  return found
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Without encryption a key would be read on the way. */
function checked(url: string): string {
  const { protocol, hostname, username } = parsed(url)
  if (username !== '') throw usageError('The address of the service has no name and password in it.')
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    throw usageError(`${url} is not encrypted, and a key is not sent there: use https.`)
  return url
}
