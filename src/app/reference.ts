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

interface Described {
  readonly areas: Areas
  readonly threads: Threads
  readonly publicUrl: string | undefined
}

/** The interface described, for programs and for people: made when it is first asked for, and kept. */
export function reference({
  areas,
  threads,
  publicUrl,
}: Described): Pick<Ports, 'eventTypes' | 'eventNames' | 'openapi' | 'docs'> {
  const eventTypes = once(() => inSlices(eventTypesSliced(areas)))
  const text = once(async () => inSlices(writeSliced(await inSlices(openapiSliced(areas)))))
  const openapi = once(async () => cachedFile('application/json; charset=utf-8', await text()))
  const module = new URL('../derive/docs/thread.ts', import.meta.url)
  const pages = once(async () =>
    threads.run<typeof docsFiles>({ module, name: 'docsFiles', owner: 'docs' }, await text(), publicUrl),
  )
  return {
    eventTypes,
    eventNames: () => [...eventSchemas(areas).keys()],
    openapi,
    docs: async address => (await pages()).get(address),
  }
}

/** Those who ask while it is made wait for the same one. What has failed is made anew for the next who asks. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch(error => {
      made = undefined
      throw error
    })
    return made
  }
}
