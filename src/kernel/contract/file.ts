import { z } from 'zod'
import type { JsonOf } from '../../values/json-names.ts'
import { type Refusal, withHeaders } from './problem.ts'

/** Content that is produced while it is sent: the next piece is produced when the last one has gone. */
export type ByteStream = AsyncIterable<string | Uint8Array>
export type Content = string | Uint8Array | ByteStream

/** An answer that is not JSON: a page, a picture, a CSV table. */
export interface File {
  readonly type: string
  readonly content: Content
  /** The name under which a browser saves the file instead of showing it. */
  readonly name?: string
  readonly cache?: CachedFile
  /** Another status of success, where a protocol has one. */
  readonly status?: number
  /** A page for people in place of this refusal: the answer has its status and code. */
  readonly refusal?: Refusal
}

/** Content that is the same for every caller: its version for the ETag, and its compressed forms where it has some. */
export interface CachedFile {
  /** Changes whenever the content does. */
  readonly version: string
  readonly br?: Uint8Array
  readonly gzip?: Uint8Array
  /** The URL names the version: a client that has the file need never ask for it again. */
  readonly isImmutable: boolean
}

export const file = (mediaType: string) =>
  z.custom<File>().meta({ mediaType, description: `The content, as ${mediaType}.` })

/** An endless answer of server-sent events, each with one of these as its data. */
export const streamOf = <T extends z.ZodType>(item: T): z.ZodType<File, AsyncIterable<JsonOf<T>>> =>
  z.custom<File>().meta({
    mediaType: EVENT_STREAM,
    item,
    isEndless: true,
    description: 'Server-sent events that go on.',
  }) as never

/** An answer that is written line by line, each of them one of these as JSON. */
export const linesOf = (line: z.ZodType): z.ZodType<File> =>
  z.custom<File>().meta({ mediaType: LINES, line, isEndless: true, description: 'JSON objects, one a line.' })

/** An answer of this type that may go on, as a protocol has it. */
export const mayGoOn = (mediaType: string) => {
  const answer = file(mediaType)
  return answer.meta({ ...answer.meta(), isEndless: true })
}

/** Whether the answer may go on until `context.ending`. That a page keeps it open is no activity of a person. */
export const isEndless = (schema: z.ZodType): boolean => schema.meta()?.isEndless === true

export const LINES = 'application/x-ndjson'

/** The schema of each line. */
export const lineOf = (schema: z.ZodType): z.ZodType | undefined =>
  schema.meta()?.line as z.ZodType | undefined

export const EVENT_STREAM = 'text/event-stream'

/** The schema of the data of each event of a stream. */
export const streamedItemOf = (schema: z.ZodType): z.ZodType | undefined =>
  schema.meta()?.item as z.ZodType | undefined

export const mediaTypeOf = (schema: z.ZodType): string | undefined =>
  schema.meta()?.mediaType as string | undefined

export const isStreamed = (content: Content): content is ByteStream =>
  typeof content !== 'string' && !(content instanceof Uint8Array)

/** A browser that shows the file all the same runs nothing in it and sends no request for it. */
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** The headers of an original as others have brought it: for the contract of the operation that sends it. */
export const attachmentHeaders = {
  200: { 'Content-Security-Policy': 'Nothing in the file is run.' },
} as const

/** The schema of such an answer: of any kind, as its Content-Type says. */
export const attachment = file('application/octet-stream')

/** An original leaves only to be saved, under a name of ours. */
export const attached = (type: string, content: Content, name: string) =>
  withHeaders<File>({ type, content, name }, { 'Content-Security-Policy': POLICY })

/** A picture that we have made, to be shown in a page of ours. */
export const shown = (type: string, content: Content) =>
  withHeaders<File>({ type, content }, { 'Content-Security-Policy': POLICY })
