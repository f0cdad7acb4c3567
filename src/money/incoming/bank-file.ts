import type { BankFile } from '../../iso20022/camt.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { excerpt } from '../../values/schemas.ts'
import type { incomingApi } from './api.ts'
import { platformTenant } from './incoming-credit.ts'
import { receive } from './receive.ts'
import type { parseBankFile } from './thread.ts'

type Reading = ContextOf<typeof incomingApi.readFile>

/** Reads a bank's file in one transaction. Credits for no wallet go to the platform's ledger. */
export async function readFile(content: string, mode: Mode, context: Reading) {
  const { now, refuse, ports } = context
  const file = await ports.threads.run<typeof parseBankFile>(
    {
      module: new URL('./thread.ts', import.meta.url),
      name: 'parseBankFile',
      owner: platformTenant(mode).ownerId,
    },
    Buffer.from(content, 'base64'),
    now.toISOString().slice(0, 10),
  )
  if ('unreadable' in file) return refuse('file_unreadable', `content: ${file.unreadable}`)
  const counts = await receiveBankFile(file, mode, context)
  return { ...counts, skipped: file.skipped.map(({ bankReference, reason }) => ({ bankReference, reason })) }
}

/** Receives the credits of a file and counts them. Afterwards the request acts for the platform. */
export async function receiveBankFile(file: BankFile, mode: Mode, context: Omit<Reading, 'refuse'>) {
  const platform = platformTenant(mode)
  const credits = await receive(file.credits, { mode, fallback: platform }, context)
  const matched = credits.filter(({ status }) => status === 'matched').length
  const counts = {
    messageId: excerpt(file.messageId),
    entries: file.entries,
    matched,
    unmatched: credits.length - matched,
    known: file.credits.length - credits.length,
  }
  context.actFor(platform)
  context.emit('incoming.file_read', { ...counts, skipped: file.skipped.length })
  return counts
}
