import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { withMachineLock } from '../../../src/dev/processes/machine-lock.ts'
import type { PrintLine } from '../../../src/dev/processes/progress.ts'
import { buildTemporal } from '../../../src/dev/temporal/build.ts'
import { TEMPORAL_PLATFORM } from '../../../src/dev/temporal/release.ts'

const VERSION = '0.203.0'

/** Stripe's own stand-in, which validates Stripe's parameters: a self-contained Go module. */
const release = {
  version: VERSION,
  source: {
    module: 'github.com/stripe/stripe-mock',
    version: `v${VERSION}`,
    sum: 'h1:EzW7nb/fphqcAkgVRHAaC88OaAZo6SBWSl54cflDTio=',
    package: '.',
    stamp: 'main.version',
  },
}

interface Search {
  readonly env: NodeJS.ProcessEnv
  readonly tell: PrintLine
}

/**
 * Finds the binary that `STRIPE_MOCK` names, `stripe-mock` of this version on the PATH, or an earlier build;
 * otherwise builds it with Go, once for all checkouts.
 */
export async function findStripeMock({ env, tell }: Search): Promise<string> {
  if (env.STRIPE_MOCK) return env.STRIPE_MOCK
  const installed = (env.PATH ?? '').split(delimiter).map(folder => join(folder, 'stripe-mock'))
  for (const binary of installed) if (existsSync(binary) && (await isOurVersion(binary))) return binary
  const folder = cacheFolder(env)
  mkdirSync(folder, { recursive: true })
  const binary = join(folder, 'stripe-mock')
  if (existsSync(binary)) return binary
  const wait = () => tell('Another process is building stripe-mock; waiting for it')
  return withMachineLock(folder, wait, () => build(folder, binary, { env, tell }))
}

const cacheFolder = ({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string =>
  join(
    XDG_CACHE_HOME || join(HOME || homedir(), '.cache'),
    'agentpay',
    `stripe-mock-${VERSION}`,
    TEMPORAL_PLATFORM,
  )

async function isOurVersion(binary: string): Promise<boolean> {
  const run = promisify(execFile)(binary, ['-version'], { timeout: 60_000 })
  const { stdout } = await run.catch(() => ({ stdout: '' }))
  return stdout.includes(VERSION)
}

/** Built elsewhere and moved at the end, so that an interruption leaves no partial binary. */
async function build(folder: string, binary: string, { env, tell }: Search): Promise<string> {
  if (existsSync(binary)) return binary
  const unfinished = mkdtempSync(join(folder, 'unfinished-'))
  try {
    tell(`Building stripe-mock ${VERSION} with Go: once for all checkouts, about a quarter of a minute`)
    renameSync(await buildTemporal(release, unfinished, { env, tell: () => {} }), binary)
    return binary
  } catch (error) {
    throw new Error(`stripe-mock cannot be had: ${(error as Error).message}. Install Go, or set STRIPE_MOCK.`)
  } finally {
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 10 })
  }
}
