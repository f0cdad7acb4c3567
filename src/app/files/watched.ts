import type { Logger } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { DamagedFile, type Files, type OpenedFile } from '../../ports/files.ts'

/**
 * Raises an alarm for each file that a record names and the store does not give as it was written: an error in the log, and
 * a number that `/metrics` shows.
 */
export function watchedFiles(files: Files, log: Logger, metrics: Pick<Metrics, 'watch'>): Files {
  let lost = 0
  metrics.watch(
    'files_lost',
    'Readings of files that are damaged or gone, since the start.',
    async () => lost,
  )
  const alarm = (error: unknown): never => {
    if (error instanceof DamagedFile) {
      lost++
      log.error({ err: error }, 'a file is not as it was written')
    } else log.error({ err: error }, 'the store of files does not answer')
    throw error
  }
  return {
    ...files,
    async open(owner, sha256) {
      const opened = await files.open(owner, sha256).catch(alarm)
      if (opened) return { ...opened, content: watched(opened, alarm) }
      lost++
      log.error({ ownerId: owner.ownerId, sha256 }, 'a file that a record names is gone')
      return undefined
    },
  }
}

async function* watched({ content }: OpenedFile, alarm: (error: unknown) => never) {
  try {
    yield* content
  } catch (error) {
    alarm(error)
  }
}
