import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { viewTask } from '../adapters/file-viewer/viewer.ts'
import { filesInBucket } from '../adapters/files-in-bucket/files-in-bucket.ts'
import { filesOnDisk } from '../adapters/files-on-disk/files-on-disk.ts'
import { guardedHttp } from '../adapters/guarded-http/guarded-http.ts'
import { OwnerQueue, type OwnerQueueLimits, rateLimitedProblem } from '../kernel/run/owner-queue.ts'
import type { Logger } from '../platform/log.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { DamagedFileError, type FileStore, type OpenedStoredFile } from '../ports/files.ts'
import type { OutboundHttp } from '../ports/outbound.ts'
import type { Vault } from '../ports/vault.ts'
import type { FileViewer } from '../ports/viewer.ts'
import { clock } from '../values/clock.ts'

export function createFileStore(settings: Settings, vault: Vault): FileStore {
  const { filesDir, dataDir, filesUrl, filesBucket, filesRegion, filesAccessKeyId, filesSecretKey } = settings
  if (filesUrl === undefined) return filesOnDisk(filesDir ?? join(dataDir, 'files'), vault)
  const options = {
    url: filesUrl,
    bucket: String(filesBucket),
    region: String(filesRegion),
    accessKey: String(filesAccessKeyId),
    secretKey: String(filesSecretKey),
    outbound: storeClient(filesUrl),
  }
  return filesInBucket(options, vault)
}

/** The operator's own store may be in a private network; this client reaches nothing else. */
function storeClient(url: string): OutboundHttp {
  const guard = guardedHttp({ allow: ['0.0.0.0/0', '::/0'] })
  const { origin } = new URL(url)
  const other = { rule: 'store', message: 'Only the store of files is reached this way.' }
  const isOther = (asked: string): boolean => URL.parse(asked)?.origin !== origin
  return {
    ...guard,
    judge: (asked, options) => (isOther(asked) ? other : guard.judge(asked, options)),
    send: async request => (isOther(request.url) ? { kind: 'refused', ...other } : guard.send(request)),
  }
}

/**
 * Raises an alarm for each file that a record names and the store does not return as it was written: an error
 * in the log, and a figure in `/metrics`.
 */
export function withFileLossAlarm(files: FileStore, log: Logger, onLost: () => void): FileStore {
  const alarm = (error: unknown): never => {
    if (error instanceof DamagedFileError) {
      onLost()
      log.error({ err: error }, 'a file is not as it was written')
    } else log.error({ err: error }, 'the store of files does not answer')
    throw error
  }
  return {
    ...files,
    async open(owner, sha256) {
      const opened = await files.open(owner, sha256).catch(alarm)
      if (opened) return { ...opened, content: watched(opened, alarm) }
      onLost()
      log.error({ ownerId: owner.ownerId, sha256 }, 'a file that a record names is gone')
      return undefined
    },
  }
}

async function* watched({ content }: OpenedStoredFile, alarm: (error: unknown) => never) {
  try {
    yield* content
  } catch (error) {
    alarm(error)
  }
}

/** At least two, so that one owner's file does not hold up another owner's. Each may need 256 MiB. */
const VIEWERS = Math.min(4, Math.max(2, availableParallelism()))
const LIMITS: OwnerQueueLimits = {
  atOnceOfOne: 1,
  atOnce: VIEWERS,
  waitingOfOne: 20,
  waiting: 200,
  waitMs: 15_000,
}
/** The viewer time that one owner may use at once, and the share of each second that is credited back. */
const BUDGET = { ms: 30_000, share: 0.5 } as const
const MOST_OWNERS = 10_000

interface Used {
  readonly ms: number
  readonly at: number
}

class TimeBudget {
  readonly #used = new Map<string, Used>()

  used(owner: string): number {
    const used = this.#used.get(owner)
    return used ? Math.max(0, used.ms - (clock.ticks() - used.at) * BUDGET.share) : 0
  }

  add(owner: string, ms: number): void {
    const all = this.used(owner) + ms
    this.#used.delete(owner)
    if (this.#used.size >= MOST_OWNERS) this.#forget()
    this.#used.set(owner, { ms: all, at: clock.ticks() })
  }

  #forget(): void {
    for (const owner of this.#used.keys()) if (this.used(owner) === 0) this.#used.delete(owner)
  }

  check(owner: string): void {
    const over = this.used(owner) - BUDGET.ms
    if (over <= 0) return
    const seconds = Math.ceil(over / BUDGET.share / 1_000)
    throw rateLimitedProblem(
      `Inspecting your files took more than ${BUDGET.ms / 1_000} seconds. Send the next one in ${seconds} seconds, or send simpler files.`,
      seconds,
    )
  }
}

/** Viewers shared fairly between owners: one file of each at a time, in turns, within each owner's time budget. */
export function fairFileViewer(): FileViewer {
  const turns = new OwnerQueue(LIMITS)
  const budget = new TimeBudget()
  return {
    async render(owner, kind, carryOut) {
      const end = await turns.acquire(owner)
      const began = clock.ticks()
      try {
        budget.check(owner)
        return await carryOut(viewTask(kind))
      } finally {
        budget.add(owner, clock.ticks() - began)
        end()
      }
    },
  }
}
