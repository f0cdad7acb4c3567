import type { BankFile } from '../../iso20022/camt.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { Context, WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { truncateText } from '../../values/schemas.ts'
import { payableColumns } from '../references/index.ts'
import type { incomingApi } from './api.ts'
import { bookHandedOverCredits, type HandedOverCredit, handOverCredit } from './hand-over.ts'
import { IncomingCredit, incomingCreditMachine, platformTenantInMode } from './incoming-credit.ts'
import type { CreditDestination } from './match.ts'
import { CREDIT_FLUSH_BATCH, findNewCreditDestinations, receiveCredits } from './receive.ts'
import type { parseBankFile } from './thread.ts'

export const importBankFile: HandlerOf<typeof incomingApi.readFile> = async ({ body }, context) => {
  const { mode } = body
  const { now, refuse, systems } = context
  const file = await systems.threads.run<typeof parseBankFile>(
    {
      module: new URL('./thread.ts', import.meta.url),
      name: 'parseBankFile',
      owner: platformTenantInMode(mode).ownerId,
    },
    Buffer.from(body.content, 'base64'),
    now.toISOString().slice(0, 10),
  )
  if ('unreadable' in file) return refuse('file_unreadable', `content: ${file.unreadable}`)
  const counts = await recordBankFile(file, mode, context)
  const skipped = file.skipped.map(({ bankReference, reason }) => ({ bankReference, reason }))
  return { ...counts, skipped }
}

/**
 * Records the new credits of a file. The platform keeps the bank's bookings, and hands over the credits of
 * owners' wallets. Afterwards the request acts for the platform, whose accounts are locked after those of all
 * owners.
 */
export async function recordBankFile(
  file: BankFile,
  mode: Mode,
  context: Context<never, (typeof incomingApi.readFile)['emits']>,
) {
  const platform = platformTenantInMode(mode)
  context.switchTenant(platform)
  const destinations = await findNewCreditDestinations(context.sql, file.credits, {
    mode,
    fallback: platform,
  })
  const forNobody = destinations.filter(({ walletId }) => walletId === null)
  const credits = await handOverAll(
    destinations.filter(({ walletId }) => walletId !== null),
    context,
  )
  await bookHandedOverCredits(credits, context.runForOwner, context.requestId)
  if (forNobody.length > 0) await receiveCredits(forNobody, context)
  const matched = destinations.filter(({ isMatched }) => isMatched).length
  const counts = {
    messageId: truncateText(file.messageId),
    entries: file.entries,
    matched,
    unmatched: destinations.length - matched,
    known: file.credits.length - destinations.length,
  }
  context.emit('incoming.file_read', { ...counts, skipped: file.skipped.length })
  return counts
}

async function handOverAll(
  destinations: readonly CreditDestination[],
  { em, tenant: platform }: WriteContext,
): Promise<HandedOverCredit[]> {
  const credits: HandedOverCredit[] = []
  for (const { received, tenant, walletId, payable } of destinations) {
    const paid = { walletId, ...payableColumns(payable) }
    const members = { ...platform, ...paid, toOwnerId: tenant.ownerId }
    const credit = em.create(IncomingCredit, { ...received, ...members })
    incomingCreditMachine.move(credit, 'handed_over')
    credits.push(handOverCredit(credit))
    if (credits.length % CREDIT_FLUSH_BATCH === 0) await em.flush()
  }
  return credits
}
