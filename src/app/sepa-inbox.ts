import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outcome } from '../kernel/contract/call.ts'
import { everySoOften } from '../platform/rounds.ts'
import type { OpenRuntime, Part } from './runtime.ts'

const EVERY = 5_000

/** Takes the files that the bank's client brings; none where SEPA does not go by files. */
export const startSepaInbox = (runtime: OpenRuntime): Part =>
  everySoOften(
    EVERY,
    () => emptyInbox(runtime),
    error => runtime.log.warn({ err: error }, 'reading the files of the bank failed'),
  )

/** More than any statement has: the reader takes no more elements than this holds. */
const LARGEST = 16 * 2 ** 20

/**
 * Each goes to `read` or, where it cannot be read, to `refused`; one that fails for another reason stays and holds up
 * no other. Which of two workers takes it is all the same.
 */
export async function emptyInbox(runtime: OpenRuntime): Promise<void> {
  const { sepaRail, sepaFolder } = runtime.settings
  if (sepaRail !== 'files' || !sepaFolder) return
  const inbox = join(sepaFolder, 'in')
  for (const name of ['read', 'refused']) await mkdir(join(inbox, name), { recursive: true, mode: 0o700 })
  const names = (await readdir(inbox)).filter(name => /^[^.].*\.xml$/i.test(name)).sort()
  for (const name of names)
    await takeIn(runtime, inbox, name).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') runtime.log.warn({ err: error, file: name }, 'a file of the bank failed')
    })
}

async function takeIn(runtime: OpenRuntime, inbox: string, name: string): Promise<void> {
  const path = join(inbox, name)
  const refused = await refusal(runtime, path)
  if (refused) runtime.log.warn({ file: name, answer: refused }, 'a file of the bank was refused')
  await rename(path, join(inbox, refused ? 'refused' : 'read', name))
}

/** Why a file is not taken; undefined where it is. */
async function refusal(runtime: OpenRuntime, path: string): Promise<string | undefined> {
  if ((await stat(path)).size > LARGEST) return 'it is too large'
  const { errorCode, body } = await tell(runtime, await readFile(path))
  return errorCode && String(body)
}

/** By the same operation as at the door, and as the one who has the secret of this installation. */
function tell({ execute, operations }: OpenRuntime, bytes: Buffer): Promise<Outcome> {
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
