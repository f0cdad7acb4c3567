import type { Settings } from '../platform/settings/settings.ts'

/** The host as a URL needs it; an unspecified address is reached by the loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** The address at which a listener on this host and port is reached. */
export const addressOf = (host: string, port: number): string => `http://${reachable(host)}:${port}`

/** The address of the service as its clients see it: `PUBLIC_URL`, else the one that it listens on. */
export class PublicAddress {
  /** `PUBLIC_URL`; undefined where it is not set. */
  readonly configured: string | undefined
  #listening: string

  constructor({ publicUrl, host, port }: Pick<Settings, 'publicUrl' | 'host' | 'port'>) {
    this.configured = publicUrl?.replace(/\/+$/, '')
    this.#listening = addressOf(host, port)
  }

  /** A process that listens on any free port knows it only now. */
  listensOn(host: string, port: number): void {
    this.#listening = addressOf(host, port)
  }

  url = (): string => this.configured ?? this.#listening
}
