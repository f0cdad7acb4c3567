import type { docsFiles } from '../derive/docs/thread.ts'
import { openapiSliced } from '../derive/openapi/document.ts'
import { eventTypesSliced } from '../derive/openapi/event-types.ts'
import { writeSliced } from '../derive/openapi/write.ts'
import type { Areas } from '../kernel/contract/area.ts'
import { eventSchemas } from '../kernel/contract/event-types.ts'
import type { Ports } from '../kernel/contract/ports.ts'
import { inSlices } from '../kernel/contract/time-slices.ts'
import type { Threads } from '../ports/threads.ts'
import { cachedFile } from '../web/static-file.ts'

interface ReferenceSource {
  readonly areas: Areas
  readonly threads: Threads
  /** The setting `PUBLIC_URL`. */
  readonly publicUrl: string | undefined
  /** Where this process is reached: shown where `PUBLIC_URL` is not set, until a browser knows better. */
  readonly ownUrl: () => string
}

/** The OpenAPI document and the HTML reference: each is generated at its first request and cached. */
export function reference({
  areas,
  threads,
  publicUrl,
  ownUrl,
}: ReferenceSource): Pick<Ports, 'eventTypes' | 'eventNames' | 'openapi' | 'docs'> {
  const eventNames = [...eventSchemas(areas).keys()]
  const eventTypes = once(() => inSlices(eventTypesSliced(areas)))
  const text = once(async () => inSlices(writeSliced(await inSlices(openapiSliced(areas)))))
  const openapi = once(async () => cachedFile('application/json; charset=utf-8', await text()))
  const module = new URL('../derive/docs/thread.ts', import.meta.url)
  const pages = once(async () =>
    threads.run<typeof docsFiles>({ module, name: 'docsFiles', owner: 'docs' }, await text(), {
      baseUrl: publicUrl,
      ownUrl: ownUrl(),
    }),
  )
  return {
    eventTypes,
    eventNames,
    openapi,
    docs: async address => (await pages()).get(address),
  }
}

/** Runs `make` once and shares the result, also with those who ask meanwhile. A failure is not cached. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= make().catch(error => {
      result = undefined
      throw error
    })
    return result
  }
}
