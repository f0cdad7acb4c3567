import type { z } from 'zod'
import { readBody } from '../../../src/derive/uploads/thread.ts'
import { findUploads, UploadedFile } from '../../../src/kernel/contract/upload.ts'

/** A contract's example as the pipeline reads it: a file is no longer a text. */
export async function exampleAsRead(body: z.ZodType | undefined, example: unknown): Promise<unknown> {
  const files = [...findUploads(body).keys()]
  if (files.length === 0) return example
  const sent = inOnePiece(Buffer.from(JSON.stringify(example)))
  const read = await readBody(sent, 'application/json', { files, json: [] })
  if ('problem' in read) throw new Error(read.problem.message)
  const uploaded = Object.entries(read.files).map(([name, file]) => [name, new UploadedFile(file)])
  return { ...(read.members as object), ...Object.fromEntries(uploaded) }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
