import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { lstat, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CommandFailure, type CommandIo, exitCodes, fileError } from '../io.ts'

type Content = Iterable<string> | AsyncIterable<Uint8Array | string>

export async function writeNamedFile(
  content: Content,
  name: string,
  { cwd }: Pick<CommandIo, 'cwd'>,
): Promise<void> {
  const path = resolve(cwd, name)
  try {
    const earlier = await lstat(path).catch(() => undefined)
    // A pipe, a terminal or a link, which a file must not replace.
    if (earlier?.isFile() === false) return await pipeline(content, createWriteStream(path))
    await writeWhole(content, path, earlier?.mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof CommandFailure || !code) throw error
    const failure = `The call was made, but ${fileError(name, 'written', code)}`
    throw new CommandFailure(exitCodes.refused, failure)
  }
}

/** Writes under another name until the file is complete: an interruption leaves the earlier file, whose mode is kept. */
async function writeWhole(content: Content, path: string, mode: number | undefined): Promise<void> {
  const partial = `${path}.${randomUUID()}.partial`
  try {
    await pipeline(content, createWriteStream(partial, { flags: 'wx', mode }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
