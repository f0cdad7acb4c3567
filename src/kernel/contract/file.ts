import { z } from 'zod'

/** Content that is made while it is sent: the next piece is asked for when the last one has gone. */
export type Pieces = AsyncIterable<string | Uint8Array>
export type Content = string | Uint8Array | Pieces

/** An answer that is not JSON: a page, a picture, a table of figures. */
export interface File {
  readonly type: string
  readonly content: Content
  /** Under which a browser saves it, where it is not to be looked at. */
  readonly name?: string
  readonly kept?: Kept
}

/** Of content that is the same for everybody: by what it is known, and how it is sent to those who can unpack it. */
export interface Kept {
  /** Another one whenever the content is another one. */
  readonly version: string
  readonly br: Uint8Array
  readonly gzip: Uint8Array
  /** Its address names the version: what has been fetched once need never be asked for again. */
  readonly isForGood: boolean
}

export const file = (mediaType: string) =>
  z.custom<File>().meta({ mediaType, description: `The content, as ${mediaType}.` })

export const mediaTypeOf = (schema: z.ZodType): string | undefined =>
  schema.meta()?.mediaType as string | undefined

export const inPieces = (content: Content): content is Pieces =>
  typeof content !== 'string' && !(content instanceof Uint8Array)
