import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suggestion } from '../values/nearest.ts'
import { type Io, parseUrl, usageError } from './io.ts'
import { type KeyFile, NO_KEYS, profileIn, readKeyFile } from './key-file.ts'

export interface Connection {
  readonly url: string
  readonly key: string | undefined
  readonly dashboardSecret: string | undefined
  /** Where it was found, for people: `AGENTPAY_URL`, `profile work`, `npm start of this checkout`. */
  readonly source: string
  readonly keySource?: string | undefined
}

export interface Sandbox {
  readonly url: string
  readonly apiKey: string
  readonly dashboardSecret: string
  readonly temporalAddress?: string | null
  readonly temporalNamespace?: string | null
  /** The Temporal CLI of its server; null if it has none of its own. */
  readonly temporalCli?: string | null
}

type Environment = Io['env']

/**
 * A named profile wins; then the environment, the current profile, and the sandbox of `npm start`. A secret
 * stored for one address is never sent to another: if `AGENTPAY_URL` names another address, only credentials
 * from the environment are used.
 */
export function findConnection({ env }: Pick<Io, 'env'>, profile?: string): Connection | undefined {
  if (profile !== undefined) return named(profile, readKeyFile({ env }))
  // With both variables set, a damaged or missing key file does not matter.
  const file = env.AGENTPAY_URL && env.AGENTPAY_KEY ? NO_KEYS : readKeyFile({ env })
  const kept = [currentOf(file), sandboxOf(env)].filter(one => one !== undefined)
  const url = env.AGENTPAY_URL || kept[0]?.url
  if (!url) return undefined
  const there = kept.filter(one => originOf(one.url) === originOf(url))
  const [own] = there
  const operators = there.find(one => one.dashboardSecret !== undefined)
  return {
    url: checkedUrl(url),
    key: env.AGENTPAY_KEY || own?.key,
    dashboardSecret: env.AGENTPAY_DASHBOARD_SECRET || operators?.dashboardSecret,
    source: env.AGENTPAY_URL ? 'AGENTPAY_URL' : (own?.source ?? ''),
    keySource: env.AGENTPAY_KEY ? 'AGENTPAY_KEY' : own?.source,
  }
}

function named(name: string, file: KeyFile): Connection {
  const found = connectionOf(name, file)
  if (found) return found
  const names = Object.keys(file.profiles)
  throw usageError(
    `There is no profile ${name}.${suggestion(name, names)} Create it: agentpay login --profile ${name}`,
  )
}

const currentOf = (file: KeyFile): Connection | undefined =>
  file.current === null ? undefined : connectionOf(file.current, file)

function connectionOf(name: string, file: KeyFile): Connection | undefined {
  const profile = profileIn(file, name)
  if (!profile) return undefined
  const source = `profile ${name}`
  return {
    url: checkedUrl(profile.url),
    key: profile.key,
    dashboardSecret: undefined,
    source,
    keySource: source,
  }
}

/** The sandbox of this command's checkout: its file exists only while it runs. */
export function sandboxIn({ DATA_DIR = '.data' }: Environment): Sandbox | undefined {
  const checkout = fileURLToPath(new URL('../..', import.meta.url))
  try {
    return JSON.parse(readFileSync(resolve(checkout, DATA_DIR, 'instance.json'), 'utf8')) as Sandbox
  } catch {
    return undefined
  }
}

export function sandboxOf(env: Environment): Connection | undefined {
  const sandbox = sandboxIn(env)
  if (!sandbox) return undefined
  const { url, apiKey: key, dashboardSecret } = sandbox
  const source = 'npm start of this checkout'
  return { url, key, dashboardSecret, source, keySource: source }
}

const originOf = (url: string): string => parsed(url).origin

function parsed(url: string): URL {
  const found = parseUrl(url)
  if (!found || !/^https?:$/.test(found.protocol))
    throw usageError(`The address of the service must be a URL such as https://pay.example.com, not ${url}`)
  return found
}

export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Refuses plain HTTP to other hosts: the key could be read in transit. */
export function checkedUrl(url: string): string {
  const { protocol, hostname, username } = parsed(url)
  if (username !== '') throw usageError('The address of the service must not contain a name or password.')
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    throw usageError(`${url} is not encrypted. Use https, so that the key cannot be read in transit.`)
  return url
}
