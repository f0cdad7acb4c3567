import { z } from 'zod'
import type { JsonOf } from '../../values/json-names.ts'
import { type Refusal, withHeaders } from './problem.ts'

/** Content produced while it is sent: each piece is made when the previous one has left. */
export type ByteStream = AsyncIterable<string | Uint8Array>
export type Content = string | Uint8Array | ByteStream

export interface File {
  readonly type: string
  readonly content: Content
  readonly name?: string
  readonly cache?: CachedFile
  readonly status?: number
  /** An HTML page in place of this refusal; the answer has the refusal's status and code. */
  readonly refusal?: Refusal
}

/** Content that is the same for every caller: its version for the ETag, and compressed forms. */
export interface CachedFile {
  readonly version: string
  readonly br?: Uint8Array
  readonly gzip?: Uint8Array
  /** The URL names the version, so a client never needs to ask again. */
  readonly isImmutable: boolean
}

export const file = (mediaType: string) =>
  z.custom<File>().meta({ mediaType, description: `The content, as ${mediaType}.` })

export const streamOf = <T extends z.ZodType>(item: T): z.ZodType<File, AsyncIterable<JsonOf<T>>> =>
  z.custom<File>().meta({
    mediaType: EVENT_STREAM,
    item,
    isEndless: true,
    description: 'Server-sent events that go on.',
  }) as never

export const linesOf = (line: z.ZodType): z.ZodType<File> =>
  z.custom<File>().meta({ mediaType: LINES, line, isEndless: true, description: 'JSON objects, one a line.' })

/** An answer of this type that may stay open, where a protocol says so. */
export const openEnded = (mediaType: string) => {
  const answer = file(mediaType)
  return answer.meta({ ...answer.meta(), isEndless: true })
}

/** The answer may go on until `context.ending`. A page that keeps it open does not extend a person's session. */
export const isEndless = (schema: z.ZodType): boolean => schema.meta()?.isEndless === true

export const LINES = 'application/x-ndjson'

export const lineOf = (schema: z.ZodType): z.ZodType | undefined =>
  schema.meta()?.line as z.ZodType | undefined

export const EVENT_STREAM = 'text/event-stream'

export const streamedItemOf = (schema: z.ZodType): z.ZodType | undefined =>
  schema.meta()?.item as z.ZodType | undefined

export const mediaTypeOf = (schema: z.ZodType): string | undefined =>
  schema.meta()?.mediaType as string | undefined

export const isStreamed = (content: Content): content is ByteStream =>
  typeof content !== 'string' && !(content instanceof Uint8Array)

/** A browser that shows the file anyway runs nothing in it and sends no request for it. */
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

export const attachmentHeaders = {
  200: { 'Content-Security-Policy': 'Nothing in the file is run.' },
} as const

export const attachment = file('application/octet-stream')

/** An uploaded original is only ever downloaded, under a name that the service chose. */
export const download = (type: string, content: Content, name: string) =>
  withHeaders<File>({ type, content, name }, { 'Content-Security-Policy': POLICY })

export const inlineImage = (type: string, content: Content) =>
  withHeaders<File>({ type, content }, { 'Content-Security-Policy': POLICY })
