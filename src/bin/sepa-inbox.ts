import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outcome } from '../kernel/call.ts'
import { everySoOften } from '../platform/rounds.ts'
import type { OpenHouse, Part } from './house.ts'

const EVERY = 5_000

/** Takes the files that the bank's client brings; none where SEPA does not go by files. */
export const startSepaInbox = (house: OpenHouse): Part =>
  everySoOften(
    EVERY,
    () => emptyInbox(house),
    error => house.log.warn({ err: error }, 'reading the files of the bank failed'),
  )

/** Each goes to `read` or, where it cannot be read, to `refused`. Which of two takes it first is all the same. */
export async function emptyInbox(house: OpenHouse): Promise<void> {
  const { sepaRail, sepaFolder } = house.settings
  if (sepaRail !== 'files' || !sepaFolder) return
  const inbox = join(sepaFolder, 'in')
  for (const name of ['read', 'refused']) await mkdir(join(inbox, name), { recursive: true, mode: 0o700 })
  const names = (await readdir(inbox)).filter(name => /^[^.].*\.xml$/i.test(name)).sort()
  for (const name of names) await takeIn(house, inbox, name)
}

async function takeIn(house: OpenHouse, inbox: string, name: string): Promise<void> {
  const path = join(inbox, name)
  const bytes = await readFile(path).catch(unlessGone)
  if (!bytes) return
  const { errorCode, body } = await tell(house, bytes)
  if (errorCode) house.log.warn({ file: name, answer: String(body) }, 'a file of the bank was refused')
  await rename(path, join(inbox, errorCode ? 'refused' : 'read', name)).catch(unlessGone)
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** By the same operation as at the door, and as the one who has the secret of this installation. */
function tell({ execute, operations }: OpenHouse, bytes: Buffer): Promise<Outcome> {
  const operation = operations.find(({ key }) => key === 'rails.read')
  if (!operation) throw new Error('there is no operation rails.read')
  const body = { content: bytes.toString('base64'), mode: 'live' }
  return execute({
    operation,
    actor: { type: 'dash', id: null, tenant: null, agentId: null, scopes: new Set(), clockOffsetMs: 0 },
    input: { params: {}, query: {}, body },
    requestId: 'sepa-inbox',
    address: null,
    idempotencyKey: null,
  })
}
