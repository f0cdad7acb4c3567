import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suggestion } from '../values/nearest.ts'
import { type Io, parseUrl, usageError } from './io.ts'
import { type KeyFile, NO_KEYS, profileIn, readKeyFile } from './key-file.ts'

/** Whom the command speaks to, and with what. */
export interface Connection {
  readonly url: string
  readonly key: string | undefined
  readonly dashboardSecret: string | undefined
  /** Where it was found, for people: `AGENTPAY_URL`, `profile work`, `npm start of this checkout`. */
  readonly source: string
  /** Where the key was found. */
  readonly keySource?: string | undefined
}

/** What the running sandbox of `npm start` says of itself. */
export interface Sandbox {
  readonly url: string
  readonly apiKey: string
  readonly dashboardSecret: string
  readonly temporalAddress?: string | null
  readonly temporalNamespace?: string | null
  /** The program with which its Temporal server is asked; null where it has none of its own. */
  readonly temporalCli?: string | null
}

type Environment = Io['env']

/**
 * A profile that is named wins; else the environment, the current profile, and the sandbox of `npm start`, in this order. A
 * secret that was kept for one address is never sent to another: where `AGENTPAY_URL` names another one, only what stands in
 * the environment beside it is used.
 */
export function findConnection({ env }: Pick<Io, 'env'>, profile?: string): Connection | undefined {
  if (profile !== undefined) return named(profile, readKeyFile({ env }))
  // Whoever gives both needs no file, be it damaged or missing.
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
    `There is no profile ${name}.${suggestion(name, names)} Make it: agentpay login --profile ${name}`,
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

/** The sandbox of the checkout that the command belongs to: its file exists only while it runs. */
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
    throw usageError(`The address of the service is a URL such as https://pay.example.com, not ${url}`)
  return found
}

/** The host of an address on this machine. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Without encryption a key would be read on the way. */
export function checkedUrl(url: string): string {
  const { protocol, hostname, username } = parsed(url)
  if (username !== '') throw usageError('The address of the service has no name and password in it.')
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    throw usageError(`${url} is not encrypted, and a key is not sent there: use https.`)
  return url
}
