import { renderDocs } from '../derive/docs/docs.ts'
import { openapiDocument } from '../derive/openapi.ts'
import type { Areas } from '../kernel/area.ts'
import type { Database } from '../kernel/database.ts'
import type { File } from '../kernel/file.ts'
import type { Health, Ports } from '../kernel/ports.ts'
import type { Metrics } from '../platform/metrics.ts'

interface Parts {
  readonly areas: Areas
  readonly database: Database
  readonly metrics: Metrics
  readonly publicUrl: string | undefined
}

/** What handlers may ask of the world, made of what the platform has. */
export function portsOf({ areas, database, metrics, publicUrl }: Parts): Ports {
  const document = once(() => openapiDocument(areas))
  const text = once(() => JSON.stringify(document()))
  const pages = once(() => renderDocs(document(), publicUrl ? { baseUrl: publicUrl } : {}))
  return {
    health: () => healthOf(database),
    metrics: metrics.text,
    openapi: text,
    docs: () => pages().get('') as File,
    docsAsset: name => pages().get(name),
  }
}

async function healthOf({ pool }: Database): Promise<Health> {
  const alive = await pool.query('select 1').then(
    () => true,
    () => false,
  )
  return { database: alive ? 'ok' : 'unreachable', temporal: null, relay: { oldestSeconds: null } }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
