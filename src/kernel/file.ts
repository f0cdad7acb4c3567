import { z } from 'zod'

/** An answer that is not JSON: a page, a picture, a table of figures. */
export interface File {
  readonly type: string
  readonly content: string | Uint8Array
}

export const file = (mediaType: string) =>
  z.custom<File>().meta({ mediaType, description: `The content, as ${mediaType}.` })

export const mediaTypeOf = (schema: z.ZodType): string | undefined =>
  schema.meta()?.mediaType as string | undefined
