import type { Context } from '../../kernel/contract/context.ts'
import type { ByteStream, File } from '../../kernel/contract/file.ts'
import { inSlices, type Sliced } from '../../kernel/contract/time-slices.ts'
import { answerFile, answerText, membersOf, type PlainRequest } from './plain-request.ts'
import { contents, OPENAPI } from './resources.ts'

/** Where the document stands in the answer. */
const PLACE = '‹document›'

/**
 * Answers who reads the document of the interface: it has megabytes, and as a whole it would hold the event loop while the
 * protocol's server writes it. Undefined for every other request.
 */
export async function readDirectly(request: PlainRequest, { ports }: Context): Promise<File | undefined> {
  const { method, params, isNewest } = request
  if (method !== 'resources/read' || membersOf(params) !== 'uri' || params.uri !== OPENAPI) return undefined
  const result = contents(OPENAPI, PLACE)
  const newest = { ...result, resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  const [before = '', after = ''] = answerText(request, isNewest ? newest : result).split(PLACE)
  const document = await escapedOnce(await ports.openapi())
  return answerFile(request, inPieces(before, document, after))
}

async function* inPieces(before: string, document: readonly Buffer[], after: string): ByteStream {
  yield before
  yield* document
  yield after
}

/** The document as it stands within a text of JSON, made once. */
const escaped = new WeakMap<File, Promise<readonly Buffer[]>>()

function escapedOnce(document: File): Promise<readonly Buffer[]> {
  const known = escaped.get(document) ?? inSlices(piecesOf(String(document.content)))
  escaped.set(document, known)
  return known
}

const PIECE = 65_536

function* piecesOf(text: string): Sliced<Buffer[]> {
  const pieces: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    // A pair of surrogates stays whole.
    const end = at + PIECE + (isFirstHalf(text.charCodeAt(at + PIECE - 1)) ? 1 : 0)
    pieces.push(Buffer.from(JSON.stringify(text.slice(at, end)).slice(1, -1)))
    at = end
    yield
  }
  return pieces
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
