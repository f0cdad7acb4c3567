/** What handlers may ask of the world around them; wired in `bin`. */
export interface Ports {
  health(): Promise<Health>
  metrics(): Promise<string>
  /** The OpenAPI document, as served. */
  openapi(): string
  /** A page of the reference or one of its assets; undefined where there is none of that name. */
  docs(name: string): { type: string; content: string | Uint8Array } | undefined
}

export interface Health {
  database: 'ok' | 'unreachable'
  /** Null until durable processes exist. */
  temporal: 'ok' | 'unreachable' | null
  relay: { oldestSeconds: number | null }
}
