import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { ByteStream } from '../../kernel/contract/file.ts'

export interface ZippedFile {
  readonly name: string
  readonly changedAt: Date
  readonly open: () => ByteStream
}

/** Opens a file once the one before it has been sent. A reader that leaves early closes the open one. */
export async function* zipOf(files: readonly ZippedFile[]): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  let current: Readable | undefined
  zip.on('error', error => output.destroy(error))
  for (const { name, changedAt, open } of files)
    zip.addReadStreamLazy(name, { mtime: changedAt }, give => {
      current = Readable.from(open(), { objectMode: false })
      give(null, current)
    })
  zip.end()
  try {
    yield* output
  } finally {
    current?.destroy()
  }
}
