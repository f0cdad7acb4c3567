import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { withMachineLock } from '../processes/machine-lock.ts'
import { type PrintLine, withProgress } from '../processes/progress.ts'
import { buildTemporal } from './build.ts'
import { downloadTemporal, TEMPORAL_RELEASE, type TemporalRelease, temporalCacheFolder } from './download.ts'

export interface TemporalSearch {
  readonly env: NodeJS.ProcessEnv
  readonly tell: PrintLine
  readonly release?: TemporalRelease
}

export type TemporalSearchResult =
  | { readonly binary: string }
  | { readonly binary: null; readonly reason: string }

const UNFINISHED = 'unfinished-'
const VERSION_MS = 30_000
const ADVICE =
  'Install the Temporal CLI (https://docs.temporal.io/cli) or Go (https://go.dev/dl), or set TEMPORAL_ADDRESS'

export async function installedTemporal({
  env,
  release = TEMPORAL_RELEASE,
}: TemporalSearch): Promise<string | null> {
  const installed = await onPath(env, release)
  if (installed) return installed
  const cached = join(temporalCacheFolder(env, release), 'temporal')
  return existsSync(cached) ? cached : null
}

/** Prefers an installed binary, then the published one, then a build from source, which takes minutes, once. */
export async function findTemporal(search: TemporalSearch): Promise<TemporalSearchResult> {
  const atHand = await installedTemporal(search)
  if (atHand) return { binary: atHand }
  try {
    return await getTemporal({ release: TEMPORAL_RELEASE, ...search })
  } catch (error) {
    return { binary: null, reason: `${(error as Error).message}. ${ADVICE}.` }
  }
}

async function getTemporal(search: Required<TemporalSearch>): Promise<TemporalSearchResult> {
  const { env, tell, release } = search
  const cache = temporalCacheFolder(env, release)
  mkdirSync(cache, { recursive: true })
  const wait = () => tell('Another process is installing Temporal on this machine; waiting for it')
  return withProgress(tell, () => withMachineLock(cache, wait, () => fill(cache, search)))
}

/** Created in another folder and moved at the end, so that an interruption leaves no incomplete binary. */
async function fill(cache: string, search: Required<TemporalSearch>): Promise<TemporalSearchResult> {
  const binary = join(cache, 'temporal')
  if (existsSync(binary)) return { binary }
  removeUnfinished(cache)
  try {
    renameSync(await make(mkdtempSync(join(cache, UNFINISHED)), search), binary)
    return { binary }
  } finally {
    removeUnfinished(cache)
  }
}

async function make(folder: string, { env, tell, release }: Required<TemporalSearch>): Promise<string> {
  const ways = {
    download: () => downloadTemporal(release, folder, tell),
    build: () => buildTemporal(release, folder, { env, tell }),
  }
  const failures: string[] = []
  for (const [name, way] of Object.entries(ways)) {
    const made = await way().catch((error: Error) => void failures.push(`${name}: ${error.message}`))
    if (made && (await isNewEnough(made, release))) return made
    if (made) failures.push(`${name}: the binary does not run here`)
  }
  throw new Error(failures.join('; '))
}

function removeUnfinished(cache: string): void {
  const names = readdirSync(cache).filter(name => name.startsWith(UNFINISHED))
  // A build whose parent was killed may still be writing.
  for (const name of names) rmSync(join(cache, name), { recursive: true, force: true, maxRetries: 10 })
}

async function onPath(
  { PATH = '' }: NodeJS.ProcessEnv,
  release: TemporalRelease,
): Promise<string | undefined> {
  const candidates = PATH.split(delimiter).map(folder => join(folder, 'temporal'))
  const first = candidates.find(existsSync)
  return first && (await isNewEnough(first, release)) ? first : undefined
}

async function isNewEnough(binary: string, { oldestServer }: TemporalRelease): Promise<boolean> {
  const run = promisify(execFile)(binary, ['--version'], { timeout: VERSION_MS })
  const { stdout } = await run.catch(() => ({ stdout: '' }))
  const version = /\bServer (\d+\.\d+)/.exec(stdout)?.[1]
  return version !== undefined && version.localeCompare(oldestServer, 'en', { numeric: true }) >= 0
}
