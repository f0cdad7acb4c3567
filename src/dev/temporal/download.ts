import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { PrintLine } from '../processes/progress.ts'
import { TEMPORAL_PLATFORM, type TemporalRelease } from './release.ts'

/** The longest silence before and within an answer: a proxy may accept and then send nothing. */
const PATIENCE_MS = 5_000

export async function downloadTemporal(
  { version, archives }: Pick<Required<TemporalRelease>, 'version' | 'archives'>,
  folder: string,
  tell: PrintLine,
): Promise<string> {
  const archive = archives[TEMPORAL_PLATFORM]
  if (!archive) throw new Error(`nothing is published for ${TEMPORAL_PLATFORM}`)
  tell(`Downloading Temporal ${version}: once for all checkouts, about 45 MB`)
  const file = join(folder, 'archive.tar.gz')
  const failures: string[] = []
  for (const url of archive.urls) {
    try {
      const sum = await fetchTo(file, url)
      if (sum !== archive.sha256) throw new Error('sent an unexpected file')
      await promisify(execFile)('tar', ['-xzf', file, '-C', folder, 'temporal'])
      return join(folder, 'temporal')
    } catch (error) {
      failures.push(`${new URL(url).host} ${reason(error as Error)}`)
    }
  }
  throw new Error(failures.join(', '))
}

async function fetchTo(file: string, url: string): Promise<string> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), PATIENCE_MS)
  const hash = createHash('sha256')
  try {
    const { ok, status, body } = await fetch(url, { signal: silence.signal })
    if (!ok || !body) throw new Error(`answered ${status}`)
    await pipeline(
      body,
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          timer.refresh()
          yield chunk
          hash.update(chunk)
        }
      },
      createWriteStream(file),
    )
    return hash.digest('hex')
  } finally {
    clearTimeout(timer)
  }
}

function reason({ name, message, cause }: Error): string {
  if (name === 'AbortError') return `was silent for ${PATIENCE_MS / 1000} s`
  return cause instanceof Error ? `cannot be reached (${(cause as NodeJS.ErrnoException).code})` : message
}
