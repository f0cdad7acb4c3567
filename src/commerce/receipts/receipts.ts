import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { downloadResponse, inlineImageResponse } from '../../kernel/contract/file.ts'
import { bindHandlers, DONE, type HandlerOf } from '../../kernel/contract/operation.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import {
  fileUsage,
  readStoredFile,
  referenceFilesWithinQuota,
  releaseStoredFiles,
} from '../../kernel/database/stored-files.ts'
import { Transaction } from '../../money/transactions/index.ts'
import { addMs, days, minutes } from '../../values/clock.ts'
import { receiptsApi } from './api.ts'
import {
  findReceiptPayment,
  lacksReceiptCondition,
  matchReceiptFacts,
  matchReceiptText,
  noReceiptMatch,
  receiptEvent,
  receiptMatchMembers,
  updateIntentReceiptStates,
} from './match.ts'
import { extractReceiptFacts } from './read-text.ts'
import { Receipt, receiptFileName, receiptMachine } from './receipt.ts'
import { receiptHeadLines } from './score.ts'

/** When a receipt is compared again after its arrival. Later comparisons are daily, while a payment may still come. */
const FIRST_COMPARISONS = [minutes(10), minutes(60), minutes(360)]
const MOST_DAYS = 30
const COMPARE_AFTER = [...FIRST_COMPARISONS, ...Array.from({ length: MOST_DAYS }, (_, day) => days(day + 1))]

function nextComparison(cameAt: Date, now: Date): Date | null {
  const next = COMPARE_AFTER.find(look => addMs(cameAt, look) > now)
  return next === undefined ? null : addMs(cameAt, next)
}

/** A payment may come after its receipt, so later payments are compared as if they had been there. */
const rematch: HandlerOf<typeof receiptsApi.lookAgain> = async ({ params }, context) => {
  const { em, sql, tenant, now, service, emit, refuse } = context
  const receipt = await em.findOne(Receipt, { id: params.id }, FOR_UPDATE)
  if (!receipt) return refuse('receipt_not_found')
  const { lookAt, facts, head, createdAt, agentId, delegationId, suggestions } = receipt
  if (!lookAt || lookAt > now || !facts) return DONE
  const bringer = { agentId, delegationId }
  const asBrought = { em, sql, tenant, service, now: createdAt, actor: bringer }
  const found = await matchReceiptFacts(head, facts, asBrought)
  receipt.lookAt = found.payment ? null : nextComparison(createdAt, now)
  const isNews = found.payment || JSON.stringify(found.suggestions) !== JSON.stringify(suggestions)
  if (!isNews) return DONE
  const { status, ...members } = receiptMatchMembers(found)
  receiptMachine.move(receipt, status)
  Object.assign(receipt, members)
  if (found.payment?.agentId) receipt.agentId = found.payment.agentId
  emit('receipt.updated', receiptEvent(receipt))
  await updateIntentReceiptStates([receipt.intentId], context)
  return DONE
}

/** Receipts have no process: the sweep and the test clock call this. */
const rematchDue: Deadline = {
  process: { name: 'receipt' },
  table: 'receipts',
  agent: 'agent_id',
  due: 'look_at',
  open: 'look_at is not null',
  operations: ['receipts.lookAgain'],
}

const create: HandlerOf<typeof receiptsApi.create> = async ({ body }, context) => {
  const { em, actor, now, emit, refuse } = context
  const { file, transactionId } = body
  const { view } = file
  if (!view) throw new Error('a receipt is looked at before it is kept')
  const named = transactionId === undefined ? null : await findReceiptPayment(transactionId, context)
  if (transactionId !== undefined && !named) return refuse('transaction_not_found')
  const found = named
    ? {
        ...noReceiptMatch,
        facts: view.text === null ? null : extractReceiptFacts(view.text),
        payment: named,
        by: 'caller' as const,
      }
    : await matchReceiptText(view.text, context)
  const receipt = em.create(Receipt, {
    agentId: found.payment?.agentId ?? actor.agentId,
    delegationId: actor.delegationId ?? null,
    ...receiptMatchMembers(found),
    facts: found.facts,
    head: receiptHeadLines(view.text),
    lookAt: found.payment || !found.facts ? null : nextComparison(now, now),
    fileName: file.name,
    mediaType: file.kind,
    bytes: file.size,
    sha256: file.sha256,
    pages: view.pages,
    notes: [...view.notes],
    isPlain: view.isPlain,
    smallSha256: view.small.sha256,
    largeSha256: view.large.sha256,
  })
  emit('receipt.updated', receiptEvent(receipt))
  await updateIntentReceiptStates([receipt.intentId], context)
  await referenceFilesWithinQuota([file, view.small, view.large], receipt.id, context)
  return receipt
}

const update: HandlerOf<typeof receiptsApi.update> = async ({ params, body }, context) => {
  const { em, emit, refuse } = context
  const { transactionId } = body
  const [receipt, payment] = await Promise.all([
    em.findOne(Receipt, { id: params.id }, FOR_UPDATE),
    transactionId === null ? null : findReceiptPayment(transactionId, context),
  ])
  if (!receipt) return refuse('receipt_not_found')
  if (transactionId !== null && !payment) return refuse('transaction_not_found')
  const { facts, intentId: before } = receipt
  const by = payment ? ('caller' as const) : null
  const { status, ...members } = receiptMatchMembers({ ...noReceiptMatch, facts, payment, by })
  receiptMachine.move(receipt, status)
  // A person's choice is final, so the receipt is not compared again.
  Object.assign(receipt, members, { lookAt: null })
  if (payment?.agentId) receipt.agentId = payment.agentId
  emit('receipt.updated', receiptEvent(receipt))
  await updateIntentReceiptStates([before, receipt.intentId], context)
  return receipt
}

const remove: HandlerOf<typeof receiptsApi.delete> = async ({ params }, context) => {
  const { em, emit, refuse } = context
  const receipt = await em.findOne(Receipt, { id: params.id }, FOR_UPDATE)
  if (!receipt) return refuse('receipt_not_found')
  const { id, sha256, smallSha256, largeSha256, intentId } = receipt
  em.remove(receipt)
  emit('receipt.deleted', receiptEvent(receipt))
  await updateIntentReceiptStates([intentId], context)
  // Comes last, as wherever files are stored: the intent is locked before the owner's storage usage.
  context.queueStatement(releaseStoredFiles([sha256, smallSha256, largeSha256], id, context))
}

const contentOf = (sha256: string, { systems, tenant }: ReadContext) =>
  readStoredFile(systems.files, tenant, sha256)

const receipts = bindHandlers(receiptsApi, {
  create,
  update,
  delete: remove,
  lookAgain: rematch,

  async list({ query: { from, to, matched, cursor: _, limit: __, ...filters } }, context) {
    const created = await createdWithinCondition('receipt', { from, to }, context)
    const linked = matched === undefined ? {} : { transactionId: matched === 'true' ? { $ne: null } : null }
    return context.page(Receipt, { ...linked, ...definedOnly({ ...filters, ...created }) })
  },

  missing: async ({ query: { agentId, from, to } }, context) =>
    context.page(Transaction, await lacksReceiptCondition({ agentId, from, to }, context)),

  async storage(_, context) {
    const { files, bytes } = await fileUsage(context)
    const quotaBytes = context.settings.filesQuotaBytes
    const usedBytes = Number(bytes)
    return { files: Number(files), usedBytes, freeBytes: Math.max(0, quotaBytes - usedBytes), quotaBytes }
  },

  get: getRecord(Receipt, 'receipt_not_found'),

  async file({ params }, context) {
    const receipt = await context.em.findOne(Receipt, { id: params.id })
    if (!receipt) return context.refuse('receipt_not_found')
    const content = await contentOf(receipt.sha256, context)
    return typeof content === 'string'
      ? context.refuse(content)
      : downloadResponse(receipt.mediaType, content, receiptFileName(receipt))
  },

  async thumbnail({ params, query: { size } }, context) {
    const receipt = await context.em.findOne(Receipt, { id: params.id })
    if (!receipt) return context.refuse('receipt_not_found')
    const { smallSha256, largeSha256 } = receipt
    const content = await contentOf(size === '320' ? smallSha256 : largeSha256, context)
    return typeof content === 'string' ? context.refuse(content) : inlineImageResponse('image/webp', content)
  },
})

export const receiptsArea = area(
  'Receipts',
  'Receipts of payments: stored as uploaded, shown as re-encoded pictures, and matched with payments.',
  receipts,
  {
    entities: [Receipt],
    machines: [receiptMachine],
    deadlines: [rematchDue],
  },
)
