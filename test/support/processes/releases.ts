import { TEMPORAL_RELEASES, type TemporalRelease } from '../../../src/dev/temporal/release.ts'

/** The published releases, which the tests change so that none uses the network, and the one that can be built. */
export const [published, buildable] = TEMPORAL_RELEASES as readonly [
  Required<Omit<TemporalRelease, 'source'>>,
  Required<Omit<TemporalRelease, 'archives'>>,
]

/** Releases of which only a build is to be had. */
export const unpublished: readonly TemporalRelease[] = [
  { version: published.version, server: published.server },
  { version: buildable.version, server: buildable.server, source: buildable.source },
]

/** For programs that have the published releases: neither the makers nor a registry answers them. */
export const offline = {
  NODE_USE_ENV_PROXY: '1',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  PIP_NO_INDEX: '1',
  UV_OFFLINE: '1',
}
