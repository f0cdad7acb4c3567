import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiResponse } from '../kernel/contract/call.ts'
import { repeatEvery } from '../platform/rounds.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'

const EVERY = 5_000

export const startSepaInbox = (runtime: OpenRuntime): Stoppable =>
  repeatEvery(
    EVERY,
    () => readInbox(runtime),
    error => runtime.log.warn({ err: error }, 'reading the files of the bank failed'),
  )

const MAX_FILE_BYTES = 16 * 2 ** 20

/**
 * Moves each file to `read`, or to `refused` if it is invalid. A file that fails otherwise stays, is retried,
 * and holds up no other. Two workers may read the same file: reading is idempotent.
 */
export async function readInbox(runtime: OpenRuntime): Promise<void> {
  const { sepaRail, sepaFolder } = runtime.settings
  if (sepaRail !== 'files' || !sepaFolder) return
  const inbox = join(sepaFolder, 'in')
  for (const name of ['read', 'refused']) await mkdir(join(inbox, name), { recursive: true, mode: 0o700 })
  const names = (await readdir(inbox)).filter(name => /^[^.].*\.xml$/i.test(name)).sort()
  for (const name of names)
    await readFileOf(runtime, inbox, name).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') runtime.log.warn({ err: error, file: name }, 'a file of the bank failed')
    })
}

async function readFileOf(runtime: OpenRuntime, inbox: string, name: string): Promise<void> {
  const path = join(inbox, name)
  const { ino } = await stat(path)
  const reason = await refusalOf(runtime, path)
  if (reason) runtime.log.warn({ file: name, answer: reason }, 'a file of the bank was refused')
  // The bank’s client may have put another file in its place meanwhile.
  if ((await stat(path)).ino === ino) await rename(path, join(inbox, reason ? 'refused' : 'read', name))
}

async function refusalOf(runtime: OpenRuntime, path: string): Promise<string | undefined> {
  if ((await stat(path)).size > MAX_FILE_BYTES) return 'it is too large'
  const { errorCode, body } = await readByOperation(runtime, await readFile(path))
  return errorCode && String(body)
}

function readByOperation({ execute, operations }: OpenRuntime, bytes: Buffer): Promise<ApiResponse> {
  const operation = operations.find(({ key }) => key === 'rails.read')
  if (!operation) throw new Error('there is no operation rails.read')
  const body = { content: bytes.toString('base64'), mode: 'live' }
  return execute({
    operation,
    actor: { type: 'dash', id: null, tenant: null, agentId: null, scopes: new Set() },
    input: { params: {}, query: {}, body },
    requestId: 'sepa-inbox',
    address: null,
    idempotencyKey: null,
  })
}
