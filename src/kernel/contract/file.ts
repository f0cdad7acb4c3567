import { z } from 'zod'
import type { JsonOf } from '../../values/json-names.ts'
import { CSV_TYPE } from './csv-file.ts'
import { type Refusal, withHeaders } from './problem.ts'

/** Content produced while it is sent: each piece is made when the previous one has left. */
export type ByteStream = AsyncIterable<string | Uint8Array>
export type ResponseContent = string | Uint8Array | ByteStream

export interface ResponseFile {
  readonly type: string
  readonly content: ResponseContent
  readonly name?: string
  readonly cache?: CachedResponseFile
  readonly status?: number
  /** An HTML page in place of this refusal; the answer has the refusal's status and code. */
  readonly refusal?: Refusal
}

/** Content that is the same for every caller: its version for the ETag, and compressed forms. */
export interface CachedResponseFile {
  readonly version: string
  readonly br?: Uint8Array
  readonly gzip?: Uint8Array
  /** The URL names the version, so a client never needs to ask again. */
  readonly isImmutable: boolean
}

export const fileSchema = (mediaType: string) =>
  z.custom<ResponseFile>().meta({ mediaType, description: `The content, as ${mediaType}.` })

export const csvSchema = fileSchema(CSV_TYPE)

export const eventStreamSchema = <T extends z.ZodType>(
  item: T,
): z.ZodType<ResponseFile, AsyncIterable<JsonOf<T>>> =>
  z.custom<ResponseFile>().meta({
    mediaType: EVENT_STREAM_TYPE,
    item,
    isEndless: true,
    description: 'Server-sent events until you disconnect.',
  }) as never

export const jsonLinesSchema = (line: z.ZodType): z.ZodType<ResponseFile> =>
  z
    .custom<ResponseFile>()
    .meta({ mediaType: NDJSON_TYPE, line, isEndless: true, description: 'JSON objects, one per line.' })

/** An answer of this type that may stay open, where a protocol says so. */
export const openEndedSchema = (mediaType: string) => {
  const answer = fileSchema(mediaType)
  return answer.meta({ ...answer.meta(), isEndless: true })
}

/** The answer may go on until `context.ending`. A page that keeps it open does not extend a person's session. */
export const isEndlessResponse = (schema: z.ZodType): boolean => schema.meta()?.isEndless === true

export const NDJSON_TYPE = 'application/x-ndjson'

export const lineSchemaOf = (schema: z.ZodType): z.ZodType | undefined =>
  schema.meta()?.line as z.ZodType | undefined

export const EVENT_STREAM_TYPE = 'text/event-stream'

export const streamItemSchemaOf = (schema: z.ZodType): z.ZodType | undefined =>
  schema.meta()?.item as z.ZodType | undefined

export const mediaTypeOf = (schema: z.ZodType): string | undefined =>
  schema.meta()?.mediaType as string | undefined

export const isStreamedContent = (content: ResponseContent): content is ByteStream =>
  typeof content !== 'string' && !(content instanceof Uint8Array)

/** A browser that shows the file anyway runs nothing in it and sends no request for it. */
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

export const attachmentHeaders = {
  200: { 'Content-Security-Policy': 'Nothing in the file is run.' },
} as const

export const attachmentSchema = fileSchema('application/octet-stream')

/** An uploaded original is only ever downloaded, under a name that the service chose. */
export const downloadResponse = (type: string, content: ResponseContent, name: string) =>
  withHeaders<ResponseFile>({ type, content, name }, { 'Content-Security-Policy': POLICY })

export const inlineImageResponse = (type: string, content: ResponseContent) =>
  withHeaders<ResponseFile>({ type, content }, { 'Content-Security-Policy': POLICY })
