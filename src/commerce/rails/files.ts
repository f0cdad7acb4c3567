import { createHash } from 'node:crypto'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { BankFileHandOver, SepaRail } from '../../ports/sepa-rail.ts'
import { bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { sumOf } from '../../values/money.ts'
import { sepaFileStepsApi } from './api.ts'
import { paymentsInFile } from './queue.ts'
import { SepaFile, sepaFileMachine } from './sepa-file.ts'

const LEASE_MS = minutes(2)

const DONE = { done: true }

const fileEvent = ({ id, messageId, payments }: SepaFile) => ({ fileId: id, messageId, payments })

export const makePaymentFile: HandlerOf<typeof sepaFileStepsApi.make> = async ({ params }, context) => {
  const { records, sql, now, ports, emit } = context
  const file = await records.lock(SepaFile, params.id)
  if (file?.status !== 'open') return DONE
  if (file.closesAt > now) return { done: false }
  const rail = ports.sepaRail(file.mode)
  requireFileRail(rail)
  const payments = await paymentsInFile(sql, file.id)
  if (payments.length === 0) {
    file.dueAt = null
    sepaFileMachine.move(file, 'empty')
    emit('sepa.file_empty', fileEvent(file))
    return { done: false }
  }
  const { messageId, scheme } = file
  const executeOn = executionDay(file, now)
  const content = rail.message({ messageId, madeAt: now, executeOn, scheme, payments })
  Object.assign(file, {
    content,
    executeOn,
    sha256: createHash('sha256').update(content).digest('hex'),
    payments: payments.length,
    totalCents: sumOf(payments.map(({ amountCents }) => amountCents)),
    madeAt: now,
    dueAt: now,
  })
  sepaFileMachine.move(file, 'made')
  emit('sepa.file_made', fileEvent(file))
  return DONE
}

/** The execution day. It is never in the past, even if the file is written days late. */
function executionDay({ executeOn, scheme }: SepaFile, now: Date): string {
  const today = bankDateOf(now)
  if (today <= executeOn) return executeOn
  return scheme === 'sct_inst' ? today : bankDayOnOrAfter(today)
}

/** The bank's folder. Queued payments are never moved to another rail: they wait until `SEPA_RAIL` is `files` again. */
function requireFileRail({ files }: SepaRail): BankFileHandOver {
  if (!files)
    throw new Problem('not_configured', 'Payments wait for their file, and SEPA_RAIL is not `files`.')
  return files
}

/** Stored until the hand-over is recorded, so member names must not change. */
interface HandOverRequest {
  readonly id: string
  readonly mode: Mode
  readonly name: string
  readonly content: string
}

async function leaseFile(
  id: string,
  status: SepaFile['status'],
  { records, now, tenant, ports }: WriteContext,
): Promise<HandOverRequest | null> {
  const file = await records.lock(SepaFile, id)
  if (!file || file.status !== status || !file.dueAt || file.dueAt > now) return null
  requireFileRail(ports.sepaRail(tenant.mode))
  file.dueAt = addMs(now, LEASE_MS)
  return { id, mode: file.mode, name: file.fileName, content: String(file.content) }
}

/**
 * Stages a file, and records that, before the bank can fetch it. A later step that finds no staged file knows
 * that the bank has it, and does not hand it over a second time.
 */
export const stagePaymentFile = externalCall(sepaFileStepsApi.stage, {
  reserve: ({ params }, context) => leaseFile(params.id, 'made', context),
  async call(request, { ports }) {
    if (request) await requireFileRail(ports.sepaRail(request.mode)).stage(request.name, request.content)
  },
  async record(_, request, { records, now, emit }) {
    const file = request && (await records.lock(SepaFile, request.id))
    if (!file || !sepaFileMachine.move(file, 'staged')) return DONE
    file.dueAt = now
    emit('sepa.file_staged', fileEvent(file))
    return DONE
  },
  recover: async () => DONE,
})

export const releasePaymentFile = externalCall(sepaFileStepsApi.release, {
  reserve: ({ params }, context) => leaseFile(params.id, 'staged', context),
  async call(request, { ports }) {
    if (request) await requireFileRail(ports.sepaRail(request.mode)).release(request.name)
  },
  async record(_, request, { records, now, emit }) {
    const file = request && (await records.lock(SepaFile, request.id))
    if (!file || !sepaFileMachine.move(file, 'handed_over')) return DONE
    Object.assign(file, { handedOverAt: now, dueAt: null })
    emit('sepa.file_handed_over', fileEvent(file))
    return DONE
  },
  recover: async () => DONE,
})
