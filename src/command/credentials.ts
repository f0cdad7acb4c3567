import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMeanText } from '../values/nearest.ts'
import { type CommandIo, parseUrl, usageError } from './io.ts'
import { EMPTY_KEY_FILE, findProfile, type KeyFile, readKeyFile } from './key-file.ts'

export interface ServiceConnection {
  readonly url: string
  readonly key: string | undefined
  readonly dashboardSecret: string | undefined
  /** Where it was found, for people: `AGENTPAY_URL`, `profile work`, `npm start of this checkout`. */
  readonly source: string
  readonly keySource?: string | undefined
}

export interface LocalSandbox {
  readonly url: string
  readonly ownerId: string
  readonly apiKey: string
  readonly dashboardSecret: string
  readonly temporalAddress?: string | null
  readonly temporalNamespace?: string | null
  /** The Temporal CLI of its server; null if it has none of its own. */
  readonly temporalCli?: string | null
}

type Environment = CommandIo['env']

/**
 * A named profile wins; then the environment, the current profile, and the sandbox of `npm start`. A secret
 * stored for one address is never sent to another: if `AGENTPAY_URL` names another address, only credentials
 * from the environment are used.
 */
export function findConnection(
  { env }: Pick<CommandIo, 'env'>,
  profile?: string,
): ServiceConnection | undefined {
  if (profile !== undefined) return named(profile, readKeyFile({ env }))
  // With both variables set, a damaged or missing key file does not matter.
  const file = env.AGENTPAY_URL && env.AGENTPAY_KEY ? EMPTY_KEY_FILE : readKeyFile({ env })
  const kept = [currentOf(file), localSandboxConnection(env)].filter(one => one !== undefined)
  const url = env.AGENTPAY_URL || kept[0]?.url
  if (!url) return undefined
  const there = kept.filter(one => isSameOrigin(one.url, url))
  const [own] = there
  const operators = there.find(one => one.dashboardSecret !== undefined)
  return {
    url: checkServiceUrl(url),
    key: env.AGENTPAY_KEY || own?.key,
    dashboardSecret: env.AGENTPAY_DASHBOARD_SECRET || operators?.dashboardSecret,
    source: env.AGENTPAY_URL ? 'AGENTPAY_URL' : (own?.source ?? ''),
    keySource: env.AGENTPAY_KEY ? 'AGENTPAY_KEY' : own?.source,
  }
}

function named(name: string, file: KeyFile): ServiceConnection {
  const found = connectionOf(name, file)
  if (found) return found
  const names = Object.keys(file.profiles)
  throw usageError(
    `There is no profile ${name}.${didYouMeanText(name, names)} Create it: agentpay login --profile ${name}`,
  )
}

const currentOf = (file: KeyFile): ServiceConnection | undefined =>
  file.current === null ? undefined : connectionOf(file.current, file)

function connectionOf(name: string, file: KeyFile): ServiceConnection | undefined {
  const profile = findProfile(file, name)
  if (!profile) return undefined
  const source = `profile ${name}`
  return {
    url: checkServiceUrl(profile.url),
    key: profile.key,
    dashboardSecret: undefined,
    source,
    keySource: source,
  }
}

/** The sandbox of this command's checkout: its file exists only while it runs. */
export function readLocalSandbox({ DATA_DIR = '.data' }: Environment): LocalSandbox | undefined {
  const checkout = fileURLToPath(new URL('../..', import.meta.url))
  try {
    return JSON.parse(readFileSync(resolve(checkout, DATA_DIR, 'instance.json'), 'utf8')) as LocalSandbox
  } catch {
    return undefined
  }
}

export function localSandboxConnection(env: Environment): ServiceConnection | undefined {
  const sandbox = readLocalSandbox(env)
  if (!sandbox) return undefined
  const { url, apiKey: key, dashboardSecret } = sandbox
  const source = 'npm start of this checkout'
  return { url, key, dashboardSecret, source, keySource: source }
}

export const isSameOrigin = (one: string, other: string): boolean =>
  parsed(one).origin === parsed(other).origin

function parsed(url: string): URL {
  const found = parseUrl(url)
  if (!found || !/^https?:$/.test(found.protocol))
    throw usageError(`${url} is not the address of a service. Write one such as https://pay.example.com`)
  return found
}

export const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Refuses plain HTTP to other hosts: the key could be read in transit. */
export function checkServiceUrl(url: string): string {
  const { protocol, hostname, username } = parsed(url)
  if (username !== '')
    throw usageError(
      'The address of the service contains a name or password. Leave them out: the key is sent in a header.',
    )
  if (protocol === 'http:' && !LOOPBACK_HOST.test(hostname))
    throw usageError(`${url} is not encrypted. Use https, so that the key cannot be read in transit.`)
  return url
}
