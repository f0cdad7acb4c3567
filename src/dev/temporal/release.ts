import { homedir } from 'node:os'
import { join } from 'node:path'
import release from '../../../temporal-config/dev-server.json' with { type: 'json' }
import { host } from '../host.mjs'

/** An archive of the command-line interface, wherever it comes from. */
export interface Archive {
  readonly urls: readonly string[]
  readonly sha256: string
}

/** The Temporal command-line interface that we bring along: it holds a server and the Web UI. */
export interface Release {
  readonly version: string
  /** The oldest installed version that is accepted. */
  readonly oldestServer: string
  readonly archives: Readonly<Record<string, Archive>>
  /** A Go module and the sum of its files, which holds the sums of all that it needs. */
  readonly source: {
    readonly module: string
    readonly version: string
    readonly sum: string
    readonly package: string
    /** The linker variable that holds the version. */
    readonly stamp: string
  }
}

export const RELEASE: Release = release

/** One for all checkouts of a user. A home may be seen by machines of several kinds. */
export function cacheFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv, { version }: Release): string {
  const caches = XDG_CACHE_HOME || join(HOME || homedir(), '.cache')
  return join(caches, 'agentpay', `temporal-${version}`, PLATFORM)
}

export const PLATFORM = host.name
