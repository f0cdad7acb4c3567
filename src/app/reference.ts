import type { DocsFile } from '../derive/docs/pages.ts'
import type { docsFiles, searchDocs } from '../derive/docs/thread.ts'
import { type RateLimit, requireWithinRateLimit } from '../derive/http/rate-limit.ts'
import { buildOpenapiInSlices } from '../derive/openapi/document.ts'
import { eventTypesInSlices } from '../derive/openapi/event-types.ts'
import { writeDocumentInSlices } from '../derive/openapi/write.ts'
import type { Areas } from '../kernel/contract/area.ts'
import { eventSchemas } from '../kernel/contract/event-types.ts'
import type { ResponseFile } from '../kernel/contract/file.ts'
import type { RunningService } from '../kernel/contract/ports.ts'
import { Problem } from '../kernel/contract/problem.ts'
import { runInSlices } from '../kernel/contract/time-slices.ts'
import type { Threads } from '../ports/threads.ts'
import { clientAddressKey } from '../values/client-of.ts'
import { cachedAssetFile, uncompressedAssetFile } from '../web/page-assets.ts'

interface ReferenceSource {
  readonly areas: Areas
  readonly rateLimit: RateLimit
  readonly threads: Threads
  readonly publicUrl: string | undefined
  /** The address of this process, shown until a browser reports a better one if `PUBLIC_URL` is not set. */
  readonly ownUrl: () => string
}

type Reference = Pick<RunningService, 'eventTypes' | 'eventNames' | 'openapi' | 'docs' | 'searchDocs'>

/** One owner for all readers: their searches take at most one of the threads that make statements and exports. */
const THREAD = { module: new URL('../derive/docs/thread.ts', import.meta.url), owner: 'docs' }

/** The OpenAPI document and the HTML reference. Each is generated at its first request and cached. */
export function createReference({
  areas,
  rateLimit,
  threads,
  publicUrl,
  ownUrl,
}: ReferenceSource): Reference {
  const eventNames = [...eventSchemas(areas).keys()]
  const eventTypes = once(() => runInSlices(eventTypesInSlices(areas)))
  const text = once(async () =>
    runInSlices(writeDocumentInSlices(await runInSlices(buildOpenapiInSlices(areas)))),
  )
  const openapi = once(async () => cachedAssetFile('application/json; charset=utf-8', await text()))
  const rendered = once(async () =>
    threads.run<typeof docsFiles>({ ...THREAD, name: 'docsFiles' }, await text(), {
      baseUrl: publicUrl,
      ownUrl: ownUrl(),
    }),
  )
  // Most of the thousand files are never asked for, so each is compressed at its first request.
  const compressed = new Map<string, Promise<ResponseFile>>()
  const search = (...args: Parameters<typeof searchDocs>) =>
    threads.run<typeof searchDocs>({ ...THREAD, name: 'searchDocs' }, ...args).catch(refuseBusySearch)
  return {
    eventTypes,
    eventNames,
    openapi,
    docs: async address => {
      const file = (await rendered()).files.get(address)
      if (!file) return undefined
      const known = compressed.get(address) ?? compressedDocsFile(file)
      compressed.set(address, known)
      return known
    },
    searchDocs: async (query, address) => {
      requireWithinRateLimit(await rateLimit(clientAddressKey(address ?? '')))
      const source = (await rendered()).search
      const page = (await search(query, null)) ?? (await search(query, source))
      if (page === undefined) throw new Error('the search has no source')
      return page
    },
  }
}

/** The queue of the threads speaks of the caller's own requests, and these are everyone's. */
function refuseBusySearch(error: unknown): never {
  if (error instanceof Problem && error.code === 'rate_limited')
    throw new Problem('busy', 'Too many searches of the documentation are running. Try again.', error.headers)
  throw error
}

const compressedDocsFile = async ({ type, content, isImmutable }: DocsFile): Promise<ResponseFile> =>
  typeof content === 'string'
    ? cachedAssetFile(type, content, isImmutable)
    : uncompressedAssetFile(type, content, isImmutable)

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
